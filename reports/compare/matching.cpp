#include "reports/compare/matching.hpp"

#include "reports/compare/comparison.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

std::string name_of_run(const RunResult& run) {
  return fmt::format("{} through {}", run.workload.path, run.policy.spec);
}

// The best counterpart that nobody has taken, or null.
const SideCell* counterpart(const SideCell& cell, const Side& candidate, const std::vector<const SideCell*>& taken) {
  const Fields wanted = identity_fields(cell.run);
  const SideCell* best = nullptr;
  int best_score = -1;
  for (const SideCell& other : candidate.cells) {
    if (std::find(taken.begin(), taken.end(), &other) != taken.end()) continue;
    const int score = (other.run.workload.path == cell.run.workload.path ? 2 : 0) + (other.run.depth == cell.run.depth);
    // The cheap field first: most pairs are of different workloads.
    if (score <= best_score || other.run.workload.sha256 != cell.run.workload.sha256) continue;
    if (identity_fields(other.run) != wanted) continue;
    best = &other;
    best_score = score;
  }
  return best;
}

// What a message says of a run: its identity, and its depth, which only tells apart what is otherwise the same.
Fields described(const RunResult& run) {
  Fields fields = identity_fields(run);
  fields.emplace_back("depth", run.depth);
  return fields;
}

// Why a run of the baseline has no counterpart: where the run nearest to it differs.
std::string reason(const SideCell& cell, const Side& candidate) {
  const Fields wanted = described(cell.run);
  std::vector<std::string> fewest;
  bool has_workload = false;
  for (const SideCell& other : candidate.cells) {
    const WorkloadIdentity& a = cell.run.workload;
    const WorkloadIdentity& b = other.run.workload;
    const bool same_workload = a.path == b.path || a.sha256 == b.sha256 || (!a.id.empty() && a.id == b.id);
    has_workload = has_workload || same_workload;
    if (!same_workload || other.run.policy.name != cell.run.policy.name) continue;
    std::vector<std::string> fields = differences(wanted, described(other.run));
    if (!fields.empty() && (fewest.empty() || fields.size() < fewest.size())) fewest = std::move(fields);
  }
  const std::string name = name_of_run(cell.run);
  if (!fewest.empty()) return fmt::format("{}: {}", name, fmt::join(fewest, "; "));
  return fmt::format("{}: the candidate has no run of this {}", name, has_workload ? "policy" : "workload");
}

void check_settings(const Side& baseline, const Side& candidate) {
  std::vector<std::string> reasons;
  for (const char* key : {"truncate", "at_limit", "memory_limit"}) {
    const std::string first = field(baseline.configs.front(), key);
    const auto differs = [&](const Fields& config) {
      const std::string value = field(config, key);
      return !first.empty() && !value.empty() && value != first;
    };
    for (const Side* side : {&baseline, &candidate}) {
      const auto other = std::find_if(side->configs.begin(), side->configs.end(), differs);
      if (other == side->configs.end()) continue;
      reasons.push_back(fmt::format("config.{}: {}, in {} {}; counters depend on it", key, first,
                                    side->names[static_cast<std::size_t>(other - side->configs.begin())],
                                    field(*other, key)));
    }
  }
  if (!reasons.empty()) throw NotComparable(fmt::format("not comparable:\n  {}", fmt::join(reasons, "\n  ")));
}

}  // namespace

Matching matched(const Side& baseline, const Side& candidate, bool only_common) {
  check_settings(baseline, candidate);
  Matching result;
  std::vector<const SideCell*> taken;
  std::vector<std::string> reasons;
  for (const SideCell& cell : baseline.cells) {
    const SideCell* other = counterpart(cell, candidate, taken);
    if (other == nullptr) {
      reasons.push_back(reason(cell, candidate));
      continue;
    }
    taken.push_back(other);
    result.cells.push_back({&cell, other});
  }
  if (!reasons.empty() && (!only_common || result.cells.empty())) {
    throw NotComparable(fmt::format(
        "not comparable:\n  {}\n{}", fmt::join(reasons, "\n  "),
        result.cells.empty() ? "No run is common to both; run the candidate as the baseline was run, or make "
                               "a new baseline."
                             : "Run the candidate as the baseline was run, make a new baseline, or compare "
                               "what is common with --only-common."));
  }
  for (const std::string& missing : reasons) result.notes.push_back("left out: " + missing);
  for (const SideCell& cell : candidate.cells) {
    if (std::find(taken.begin(), taken.end(), &cell) != taken.end()) continue;
    result.notes.push_back(fmt::format("{}: new, the baseline has no run like it", name_of_run(cell.run)));
  }
  return result;
}

}  // namespace kvreplay::reports
