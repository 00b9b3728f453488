// How results are told apart and grouped: identity is always the full name, never a shortened one.
#pragma once

#include "reports/result.hpp"

#include <span>
#include <string>
#include <vector>

namespace kvreplay::reports {

// Results of one workload on one model at one depth: what one table shows. Ordinals into the results, in their order.
struct Group {
  std::vector<std::size_t> results;
};
std::vector<Group> groups_of(std::span<const RunResult> results);

// One name per result: the workload's id, its path where results of several files share the id or the id is empty.
std::vector<std::string> workload_labels(std::span<const RunResult> results);

// "workload/policy" per result, extended by model and depth, and then by "#2", "#3", ... only where that is needed to
// keep results apart.
std::vector<std::string> run_labels(std::span<const RunResult> results);

}  // namespace kvreplay::reports
