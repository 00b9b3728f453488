// Compares a replay with what a recording says its engine did: totals and, where there is an engine's log, every call.
#pragma once

#include "policies/registry.hpp"
#include "reports/engine_log.hpp"
#include "sim/cells.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kvreplay::sim {

// A total the recording gives that the replay does not reach.
struct ObservedDifference {
  std::string what;            // its key in expect.observed
  std::string observed, ours;  // as text; the outcome's kind for `then`
};

struct ObservedComparison {
  Count totals_compared = 0;
  std::vector<ObservedDifference> differences;  // in the order of the keys in docs/workload-format.md
  std::optional<reports::EngineLog> log;        // absent: no log was given
  reports::LogComparison calls;                 // with a log
  bool equal() const { return differences.empty() && (!log || calls.equal()); }
};

// The policy an observation names, or nothing if this program has none of that name and options.
std::optional<policies::PolicySpec> known_policy(const workloads::Observed& observed);

// The log that lies beside a recording, NAME.observed.csv beside NAME.yaml; empty: there is none.
std::string engine_log_beside(const std::string& workload_path);

// Replays at plan depth and compares `observed`: fed, allocations, reallocations, resets, crops, peak_bytes and
// bytes_at_end with the counters they stand for; `then` with a run that the policy ends at the recording's last
// evaluation, else a completed one; `then_wanted` with the common prefix and length of that evaluation. With `log_path`
// (not empty) also compares every call. Throws EngineLogError, and OptionError where the policy does not fit the model.
ObservedComparison compare_with_observed(const LoadedWorkload& loaded, const workloads::Observed& observed,
                                         const policies::PolicySpec& policy, const std::string& log_path);

}  // namespace kvreplay::sim
