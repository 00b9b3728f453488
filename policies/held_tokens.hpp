// The token list a single slot holds, and how much of it a wanted list may reuse.
#pragma once

#include "policies/cache_policy.hpp"

#include <vector>

namespace kvreplay::policies {

enum class KeepRule : std::uint8_t {
  exact,  // all of the common prefix; one less only when the slot holds more than a wanted strict prefix
  seed,   // guidance before ee88c86c: one less on every rewind
};

class HeldTokens {
 public:
  Count count() const { return static_cast<Count>(tokens_.size()); }
  SequenceId sequence() const { return sequence_; }

  // Of the wanted list and the one held. Compares from request.unchanged_prefix on.
  Count common_prefix(const Request& request) const;

  // Makes room, so that hold() can not fail.
  void reserve(Count count);

  // Holds the wanted list, of which the first `common_prefix` tokens are held already.
  void hold(const Request& request, Count common_prefix);

  // Forgets all tokens from `count` on.
  void crop(Count count) { tokens_.resize(static_cast<std::size_t>(count)); }

  // The list admitted last is not the one held: request.unchanged_prefix says nothing next time.
  void distrust_last() { holds_last_ = false; }

 private:
  std::vector<TokenId> tokens_;
  SequenceId sequence_ = 0;
  bool holds_last_ = true;
};

// Most tokens that need no evaluation although the wanted rows of logits do: length - num_logits, one more if the
// stored answer is the row before.
Count most_reusable(const Request& request);

// Tokens the rule wants served from a slot of `held` tokens sharing `common_prefix` with the wanted list.
Count kept_tokens(KeepRule rule, const Request& request, Count held, Count common_prefix);

}  // namespace kvreplay::policies
