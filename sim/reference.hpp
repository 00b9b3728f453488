// Cache-less outputs to hold a replay against: one forward pass per leaf of the workload's ledger tree.
//
// Causality lets a leaf serve every prefix of it, so a list that another list extends needs no pass of its own.
#pragma once

#include "sim/decoder_stack.hpp"
#include "workloads/workload.hpp"

#include <cstdint>
#include <list>
#include <span>
#include <vector>

namespace kvreplay::sim {

// Every layer's output for every token of one list: hidden[index] is [tokens][hidden_size], see HiddenObserver.
struct ColdOutputs {
  std::size_t leaf = 0;
  std::vector<std::vector<float>> hidden;
};

class Reference {
 public:
  // Collects the leaves of `workload` (lists of at most the model's maximum positions). `stack` must outlive this.
  Reference(const workloads::Workload& workload, DecoderStack& stack);

  // Outputs of a list that starts with `tokens`, computed when first needed; valid until the next call. Outputs of
  // several leaves are kept while they fit `memory_budget_bytes`.
  const ColdOutputs& outputs_for(std::span<const workloads::TokenId> tokens);

  std::size_t num_leaves() const { return leaves_.size(); }

  static constexpr std::int64_t memory_budget_bytes = std::int64_t{1} << 30;

 private:
  void compute(ColdOutputs& outputs);

  DecoderStack& stack_;
  std::vector<std::vector<workloads::TokenId>> leaves_;  // sorted; none is a prefix of another
  std::list<ColdOutputs> kept_;                          // most recently used first
};

}  // namespace kvreplay::sim
