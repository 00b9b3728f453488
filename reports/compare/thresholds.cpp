#include "reports/compare/thresholds.hpp"

#include "reports/compare/median_ratio.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

struct Unit {
  std::string_view name, of;
  double factor;
};
constexpr std::array units{Unit{"ns", "ns", 1},           Unit{"us", "ns", 1e3},        Unit{"ms", "ns", 1e6},
                           Unit{"s", "ns", 1e9},          Unit{"B", "bytes", 1},        Unit{"KiB", "bytes", 1 << 10},
                           Unit{"MiB", "bytes", 1 << 20}, Unit{"GiB", "bytes", 1 << 30}};
constexpr std::array<std::pair<std::string_view, Statistic>, 4> statistics{
    {{"median", Statistic::median}, {"mean", Statistic::mean}, {"min", Statistic::min}, {"max", Statistic::max}}};

[[noreturn]] void refuse(const std::string& text, const std::string& problem, std::string given = {},
                         std::vector<std::string> known = {}) {
  throw ThresholdError(fmt::format("--threshold {}: {}", text, problem), std::move(given), std::move(known));
}

const Metric* metric_of(const std::string& text, const std::string& name) {
  if (const Metric* metric = find_metric(name)) return metric;
  std::vector<std::string> names;
  for (const Metric& metric : metric_table()) names.emplace_back(metric.name);
  refuse(text, fmt::format("there is no metric '{}' ('kvreplay list metrics' names them)", name), name, names);
}

Statistic statistic_of(const std::string& text, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, statistic] : statistics) {
    if (known == name) return statistic;
    names.emplace_back(known);
  }
  refuse(text, fmt::format("there is no statistic '{}'", name), name, names);
}

void read_limit(Threshold& threshold, std::string_view limit) {
  constexpr const char* expected = "the limit is 5%, 1.05x, +N or N, N with a unit if the metric has one";
  const bool increases = limit.starts_with('+');
  if (increases) limit.remove_prefix(1);
  const auto parsed = std::from_chars(limit.data(), limit.data() + limit.size(), threshold.limit);
  const std::string_view rest = limit.substr(static_cast<std::size_t>(parsed.ptr - limit.data()));
  const bool negative = threshold.limit < 0 || !std::isfinite(threshold.limit);
  if (parsed.ec != std::errc{} || negative) refuse(threshold.text, expected);
  threshold.kind = increases ? LimitKind::increase : LimitKind::value;
  if (rest.empty()) return;
  if (!increases && rest == "%") {
    threshold.kind = LimitKind::percent;
    return;
  }
  if (!increases && rest == "x") {
    threshold.kind = LimitKind::factor;
    if (threshold.limit < 1) refuse(threshold.text, "a factor below 1 would ask for an improvement; give it as N");
    return;
  }
  const auto unit = std::find_if(units.begin(), units.end(),
                                 [&](const Unit& u) { return u.name == rest && u.of == threshold.metric->unit; });
  if (unit == units.end()) {
    refuse(threshold.text, fmt::format("'{}' is no unit of {}, which is in {}; {}", rest, threshold.metric->name,
                                       threshold.metric->unit, expected));
  }
  threshold.limit *= unit->factor;
}

std::optional<double> as_double(const Number& number) {
  if (const Count* count = std::get_if<Count>(&number)) return static_cast<double>(*count);
  if (const double* real = std::get_if<double>(&number)) return *real;
  return std::nullopt;
}

std::vector<double> values_of(const Threshold& threshold, const SideCell& cell) {
  if (threshold.metric->kind == MetricKind::exact) {
    const std::optional<Count> value = counter(cell.run.counters, threshold.metric->name);
    return value ? std::vector<double>{static_cast<double>(*value)} : std::vector<double>{};
  }
  std::vector<double> values;
  for (const SideRepetition& repetition : cell.repetitions) {
    for (const Measurement& number : measured(cell.run, repetition.repetition)) {
      if (number.metric != threshold.metric->name) continue;
      if (const std::optional<double> value = as_double(number.value)) values.push_back(*value);
    }
  }
  return values;
}

double statistic(Statistic which, const std::vector<double>& values) {
  switch (which) {
    case Statistic::mean:
      return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    case Statistic::min:
      return *std::min_element(values.begin(), values.end());
    case Statistic::max:
      return *std::max_element(values.begin(), values.end());
    case Statistic::median:
      break;
  }
  return median_of(values);
}

bool holds(const Threshold& threshold, double before, double now) {
  const bool more_is_better = threshold.metric->better == Better::higher;
  double most = threshold.limit;
  switch (threshold.kind) {
    case LimitKind::percent:
      most = before * (more_is_better ? 1 - threshold.limit / 100 : 1 + threshold.limit / 100);
      break;
    case LimitKind::factor:
      most = more_is_better ? before / threshold.limit : before * threshold.limit;
      break;
    case LimitKind::increase:
      most = more_is_better ? before - threshold.limit : before + threshold.limit;
      break;
    case LimitKind::value:
      break;
  }
  // A last bit of the product above must not break a limit that is met exactly.
  const double rounding = 1e-12 * std::abs(most);
  return more_is_better ? now >= most - rounding : now <= most + rounding;
}

}  // namespace

Threshold parse_threshold(const std::string& text) {
  const auto last = text.rfind(':');
  const auto middle = last == std::string::npos || last == 0 ? std::string::npos : text.rfind(':', last - 1);
  if (middle == std::string::npos) {
    refuse(text, "is METRIC:STAT:LIMIT, such as latency.total_ns:median:5% or tokens_evaluated:max:+10");
  }
  Threshold threshold;
  threshold.text = text;
  threshold.metric = metric_of(text, text.substr(0, middle));
  threshold.statistic = statistic_of(text, text.substr(middle + 1, last - middle - 1));
  read_limit(threshold, std::string_view(text).substr(last + 1));
  return threshold;
}

std::optional<ComparisonRow> threshold_row(const Threshold& threshold, const MatchedCell& cell,
                                           const std::string& withheld) {
  const std::vector<double> before = values_of(threshold, *cell.baseline), now = values_of(threshold, *cell.candidate);
  if (before.empty() || now.empty()) return std::nullopt;
  const double old_value = statistic(threshold.statistic, before), new_value = statistic(threshold.statistic, now);
  const auto number = [&threshold](double value) -> Number {
    if (threshold.metric->kind == MetricKind::exact) return static_cast<Count>(value);
    return value;
  };
  ComparisonRow row;
  row.kind = RowKind::threshold;
  row.metric = threshold.text;
  row.unit = std::string(threshold.metric->unit);
  row.baseline = number(old_value);
  row.candidate = number(new_value);
  if (old_value != 0) row.ratio = new_value / old_value;
  row.num_baseline = static_cast<Count>(before.size());
  row.num_candidate = static_cast<Count>(now.size());
  if (!withheld.empty() && threshold.metric->kind == MetricKind::measured && threshold.kind != LimitKind::value) {
    row.change = Change::inconclusive;
    row.note = "not checked: " + withheld;
    return row;
  }
  row.change = holds(threshold, old_value, new_value) ? Change::unchanged : Change::regressed;
  row.note = row.change == Change::regressed ? "over the limit" : "within the limit";
  return row;
}

}  // namespace kvreplay::reports
