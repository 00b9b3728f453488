#include "sim/reference.hpp"

#include "workloads/expansion.hpp"

#include <algorithm>
#include <stdexcept>

namespace kvreplay::sim {
namespace {

using Tokens = std::vector<workloads::TokenId>;

bool starts_with(std::span<const workloads::TokenId> list, std::span<const workloads::TokenId> prefix) {
  return list.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), list.begin());
}

std::vector<Tokens> leaves_of(const workloads::Workload& workload, Count max_positions) {
  std::vector<Tokens> lists;
  workloads::Expansion expansion(workload, max_positions);
  while (const workloads::Step* step = expansion.next()) {
    if (step->kind == workloads::StepKind::over_limit) break;
    if (step->kind != workloads::StepKind::evaluate) continue;
    const auto unchanged = static_cast<std::size_t>(step->common_prefix_last);
    if (!lists.empty() && unchanged >= lists.back().size()) {
      // Growth in place: only the new tokens are copied.
      lists.back().insert(lists.back().end(), step->tokens.begin() + static_cast<std::ptrdiff_t>(unchanged),
                          step->tokens.end());
    } else {
      lists.emplace_back(step->tokens.begin(), step->tokens.end());
    }
  }
  std::sort(lists.begin(), lists.end());
  // In sorted order a list that is a prefix of any other is a prefix of its successor.
  std::vector<Tokens> leaves;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (i + 1 == lists.size() || !starts_with(lists[i + 1], lists[i])) leaves.push_back(std::move(lists[i]));
  }
  return leaves;
}

}  // namespace

Reference::Reference(const workloads::Workload& workload, DecoderStack& stack)
    : stack_(stack), leaves_(leaves_of(workload, stack.config().max_positions)) {}

const ColdOutputs& Reference::outputs_for(std::span<const workloads::TokenId> tokens) {
  const auto found = std::lower_bound(leaves_.begin(), leaves_.end(), tokens, [](const Tokens& leaf, const auto& list) {
    return std::lexicographical_compare(leaf.begin(), leaf.end(), list.begin(), list.end());
  });
  if (found == leaves_.end() || !starts_with(*found, tokens)) {
    throw std::logic_error("a list that the workload's expansion never asked for");
  }
  const auto leaf = static_cast<std::size_t>(found - leaves_.begin());
  const auto kept = std::find_if(kept_.begin(), kept_.end(), [leaf](const ColdOutputs& o) { return o.leaf == leaf; });
  if (kept != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, kept);
    return kept_.front();
  }
  const auto& config = stack_.config();
  const auto bytes = static_cast<std::int64_t>(leaves_[leaf].size()) * config.hidden_size * (config.num_layers + 1) * 4;
  const auto room =
      static_cast<std::size_t>(std::max<std::int64_t>(1, memory_budget_bytes / std::max<std::int64_t>(1, bytes)));
  while (kept_.size() >= room) kept_.pop_back();
  kept_.emplace_front();
  kept_.front().leaf = leaf;
  compute(kept_.front());
  return kept_.front();
}

void Reference::compute(ColdOutputs& outputs) {
  const auto& config = stack_.config();
  const Tokens& tokens = leaves_[outputs.leaf];
  const auto row_size = static_cast<std::size_t>(config.hidden_size);
  outputs.hidden.assign(static_cast<std::size_t>(config.num_layers + 1), std::vector<float>(tokens.size() * row_size));
  stack_.evaluate_cold(tokens, [&](Count index, Count first_position, Count count, std::span<const float> rows) {
    std::copy_n(rows.begin(), static_cast<std::size_t>(count) * row_size,
                outputs.hidden[static_cast<std::size_t>(index)].begin() +
                    static_cast<std::ptrdiff_t>(static_cast<std::size_t>(first_position) * row_size));
  });
}

}  // namespace kvreplay::sim
