#include "reports/compare/series.hpp"

#include "reports/compare/median_ratio.hpp"
#include "reports/compare/preemption.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace kvreplay::reports {
namespace {

// A time below the clock's resolution is 0; its logarithm must exist.
double positive(Count ns) { return static_cast<double>(std::max<Count>(ns, 1)); }

std::vector<double> totals_of(const SideCell& cell) {
  std::vector<double> totals;
  for (const SideRepetition& r : cell.repetitions) totals.push_back(positive(r.repetition.latency->total_ns));
  return totals;
}

std::vector<double> parts_of(const SideCell& cell, const std::string& part) {
  std::vector<double> times;
  for (const SideRepetition& r : cell.repetitions) {
    for (const auto& [name, ns] : r.repetition.latency->parts_ns) {
      if (name == part) times.push_back(positive(ns));
    }
  }
  return times;
}

// Empty unless known of every repetition.
std::vector<double> cpu_times_of(const SideCell& cell) {
  std::vector<double> times;
  for (const SideRepetition& r : cell.repetitions) {
    if (!r.repetition.process || !r.repetition.process->cpu_ns) return {};
    times.push_back(positive(*r.repetition.process->cpu_ns));
  }
  return times;
}

double busy_share_of(const SideCell& cell) {
  const std::vector<double> cpu = cpu_times_of(cell), elapsed = totals_of(cell);
  std::vector<double> shares;
  for (std::size_t i = 0; i < cpu.size(); ++i) shares.push_back(std::min(1.0, cpu[i] / elapsed[i]));
  return shares.empty() ? 1 : median_of(std::move(shares));
}

std::vector<double> switches_of(const SideCell& cell) {
  std::vector<double> switches;
  for (const SideRepetition& r : cell.repetitions) {
    if (r.repetition.process && r.repetition.process->involuntary_switches) {
      switches.push_back(static_cast<double>(*r.repetition.process->involuntary_switches));
    }
  }
  return switches;
}

struct BothSides {
  DisturbedTimes baseline, candidate;
};

BothSides adjusted(const MatchedCell& cell, std::vector<double> before, std::vector<double> now) {
  BothSides times{{std::move(before), switches_of(*cell.baseline)}, {std::move(now), switches_of(*cell.candidate)}};
  adjust(times.baseline, times.candidate);
  return times;
}

// Times over those of the reference in the same file and repetition.
std::vector<double> ratios_of(const SideCell& cell, const std::vector<double>& ns, const SideCell& reference,
                              const std::vector<double>& reference_ns) {
  std::map<std::pair<std::size_t, Count>, double> by_repetition;
  for (std::size_t i = 0; i < reference_ns.size(); ++i) {
    by_repetition[{reference.repetitions[i].file, reference.repetitions[i].repetition.index}] = reference_ns[i];
  }
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    const auto other = by_repetition.find({cell.repetitions[i].file, cell.repetitions[i].repetition.index});
    if (other != by_repetition.end()) ratios.push_back(ns[i] / other->second);
  }
  return ratios;
}

// One value per file, the median of its repetitions.
std::vector<double> by_file(const std::vector<double>& values, const std::vector<std::size_t>& files) {
  std::map<std::size_t, std::vector<double>> grouped;
  for (std::size_t i = 0; i < values.size(); ++i) grouped[files[i]].push_back(values[i]);
  std::vector<double> medians;
  for (auto& [file, members] : grouped) medians.push_back(median_of(std::move(members)));
  return medians;
}

std::vector<std::size_t> files_of(const SideCell& cell) {
  std::vector<std::size_t> files;
  for (const SideRepetition& r : cell.repetitions) files.push_back(r.file);
  return files;
}

// Repetitions of one file are alike; with enough files it is these that count.
void count_files(TimeSeries& series, const MatchedCell& cell) {
  const std::vector<std::size_t> before = files_of(*cell.baseline), now = files_of(*cell.candidate);
  if (before.size() != series.baseline.size() || now.size() != series.candidate.size()) return;
  series.baseline = by_file(series.baseline, before);
  series.candidate = by_file(series.candidate, now);
}

bool is_timed(const MatchedCell& cell) {
  return !cell.baseline->repetitions.empty() && !cell.candidate->repetitions.empty();
}

class Gatherer {
 public:
  Gatherer(const std::vector<MatchedCell>& cells, const std::string& reference, bool counts_files)
      : cells_(cells), reference_(reference), counts_files_(counts_files) {
    for (const MatchedCell& cell : cells) {
      totals_.push_back(is_timed(cell) ? adjusted(cell, totals_of(*cell.baseline), totals_of(*cell.candidate))
                                       : BothSides{});
    }
  }

  void add(std::vector<TimeSeries>& all, std::size_t cell) const {
    if (!is_timed(cells_[cell])) return;
    const std::size_t first = all.size();
    add_series(all, cell);
    for (std::size_t i = first; counts_files_ && i < all.size(); ++i) count_files(all[i], cells_[cell]);
  }

 private:
  void add_series(std::vector<TimeSeries>& all, std::size_t cell) const {
    const double total_ns = median_of(totals_[cell].candidate.ns);
    const std::size_t other = reference_of(cell);
    if (other != cells_.size()) {
      TimeSeries ratios{RowKind::relative_time, "latency.total_ns", "of " + reference_, cell, {}, {}, total_ns};
      ratios.baseline = ratios_of(*cells_[cell].baseline, totals_[cell].baseline.ns, *cells_[other].baseline,
                                  totals_[other].baseline.ns);
      ratios.busy_share = std::min(busy_share(cells_[cell]), busy_share(cells_[other]));
      ratios.candidate = ratios_of(*cells_[cell].candidate, totals_[cell].candidate.ns, *cells_[other].candidate,
                                   totals_[other].candidate.ns);
      if (!ratios.baseline.empty() && !ratios.candidate.empty()) all.push_back(std::move(ratios));
    }
    all.push_back({RowKind::absolute_time, "latency.total_ns", "ns", cell, totals_[cell].baseline.ns,
                   totals_[cell].candidate.ns, total_ns, busy_share(cells_[cell])});
    std::vector<double> before = cpu_times_of(*cells_[cell].baseline), now = cpu_times_of(*cells_[cell].candidate);
    if (!before.empty() && !now.empty()) {
      const double cpu_ns = median_of(now);
      all.push_back({RowKind::cpu_time, "process.cpu_ns", "ns", cell, std::move(before), std::move(now), cpu_ns});
    }
    add_parts(all, cell);
  }

  void add_parts(std::vector<TimeSeries>& all, std::size_t ordinal) const {
    const MatchedCell& cell = cells_[ordinal];
    for (const auto& part : cell.baseline->repetitions.front().repetition.latency->parts_ns) {
      BothSides times = adjusted(cell, parts_of(*cell.baseline, part.first), parts_of(*cell.candidate, part.first));
      if (times.baseline.ns.empty() || times.candidate.ns.empty()) continue;
      const double part_ns = median_of(times.candidate.ns);
      all.push_back({RowKind::part_time, "latency.parts_ns." + part.first, "ns", ordinal, std::move(times.baseline.ns),
                     std::move(times.candidate.ns), part_ns, busy_share(cell)});
    }
  }

  // Ordinal of the reference's cell for the same workload; cells_.size() where there is none or it is the cell itself.
  std::size_t reference_of(std::size_t cell) const {
    const RunResult& run = cells_[cell].baseline->run;
    if (run.policy.spec == reference_) return cells_.size();
    const auto is_reference = [&](const MatchedCell& other) {
      const RunResult& candidate = other.baseline->run;
      return candidate.policy.spec == reference_ && candidate.workload.path == run.workload.path &&
             candidate.depth == run.depth && candidate.model.profile == run.model.profile && is_timed(other);
    };
    return static_cast<std::size_t>(std::find_if(cells_.begin(), cells_.end(), is_reference) - cells_.begin());
  }

  const std::vector<MatchedCell>& cells_;
  const std::string& reference_;
  bool counts_files_;
  std::vector<BothSides> totals_;
};

}  // namespace

std::vector<TimeSeries> time_series(const std::vector<MatchedCell>& cells, const std::string& reference,
                                    bool counts_files) {
  const Gatherer gatherer(cells, reference, counts_files);
  std::vector<TimeSeries> all;
  for (std::size_t i = 0; i < cells.size(); ++i) gatherer.add(all, i);
  return all;
}

double busy_share(const MatchedCell& cell) {
  return std::min(busy_share_of(*cell.baseline), busy_share_of(*cell.candidate));
}

double drift_of(const std::vector<MatchedCell>& cells, bool of_candidate) {
  std::vector<double> drifts;
  for (const MatchedCell& cell : cells) {
    const std::vector<double> totals = totals_of(of_candidate ? *cell.candidate : *cell.baseline);
    if (totals.size() < 8) continue;
    const auto middle = totals.begin() + static_cast<std::ptrdiff_t>(totals.size() / 2);
    drifts.push_back(std::log(median_of({middle, totals.end()}) / median_of({totals.begin(), middle})));
  }
  return std::abs(median_of(drifts));
}

double waiting_share(const std::vector<MatchedCell>& cells) {
  double largest = 0;
  for (const MatchedCell& cell : cells) {
    if (!is_timed(cell)) continue;
    const DisturbedTimes before{totals_of(*cell.baseline), switches_of(*cell.baseline)};
    const DisturbedTimes now{totals_of(*cell.candidate), switches_of(*cell.candidate)};
    const double cost = cost_of_switch_ns(before, now);
    largest = std::max(largest, 1 - busy_share(cell));
    for (const DisturbedTimes* side : {&before, &now}) {
      if (!side->switches.empty()) {
        largest = std::max(largest, cost * median_of(side->switches) / median_of(side->ns));
      }
    }
  }
  return std::min(1.0, largest);
}

}  // namespace kvreplay::reports
