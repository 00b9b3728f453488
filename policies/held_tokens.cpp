#include "policies/held_tokens.hpp"

#include <algorithm>

namespace kvreplay::policies {

Count HeldTokens::common_prefix(const Request& request) const {
  const Count shorter = std::min(count(), static_cast<Count>(request.tokens.size()));
  const Count known = holds_last_ ? std::clamp<Count>(request.unchanged_prefix, 0, shorter) : 0;
  const auto begin = tokens_.begin() + known;
  return std::mismatch(begin, tokens_.begin() + shorter, request.tokens.begin() + known).first - tokens_.begin();
}

void HeldTokens::reserve(Count count) {
  const auto wanted = static_cast<std::size_t>(count);
  if (wanted > tokens_.capacity()) tokens_.reserve(std::max(wanted, 2 * tokens_.capacity()));
}

void HeldTokens::hold(const Request& request, Count common_prefix) {
  tokens_.resize(static_cast<std::size_t>(common_prefix));
  tokens_.insert(tokens_.end(), request.tokens.begin() + common_prefix, request.tokens.end());
  sequence_ = request.sequence;
  holds_last_ = true;
}

Count most_reusable(const Request& request) {
  const Count without_rows = static_cast<Count>(request.tokens.size()) - request.num_logits;
  return without_rows + (request.stored_answer_position == without_rows ? 1 : 0);
}

Count kept_tokens(KeepRule rule, const Request& request, Count held, Count common_prefix) {
  Count kept = common_prefix;
  const bool drops = held > common_prefix;
  const bool ends_inside = common_prefix == static_cast<Count>(request.tokens.size());
  if (drops && (rule == KeepRule::seed || ends_inside)) kept = std::max<Count>(0, common_prefix - 1);
  return std::min(kept, most_reusable(request));
}

}  // namespace kvreplay::policies
