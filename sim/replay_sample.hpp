// One admission as a row of explain and of the timeline.
#pragma once

#include "policies/cache_policy.hpp"
#include "policies/memory_ledger.hpp"
#include "reports/result.hpp"
#include "sim/replay_counters.hpp"
#include "workloads/expansion.hpp"

namespace kvreplay::sim {

// The ledger before the admission and when its evaluation is done.
struct LedgerChange {
  const policies::MemoryCounters& before;
  const policies::MemoryCounters& now;
};

// Everything but what only the replay knows: ordinal, sequence name, transient bytes and latency.
reports::Sample sample_of(const workloads::Step& step, const policies::Admission& admission,
                          const Recomputation& recomputation, const LedgerChange& ledger);

}  // namespace kvreplay::sim
