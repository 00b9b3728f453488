#include "reports/compare/times.hpp"

#include "reports/compare/median_ratio.hpp"
#include "reports/compare/rank_test.hpp"
#include "reports/compare/series.hpp"
#include "reports/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <boost/math/distributions/normal.hpp>

namespace kvreplay::reports {
namespace {

// Of the interval that decides about sizes: with 95 % a change of just the floor's size would often be missed.
constexpr double confidence = 0.99;
// Medians of fewer values have no interval worth the name.
constexpr std::size_t fewest_judged = 4;
// An elapsed time of which less than this was computed tells of the machine's other work, not of the program.
constexpr double least_busy_share = 0.5;

struct Judged {
  const TimeSeries* series = nullptr;
  RankTest test;
  double adjusted_p = 1, family_size = 1;
  MedianRatio median;
};

double noise_of(RowKind kind, const TimeRules& rules) {
  if (kind == RowKind::relative_time) return rules.noise.relative;
  if (kind == RowKind::cpu_time) return rules.noise.cpu;
  return kind == RowKind::part_time ? rules.noise.part : rules.noise.absolute;
}

// The least relative change that would be found in 4 of 5 cases; absent where even separate samples prove nothing.
std::optional<double> detectable(const Judged& judged, double noise, const TimeRules& rules) {
  const boost::math::normal normal;
  const double alpha = rules.alpha / judged.family_size;
  if (smallest_p(judged.series->baseline.size(), judged.series->candidate.size()) >= alpha) return std::nullopt;
  if (std::min(judged.series->baseline.size(), judged.series->candidate.size()) < fewest_judged) return std::nullopt;
  const double power = boost::math::quantile(normal, 0.8), error = judged.median.log_error;
  const double bound = boost::math::quantile(normal, (1 + confidence) / 2);
  const double significant = (boost::math::quantile(normal, 1 - alpha / 2) + power) * error;
  const double clear_of_noise = std::log1p(noise) + (bound + power) * error;
  const double reaches_floor = std::log1p(rules.effect_floor) - (bound - power) * error;
  return std::expm1(std::max({significant, clear_of_noise, reaches_floor}));
}

bool same_samples(const TimeSeries& series) {
  std::vector<double> before = series.baseline, now = series.candidate;
  std::sort(before.begin(), before.end());
  std::sort(now.begin(), now.end());
  return before == now;
}

std::string too_few_note(const Judged& judged, const TimeRules& rules) {
  const double least = smallest_p(judged.series->baseline.size(), judged.series->candidate.size());
  if (least * judged.family_size < rules.alpha) return {};
  return fmt::format("{} and {} values cannot prove anything among {:.0f} times", judged.series->baseline.size(),
                     judged.series->candidate.size(), judged.family_size);
}

// The verdict and why.
void judge(const Judged& judged, const TimeRules& rules, ComparisonRow& row) {
  const TimeSeries& series = *judged.series;
  const double noise = noise_of(series.kind, rules);
  const double floor = 1 + rules.effect_floor;
  row.smallest_detectable = detectable(judged, noise, rules);
  const auto set = [&row](Change change, std::string note) {
    row.change = change;
    row.note = std::move(note);
  };
  if (same_samples(series)) return set(Change::unchanged, "the same times on both sides");
  if (std::min(series.baseline.size(), series.candidate.size()) < fewest_judged) {
    return set(Change::inconclusive, "too few repetitions");
  }
  const double difference_ns = series.candidate_ns * std::abs(1 - 1 / judged.median.ratio);
  if (difference_ns < static_cast<double>(rules.absolute_floor_ns)) {
    return set(Change::unchanged, std::string(below_absolute_floor));
  }
  if (judged.median.low > 1 / floor && judged.median.high < floor) {
    return set(Change::unchanged, "any change is below the effect floor");
  }
  if (judged.adjusted_p >= rules.alpha) return set(Change::inconclusive, too_few_note(judged, rules));
  // A change is called where it is significant, clear of the noise, and may be as large as the effect floor.
  const bool slower = judged.median.low > 1 + noise, faster = judged.median.high < 1 / (1 + noise);
  if ((slower || faster) && series.busy_share < least_busy_share) {
    return set(Change::inconclusive,
               fmt::format("the runs mostly waited: the CPU worked in {:.0f} % of the time", series.busy_share * 100));
  }
  if (slower || faster) return set(slower ? Change::regressed : Change::improved, {});
  set(Change::inconclusive, "not clear of the noise from run to run");
}

ComparisonRow row_of(const Judged& judged, const TimeRules& rules) {
  const TimeSeries& series = *judged.series;
  ComparisonRow row;
  row.kind = series.kind;
  row.metric = series.metric;
  row.unit = series.unit;
  const double before = median_of(series.baseline), now = median_of(series.candidate);
  const bool is_ratio = series.kind == RowKind::relative_time;
  row.baseline = is_ratio ? Number(before) : Number(static_cast<Count>(before));
  row.candidate = is_ratio ? Number(now) : Number(static_cast<Count>(now));
  row.ratio = judged.median.ratio;
  row.interval = Interval{judged.median.low, judged.median.high};
  row.p = judged.adjusted_p;
  row.num_baseline = static_cast<Count>(series.baseline.size());
  row.num_candidate = static_cast<Count>(series.candidate.size());
  const auto outliers = [](const std::vector<double>& values) {
    const std::vector<bool> flags = outliers_of(values);
    return static_cast<Count>(std::count(flags.begin(), flags.end(), true));
  };
  row.num_outliers_baseline = outliers(series.baseline);
  row.num_outliers_candidate = outliers(series.candidate);
  // Parts explain a change of the whole; alone they vary too much from run to run to fail anything.
  row.is_advice = rules.is_advice || series.kind == RowKind::part_time;
  judge(judged, rules, row);
  return row;
}

// Each kind of time is a table of its own: a change of all runs is one question, a change against the reference
// another.
void correct(std::vector<Judged>& all, RowKind kind) {
  std::vector<double> p;
  for (const Judged& judged : all) {
    if (judged.series->kind == kind) p.push_back(judged.test.p);
  }
  const std::vector<double> adjusted = holm(p);
  std::size_t next = 0;
  for (Judged& judged : all) {
    if (judged.series->kind != kind) continue;
    judged.adjusted_p = adjusted[next++];
    judged.family_size = static_cast<double>(p.size());
  }
}

const ComparisonRow* moved_time(const CellComparison& cell) {
  const auto moved = [](const ComparisonRow& row) {
    return is_time(row.kind) && (row.change == Change::regressed || row.change == Change::improved);
  };
  const auto found = std::find_if(cell.rows.begin(), cell.rows.end(), moved);
  return found == cell.rows.end() ? nullptr : &*found;
}

double change_ns(const ComparisonRow& row) {
  return static_cast<double>(std::get<Count>(row.candidate)) - static_cast<double>(std::get<Count>(row.baseline));
}

std::string hint_of(const CellComparison& cell) {
  const ComparisonRow* moved = moved_time(cell);
  if (moved == nullptr) return {};
  const bool slower = moved->change == Change::regressed;
  const bool counted = std::any_of(cell.rows.begin(), cell.rows.end(), [](const ComparisonRow& row) {
    return row.kind == RowKind::counter && row.change != Change::unchanged && row.change != Change::inconclusive;
  });
  std::string hint = counted ? "counters moved too: the policy or the replay does other work"
                             : "no counter moved: the code does the same work at another speed, or the machine does";
  const ComparisonRow* largest = nullptr;
  for (const ComparisonRow& row : cell.rows) {
    if (row.kind != RowKind::part_time || (change_ns(row) > 0) != slower) continue;
    if (largest == nullptr || std::abs(change_ns(row)) > std::abs(change_ns(*largest))) largest = &row;
  }
  if (largest != nullptr) {
    const auto ns = static_cast<Count>(std::abs(change_ns(*largest)));
    hint += fmt::format("; most of it in {} ({}{})", largest->metric.substr(largest->metric.rfind('.') + 1),
                        slower ? "+" : "-", human_ns(ns));
  }
  return hint;
}

}  // namespace

void add_times(Comparison& comparison, const std::vector<MatchedCell>& cells, const std::string& reference,
               const TimeRules& rules) {
  const std::vector<TimeSeries> all = time_series(cells, reference, rules.counts_files);
  std::vector<Judged> judged;
  judged.reserve(all.size());
  for (const TimeSeries& series : all) {
    judged.push_back({&series, mann_whitney(series.candidate, series.baseline), 1, 1,
                      median_ratio(series.baseline, series.candidate, confidence)});
  }
  for (const RowKind kind : {RowKind::relative_time, RowKind::absolute_time, RowKind::cpu_time, RowKind::part_time}) {
    correct(judged, kind);
  }
  for (const Judged& one : judged) comparison.cells[one.series->cell].rows.push_back(row_of(one, rules));
  for (CellComparison& cell : comparison.cells) cell.hint = hint_of(cell);
}

}  // namespace kvreplay::reports
