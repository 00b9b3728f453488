#include "reports/compare/compare.hpp"

#include "reports/compare/matching.hpp"
#include "reports/compare/provenance.hpp"
#include "reports/compare/series.hpp"
#include "reports/compare/times.hpp"
#include "reports/labels.hpp"
#include "reports/metrics.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

// Smallest run-to-run difference of medians assumed where none was measured: between many processes of each side, which
// show most of it themselves, and between few. Two processes of one build differ by where their memory lies and by the
// clock they meet: medians of 30 repetitions varied by 1.4 to 2.5 % (standard deviation) from process to process.
constexpr double assumed_noise = 0.015;
constexpr double assumed_noise_of_few = 0.06, assumed_relative_noise_of_few = 0.08;
// Other programs also take caches, memory bandwidth and the other half of a core.
constexpr double noise_per_waiting = 0.25;

Change change_of(const Metric& metric, Count before, Count now) {
  if (before == now) return Change::unchanged;
  if (metric.better == Better::neutral) return Change::changed;
  return (now < before) == (metric.better == Better::lower) ? Change::improved : Change::regressed;
}

ComparisonRow counted_row(RowKind kind, std::string name, std::string unit, Count before, Count now, Change change) {
  ComparisonRow row;
  row.kind = kind;
  row.metric = std::move(name);
  row.unit = std::move(unit);
  row.baseline = before;
  row.candidate = now;
  if (before != 0) row.ratio = static_cast<double>(now) / static_cast<double>(before);
  row.change = change;
  return row;
}

void add_counters(CellComparison& cell, const Counters& before, const Counters& now,
                  const std::vector<Threshold>& thresholds) {
  for (const auto& [name, old_value] : before) {
    const Metric* metric = find_metric(name);
    const std::optional<Count> new_value = counter(now, name);
    if (!new_value) {
      // Whether it got worse is not known, and a gate must not pass on that.
      cell.rows.push_back(counted_row(RowKind::counter, name, "", old_value, 0, Change::regressed));
      cell.rows.back().candidate = {};
      cell.rows.back().ratio.reset();
      cell.rows.back().note = "the candidate does not count it";
      continue;
    }
    const Change other = old_value == *new_value ? Change::unchanged : Change::changed;
    cell.rows.push_back(counted_row(RowKind::counter, name, metric != nullptr ? std::string(metric->unit) : "",
                                    old_value, *new_value,
                                    metric != nullptr ? change_of(*metric, old_value, *new_value) : other));
    const bool has_limit = std::any_of(thresholds.begin(), thresholds.end(),
                                       [&](const Threshold& threshold) { return threshold.metric == metric; });
    if (has_limit && cell.rows.back().change != Change::unchanged) {
      cell.rows.back().is_advice = true;
      cell.rows.back().note = "its threshold decides";
    }
  }
}

// Whether counters of the two can be compared at all.
bool add_outcome(CellComparison& cell, const RunResult& before, const RunResult& now) {
  if (before.outcome.completed() && now.outcome.completed()) return true;
  const bool same = before.outcome.kind == now.outcome.kind && before.outcome.evaluation == now.outcome.evaluation;
  ComparisonRow row;
  row.kind = RowKind::outcome;
  row.metric = "outcome";
  row.note = fmt::format("{}, now {}", before.outcome.kind, now.outcome.kind);
  if (before.outcome.kind == "interrupted" || now.outcome.kind == "interrupted") {
    row.change = Change::inconclusive;
    row.note += ": an interrupted run counts what it came to, which is not compared";
  } else if (same) {
    row.change = Change::unchanged;
  } else if (now.outcome.completed() || before.outcome.completed()) {
    row.change = now.outcome.completed() ? Change::improved : Change::regressed;
  } else {
    const Count reached = now.outcome.evaluation.value_or(0), had_reached = before.outcome.evaluation.value_or(0);
    row.change = reached < had_reached ? Change::regressed : reached > had_reached ? Change::improved : Change::changed;
    row.note += fmt::format(" (evaluation {}, was {})", reached, had_reached);
  }
  cell.rows.push_back(row);
  return same && row.change == Change::unchanged;
}

void add_verification(CellComparison& cell, const RunResult& before, const RunResult& now) {
  if (!before.verification || !now.verification) return;
  const Count old_value = before.verification->evaluations_differing;
  const Count new_value = now.verification->evaluations_differing;
  const Change change = new_value > old_value   ? Change::regressed
                        : new_value < old_value ? Change::improved
                                                : Change::unchanged;
  cell.rows.push_back(
      counted_row(RowKind::counter, "verification.evaluations_differing", "evaluations", old_value, new_value, change));
}

// The policy relative times refer to.
std::string reference_of(const std::vector<MatchedCell>& cells, const std::string& wanted) {
  if (wanted.empty()) return cells.front().baseline->run.policy.spec;
  std::vector<std::string> known;
  for (const MatchedCell& cell : cells) {
    const std::string& spec = cell.baseline->run.policy.spec;
    if (spec == wanted) return wanted;
    if (std::find(known.begin(), known.end(), spec) == known.end()) known.push_back(spec);
  }
  throw NotComparable(
      fmt::format("--reference {}: both sides have no run of it; they have {}", wanted, fmt::join(known, ", ")));
}

bool has_times(const SideCell& cell) { return !cell.repetitions.empty(); }

void warn_of_few_repetitions(Comparison& comparison, const std::vector<MatchedCell>& cells) {
  Count fewest = -1;
  for (const MatchedCell& cell : cells) {
    if (!has_times(*cell.baseline) || !has_times(*cell.candidate)) continue;
    const auto number =
        static_cast<Count>(std::min(cell.baseline->repetitions.size(), cell.candidate->repetitions.size()));
    fewest = fewest < 0 ? number : std::min(fewest, number);
  }
  if (fewest < 0 || fewest >= fewest_repetitions) return;
  comparison.notes.push_back(
      fmt::format("only {} repetition{} on a side: times need {} at least, {} are advised (run --repetitions {})",
                  fewest, fewest == 1 ? "" : "s", fewest_repetitions, advised_repetitions, advised_repetitions));
}

// The noise floors where none were measured. Runs of different moments differ by more than their repetitions show, the
// more so the more other programs ran; many files a side, taken in turns, show it themselves.
NoiseFloor assumed_floor(Comparison& comparison, const std::vector<MatchedCell>& cells, bool counts_files) {
  NoiseFloor floor;
  floor.relative = floor.absolute = floor.cpu = floor.part = assumed_noise;
  if (counts_files) return floor;
  const double waiting = waiting_share(cells);
  const double drift = std::max(drift_of(cells, false), drift_of(cells, true));
  const double disturbed = assumed_noise_of_few + waiting * noise_per_waiting;
  floor.relative = assumed_relative_noise_of_few + waiting * noise_per_waiting;
  floor.cpu = disturbed;
  floor.absolute = floor.part = std::max(disturbed, drift);
  comparison.notes.push_back(fmt::format(
      "processes of one build differ, and fewer than {} files a side do not show by how much: changes of times "
      "up to {:.0f} %, relative ones up to {:.0f} %, are taken for that; more files, measured in turns, or "
      "--calibrate-noise find smaller ones",
      fewest_repetitions, floor.absolute * 100, floor.relative * 100));
  constexpr double worth_saying = 0.03;
  if (waiting >= worth_saying) {
    comparison.notes.push_back(
        fmt::format("runs waited up to {:.0f} % of their time behind other programs; times are judged with a noise "
                    "floor of {:.1f} %",
                    waiting * 100, disturbed * 100));
  }
  if (drift >= worth_saying) {
    comparison.notes.push_back(fmt::format(
        "the machine's speed drifted by {:.1f} % within a run; so much is no change of an absolute time", drift * 100));
  }
  return floor;
}

void compare_times(Comparison& comparison, const Side& baseline, const Side& candidate,
                   const std::vector<MatchedCell>& cells, const ComparisonSettings& settings,
                   const TimeConditions& conditions) {
  comparison.times_withheld = conditions.withheld;
  if (!conditions.withheld.empty()) return;
  comparison.reference = reference_of(cells, settings.reference);
  const auto enough = static_cast<std::size_t>(fewest_repetitions);
  const bool counts_files = std::min(baseline.names.size(), candidate.names.size()) >= enough;
  const TimeRules rules{.alpha = settings.alpha,
                        .effect_floor = settings.effect_floor,
                        .absolute_floor_ns = settings.absolute_floor_ns,
                        .noise = settings.noise ? *settings.noise : assumed_floor(comparison, cells, counts_files),
                        .is_advice = !conditions.other_machine.empty(),
                        .counts_files = counts_files};
  comparison.noise_floor_relative = rules.noise.relative;
  comparison.noise_floor_absolute = rules.noise.absolute;
  comparison.noise_floor_cpu = rules.noise.cpu;
  comparison.noise_source = settings.noise ? settings.noise->source : "";
  if (!counts_files) warn_of_few_repetitions(comparison, cells);
  add_times(comparison, cells, comparison.reference, rules);
}

void add_thresholds(Comparison& comparison, const std::vector<MatchedCell>& cells,
                    const std::vector<Threshold>& thresholds, const TimeConditions& conditions) {
  const std::string& withheld = conditions.withheld.empty() ? conditions.other_machine : conditions.withheld;
  for (const Threshold& threshold : thresholds) {
    bool found = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::optional<ComparisonRow> row = threshold_row(threshold, cells[i], withheld);
      if (!row) continue;
      comparison.cells[i].rows.push_back(*row);
      found = true;
    }
    if (!found) {
      throw NotComparable(fmt::format("--threshold {}: no run has {} on both sides (depth plan has no times)",
                                      threshold.text, threshold.metric->name));
    }
  }
}

std::vector<CellComparison> exact_part(const std::vector<MatchedCell>& cells, const ComparisonSettings& settings) {
  std::vector<RunResult> runs;
  for (const MatchedCell& cell : cells) {
    RunResult run;  // what a label needs, without the counters
    run.workload = cell.baseline->run.workload;
    runs.push_back(std::move(run));
  }
  const std::vector<std::string> labels = workload_labels(runs);
  std::vector<CellComparison> compared;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const RunResult &before = cells[i].baseline->run, &now = cells[i].candidate->run;
    CellComparison cell{labels[i], before.workload.path, before.policy.spec, before.model.profile, before.depth, {},
                        {}};
    if (before.depth != now.depth) cell.depth += " / " + now.depth;
    if (add_outcome(cell, before, now)) {
      add_counters(cell, before.counters, now.counters, settings.thresholds);
      add_verification(cell, before, now);
    }
    compared.push_back(std::move(cell));
  }
  return compared;
}

}  // namespace

Comparison compare(const Side& baseline, const Side& candidate, const ComparisonSettings& settings) {
  const Matching matching = matched(baseline, candidate, settings.only_common);
  const TimeConditions conditions = time_conditions(baseline, candidate, matching.cells);
  Comparison comparison;
  comparison.baseline = summary_of(baseline);
  comparison.candidate = summary_of(candidate);
  comparison.alpha = settings.alpha;
  comparison.effect_floor = settings.effect_floor;
  comparison.absolute_floor_ns = settings.absolute_floor_ns;
  for (const std::vector<std::string>* notes :
       {&baseline.notes, &candidate.notes, &matching.notes, &conditions.notes}) {
    comparison.notes.insert(comparison.notes.end(), notes->begin(), notes->end());
  }
  if (!settings.reference.empty())
    (void)reference_of(matching.cells, settings.reference);  // where no time needs it, too
  comparison.cells = exact_part(matching.cells, settings);
  compare_times(comparison, baseline, candidate, matching.cells, settings, conditions);
  add_thresholds(comparison, matching.cells, settings.thresholds, conditions);
  return comparison;
}

}  // namespace kvreplay::reports
