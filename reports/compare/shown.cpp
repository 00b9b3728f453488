#include "reports/compare/shown.hpp"

#include "reports/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

bool has_news(const ComparisonRow& row) {
  if (row.change == Change::unchanged) return false;
  return row.change != Change::inconclusive || row.kind != RowKind::part_time;
}

std::vector<ShownRow> rows_where(const Comparison& comparison, bool news) {
  std::vector<ShownRow> shown;
  for (const CellComparison& cell : comparison.cells) {
    const auto begin = static_cast<std::ptrdiff_t>(shown.size());
    for (const ComparisonRow& row : cell.rows) {
      if (has_news(row) == news) shown.push_back({&cell, &row});
    }
    std::stable_sort(shown.begin() + begin, shown.end(),
                     [](const ShownRow& a, const ShownRow& b) { return a.row->change < b.row->change; });
  }
  return shown;
}

std::string shown_value(const ComparisonRow& row, const Number& value) {
  const bool is_ratio = row.kind == RowKind::relative_time;
  if (const Count* count = std::get_if<Count>(&value)) {
    return row.unit == "ns" ? human_ns(*count) : grouped(*count);
  }
  const double* real = std::get_if<double>(&value);
  if (real == nullptr) return "-";
  if (row.unit == "ns" && !is_ratio) return human_ns(static_cast<Count>(*real));
  return fmt::format("{:.4g}", *real);
}

std::string percent(double ratio) { return fmt::format("{:+.1f} %", (ratio - 1) * 100); }

std::string shown_change(const ComparisonRow& row) {
  if (!row.ratio) return "-";
  // An exact number that moved must not look as if it had not.
  if (!is_time(row.kind)) return fmt::format("{:+.4g} %", (*row.ratio - 1) * 100);
  return percent(*row.ratio);
}

Emphasis emphasis_of(const ComparisonRow& row) {
  if (row.change == Change::regressed) return row.is_advice ? Emphasis::warning : Emphasis::failure;
  if (row.change == Change::improved) return Emphasis::best;
  return row.change == Change::changed ? Emphasis::warning : Emphasis::none;
}

// The detectable changes of the totals of one kind: least and largest, and how many had none.
std::string detectable_of(const Comparison& comparison, RowKind kind) {
  double least = -1, largest = -1;
  Count blind = 0;
  for (const CellComparison& cell : comparison.cells) {
    for (const ComparisonRow& row : cell.rows) {
      if (row.kind != kind) continue;
      if (!row.smallest_detectable) {
        ++blind;
        continue;
      }
      least = least < 0 ? *row.smallest_detectable : std::min(least, *row.smallest_detectable);
      largest = std::max(largest, *row.smallest_detectable);
    }
  }
  if (least < 0 && blind == 0) return {};
  if (least < 0) return fmt::format("{}s: no change could have been found, whatever its size", name_of(kind));
  std::string text = fmt::format("{}s: changes from {:.1f} % ", name_of(kind), least * 100);
  text += largest - least < 5e-4 ? "" : fmt::format("(steadiest run) to {:.1f} % (noisiest) ", largest * 100);
  text += "could have been found";
  return blind == 0 ? text : text + fmt::format("; none at all in {} of them", blind);
}

}  // namespace

std::vector<ShownRow> rows_with_news(const Comparison& comparison) { return rows_where(comparison, true); }
std::vector<ShownRow> rows_without_news(const Comparison& comparison) { return rows_where(comparison, false); }

std::vector<TextColumn> comparison_columns() {
  return {{"workload", false}, {"policy", false},  {"metric", false}, {"baseline", true}, {"candidate", true},
          {"change", true},    {"interval", true}, {"p", true},       {"verdict", false}};
}

std::string shown_metric(const ComparisonRow& row) {
  if (!is_time(row.kind)) return row.metric;
  if (row.kind == RowKind::relative_time) return "time " + row.unit;
  if (row.kind == RowKind::cpu_time) return "CPU time";
  const std::string name = row.metric.substr(row.metric.rfind('.') + 1);
  return row.kind == RowKind::part_time ? fmt::format("time in {}", name) : "time";
}

std::vector<OverviewCell> shown_cells(const ShownRow& shown) {
  const ComparisonRow& row = *shown.row;
  std::string verdict(name_of(row.change));
  if (row.is_advice) verdict += row.kind == RowKind::counter ? "" : " (advice)";
  if (!row.note.empty()) verdict += ": " + row.note;
  return {{shown.cell->workload},
          {shown.cell->policy},
          {shown_metric(row)},
          {shown_value(row, row.baseline)},
          {shown_value(row, row.candidate)},
          {shown_change(row)},
          {row.interval ? fmt::format("{} .. {}", percent(row.interval->low), percent(row.interval->high)) : "-"},
          {row.p ? (*row.p < 0.001 ? std::string("<0.001") : fmt::format("{:.3f}", *row.p)) : "-"},
          {verdict, emphasis_of(row)}};
}

std::vector<std::string> legend_of(const Comparison& comparison) {
  std::vector<std::string> lines{"counters: exact, a change of 1 is found"};
  bool any_time = false;
  for (const RowKind kind : {RowKind::relative_time, RowKind::absolute_time, RowKind::cpu_time}) {
    const std::string line = detectable_of(comparison, kind);
    if (!line.empty()) lines.push_back(line);
    any_time = any_time || !line.empty();
  }
  if (!any_time) return lines;
  lines.push_back(fmt::format(
      "times are medians over repetitions, called changed where Mann-Whitney's U after Holm gives p < {} and the 99 % "
      "interval is clear of the noise ({:.1f} % relative, {:.1f} % absolute, {:.1f} % CPU{}) and reaches {:.0f} %; "
      "outliers are kept",
      comparison.alpha, comparison.noise_floor_relative * 100, comparison.noise_floor_absolute * 100,
      comparison.noise_floor_cpu * 100,
      comparison.noise_source.empty() ? ", assumed" : ", calibrated: " + comparison.noise_source,
      comparison.effect_floor * 100));
  Count outliers = 0, repetitions = 0;
  for (const CellComparison& cell : comparison.cells) {
    for (const ComparisonRow& row : cell.rows) {
      if (row.kind != RowKind::absolute_time) continue;
      outliers += row.num_outliers_baseline + row.num_outliers_candidate;
      repetitions += row.num_baseline + row.num_candidate;
    }
  }
  lines.push_back(
      fmt::format("outliers: {} of {} timed repetitions lie more than 5 deviations from their median "
                  "(flagged, not removed)",
                  outliers, repetitions));
  return lines;
}

std::string shown_side(const SideSummary& side) {
  constexpr std::size_t most_named = 4;
  const std::string text = side.files.size() <= most_named ? fmt::format("{}", fmt::join(side.files, ", "))
                                                           : fmt::format("{} files, {} to {}", side.files.size(),
                                                                         side.files.front(), side.files.back());
  std::string facts;
  for (const auto& [key, value] : side.facts) {
    if (key == "git_dirty" && value != "yes") continue;
    const std::string fact = key == "git_dirty" ? "modified"
                             : key == "threads" ? value + (value == "1" ? " thread" : " threads")
                                                : value;
    facts += (facts.empty() ? "" : ", ") + fact;
  }
  return facts.empty() ? text : fmt::format("{} ({})", text, facts);
}

}  // namespace kvreplay::reports
