#include "reports/compare/provenance.hpp"

#include "reports/compare/noise.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

using FileFields = std::vector<Fields> Side::*;

// "threads: 2, now 4" for the first two values that differ among the files of both sides; empty if none do.
std::string difference_in(const Side& baseline, const Side& candidate, const std::string& key,
                          FileFields fields = &Side::provenances) {
  const std::string first = field((baseline.*fields).front(), key);
  for (const Side* side : {&baseline, &candidate}) {
    for (const Fields& of_file : side->*fields) {
      const std::string value = field(of_file, key);
      const auto shown = [](const std::string& text) { return text.empty() ? std::string("unknown") : text; };
      if (value != first) return fmt::format("{}: {}, now {}", key, shown(first), shown(value));
    }
  }
  return {};
}

std::string machine_difference(const Side& baseline, const Side& candidate) {
  const Fields first = machine_fields(baseline.provenances.front());
  for (const Side* side : {&baseline, &candidate}) {
    for (const Fields& provenance : side->provenances) {
      const Fields other = machine_fields(provenance);
      std::vector<std::string> list = differences(first, other);
      if (list.empty()) list = differences(other, first);
      if (!list.empty()) return fmt::format("{}", fmt::join(list, "; "));
    }
  }
  return first.empty() ? "the results do not say which" : std::string();
}

void append(std::string& list, const std::string& item) {
  if (!item.empty()) list += (list.empty() ? "" : "; ") + item;
}

double number_in(const std::string& text) {
  double value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Files of a side that met something, and the most that one of them met.
struct Met {
  std::size_t num_files = 0, first = 0;
  double most = 0;

  void add(std::size_t file, double amount) {
    if (num_files++ == 0) first = file;
    most = std::max(most, amount);
  }
  std::string who(const Side& side, const std::string& what) const {
    if (num_files == 1) return fmt::format("{} {}", what, side.names[first]);
    return fmt::format("{}, {} of {} files", what, num_files, side.names.size());
  }
  const char* up_to() const { return num_files == 1 ? "" : "up to "; }
};

// Load of other programs and throttling, as the runs themselves noticed them.
void add_disturbances(std::vector<std::string>& notes, const Side& side, const std::string& what) {
  Met load, throttling;
  double cpus = 0;
  for (std::size_t i = 0; i < side.provenances.size(); ++i) {
    const Fields& provenance = side.provenances[i];
    const double average = number_in(field(provenance, "load_average_start"));
    const double threads = number_in(field(provenance, "threads"));
    cpus = number_in(field(provenance, "num_cpus"));
    if (cpus > 0 && average > 0 && average + threads > cpus + 0.5) load.add(i, average);
    const double throttled = number_in(field(provenance, "cgroup_throttled_periods"));
    if (throttled > 0) throttling.add(i, throttled);
  }
  if (load.num_files > 0) {
    notes.push_back(fmt::format(
        "{}: {}{} of {} CPUs were busy with other work, earlier runs included, at the start (load average {}{:.2f})",
        load.who(side, what), load.up_to(), std::min(load.most, cpus), cpus, load.up_to(), load.most));
  }
  if (throttling.num_files > 0) {
    notes.push_back(fmt::format("{}: throttled by the CPU quota in {}{} periods", throttling.who(side, what),
                                throttling.up_to(), throttling.most));
  }
}

}  // namespace

TimeConditions time_conditions(const Side& baseline, const Side& candidate, const std::vector<MatchedCell>& cells) {
  TimeConditions conditions;
  const auto other_depth = std::find_if(cells.begin(), cells.end(), [](const MatchedCell& cell) {
    return cell.baseline->run.depth != cell.candidate->run.depth;
  });
  if (other_depth != cells.end()) {
    append(conditions.withheld,
           fmt::format("depth: {}, now {}", other_depth->baseline->run.depth, other_depth->candidate->run.depth));
  }
  for (const char* key : {"threads", "build_type"}) {
    append(conditions.withheld, difference_in(baseline, candidate, key));
  }
  const bool timed = std::any_of(cells.begin(), cells.end(), [](const MatchedCell& cell) {
    return !cell.baseline->repetitions.empty() && !cell.candidate->repetitions.empty();
  });
  if (!timed && conditions.withheld.empty())
    conditions.withheld = "no run has times on both sides; --depth plan takes none";
  conditions.other_machine = machine_difference(baseline, candidate);
  if (!conditions.withheld.empty()) {
    conditions.notes.push_back(fmt::format("times are not compared, counters only ({})", conditions.withheld));
  } else if (!conditions.other_machine.empty()) {
    conditions.notes.push_back(fmt::format("counters decide; times are advice only, for the machine is another ({})",
                                           conditions.other_machine));
  }
  for (const char* key : {"compiler", "flags", "simd", "eigen"}) {
    const std::string difference = difference_in(baseline, candidate, key);
    if (!difference.empty()) conditions.notes.push_back("built otherwise: " + difference);
  }
  for (const char* key : {"kernels", "pages", "prefill_chunk"}) {
    const std::string difference = difference_in(baseline, candidate, key, &Side::configs);
    if (!difference.empty()) conditions.notes.push_back("run otherwise: " + difference);
  }
  add_disturbances(conditions.notes, baseline, "baseline");
  add_disturbances(conditions.notes, candidate, "candidate");
  return conditions;
}

SideSummary summary_of(const Side& side) {
  SideSummary summary{side.names, {}};
  const Fields& provenance = side.provenances.front();
  for (const char* key : {"git_commit", "git_dirty", "date", "build_type", "threads", "host_name", "cpu_model"}) {
    const std::string value = field(provenance, key);
    if (!value.empty()) summary.facts.emplace_back(key, value);
  }
  return summary;
}

}  // namespace kvreplay::reports
