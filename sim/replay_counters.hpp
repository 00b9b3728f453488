// Exact counts of one replay: what evaluations asked for, what the policy reused, what attention had to read.
// Definitions: docs/semantics.md, "Counters".
#pragma once

#include "policies/cache_policy.hpp"
#include "policies/memory_ledger.hpp"
#include "reports/result.hpp"
#include "workloads/expansion.hpp"

#include <array>
#include <string_view>

namespace kvreplay::sim {

using Count = std::int64_t;

// Why tokens were evaluated again; the first that applies.
enum class Cause : std::uint8_t { none, overflow, window_passed, sequence_switch, rewind, policy };
std::string_view name_of(Cause cause);  // "" for none

// Cause and number of the tokens an admission evaluates although its sequence had evaluated them before.
struct Recomputation {
  Cause cause = Cause::none;
  Count tokens = 0;
};
Recomputation recomputation_of(const workloads::Step& step, const policies::Admission& admission, bool switched);

class ReplayCounters {
 public:
  explicit ReplayCounters(const policies::CacheGeometry& geometry);

  // Counts an admission that was served (cached answers included).
  void add(const workloads::Step& step, const policies::Admission& admission, const Recomputation& recomputation);
  // Counts an admission the policy refused or could not serve.
  void add_unserved(const policies::Admission& admission);

  Count evaluations() const { return evaluations_; }

  // All exact metrics in the order of reports/metrics.cpp.
  reports::Counters report(const policies::MemoryCounters& memory, const workloads::Facts& facts) const;

 private:
  void add_attention(Count first, Count length, const policies::Admission& admission);

  Count num_global_layers_, num_sliding_layers_, window_;
  Count evaluations_ = 0, cached_answers_ = 0;
  Count requested_ = 0, reused_ = 0, evaluated_ = 0;
  std::array<Count, 6> recomputed_by_cause_{};
  std::array<Count, 9> actions_{};
  Count rewinds_asked_ = 0, rewinds_served_ = 0, rewinds_refused_ = 0;
  Count inexact_ = 0;
  policies::PerKind rows_read_, pairs_;  // of one layer of each kind
};

}  // namespace kvreplay::sim
