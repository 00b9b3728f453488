// Short ways to run a workload through a policy in tests.
#pragma once

#include "reports/metrics.hpp"
#include "sim/cells.hpp"
#include "sim/timeline.hpp"
#include "workloads/reader.hpp"

#include <string>

namespace kvreplay::sim::testing {

inline std::string source_path(const std::string& relative) { return std::string(KVREPLAY_SOURCE_DIR "/") + relative; }

inline LoadedWorkload loaded_text(const std::string& yaml, const ModelOptions& options = {}) {
  LoadedWorkload loaded{.workload = workloads::read_workload_text(yaml, "test.yaml"), .model = {}, .facts = {}};
  loaded.model = resolve_model(loaded.workload, options);
  loaded.facts = workloads::facts_of(loaded.workload, {});
  return loaded;
}

inline ReplayRecord replay_of(const LoadedWorkload& loaded, const std::string& policy, ReplaySettings settings = {},
                              DecoderStack* stack = nullptr, std::span<ReplayListener* const> listeners = {}) {
  return replay(loaded.workload, loaded.facts, loaded.model, policies::parse_policy(policy), stack, settings,
                listeners);
}

inline std::vector<reports::Sample> samples_of(const LoadedWorkload& loaded, const std::string& policy,
                                               ReplaySettings settings = {}) {
  AllSamples all;
  ReplayListener* listener = &all;
  (void)replay_of(loaded, policy, settings, nullptr, std::span(&listener, 1));
  return std::move(all.samples);
}

inline Count value(const ReplayRecord& record, std::string_view name) {
  return reports::counter(record.counters, name).value();
}

}  // namespace kvreplay::sim::testing
