// How runs end before their workload does: the named outcomes of docs/semantics.md, and the one case that is an error.
#pragma once

#include "policies/cache_policy.hpp"
#include "policies/memory_ledger.hpp"
#include "reports/result.hpp"
#include "sim/model_config.hpp"
#include "workloads/expansion.hpp"

namespace kvreplay::sim {

// Evaluation and line are the replay's to fill in.
reports::Outcome unserved_outcome(Count length, const policies::Admission& admission);  // refused or exceeded
reports::Outcome memory_limit_outcome(const policies::MemoryLimitExceeded& error);
reports::Outcome no_memory_outcome();
reports::Outcome interrupted_outcome();
reports::Outcome limit_outcome(const workloads::Step& step, const ModelConfig& model);

// A ledger over the model's maximum positions where that is not to end the run. Throws InputError naming the event.
[[noreturn]] void throw_over_limit(const workloads::Workload& workload, const workloads::Step& step,
                                   const ModelConfig& model);

}  // namespace kvreplay::sim
