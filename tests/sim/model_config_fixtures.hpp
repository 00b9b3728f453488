// Workloads that say something about their model, and the text of errors.
#pragma once

#include "sim/model_config.hpp"

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace kvreplay::sim::fixtures {

inline workloads::Workload workload_with(const std::vector<std::pair<std::string, std::string>>& keys,
                                         const std::string& path = "w.yaml") {
  workloads::Workload workload;
  workload.path = path;
  int line = 10;
  for (const auto& [key, value] : keys) {
    const workloads::Given<std::string> given{value, {line++, 3}};
    if (key == "profile") {
      workload.model.profile = given;
    } else if (key == "checkpoint") {
      workload.model.checkpoint = given;
    } else {
      workload.model.overrides.emplace_back(key, given);
    }
  }
  return workload;
}

inline ModelConfig resolve(const std::string& model) { return resolve_model(workload_with({}), {model, {}, {}, {}}); }

// The message of the exception of type E that `action` throws; empty if it throws none.
template <typename E, typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

}  // namespace kvreplay::sim::fixtures
