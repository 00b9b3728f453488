#include "reports/compare/comparison.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

bool belongs(const ComparisonRow& row, Among among) {
  if (among == Among::all) return true;
  if (row.kind == RowKind::threshold) return among == Among::thresholds;
  return among == (is_time(row.kind) ? Among::times : Among::counters);
}

std::string amount(Count number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

// "2 counters regressed, 1 time improved".
std::string findings_text(const Comparison& comparison, Change change) {
  std::string list;
  const Count counters = num_rows(comparison, change, Among::counters);
  const Count times = num_rows(comparison, change, Among::times);
  if (counters > 0) append(list, amount(counters, "counter"));
  if (times > 0) append(list, amount(times, "time"));
  return list.empty() ? list : fmt::format("{} {}", list, name_of(change));
}

}  // namespace

std::string_view name_of(Change change) {
  switch (change) {
    case Change::regressed:
      return "regressed";
    case Change::improved:
      return "improved";
    case Change::changed:
      return "changed";
    case Change::inconclusive:
      return "inconclusive";
    case Change::unchanged:
      break;
  }
  return "unchanged";
}

std::string_view name_of(RowKind kind) {
  switch (kind) {
    case RowKind::outcome:
      return "outcome";
    case RowKind::relative_time:
      return "relative time";
    case RowKind::absolute_time:
      return "absolute time";
    case RowKind::cpu_time:
      return "CPU time";
    case RowKind::part_time:
      return "part of the time";
    case RowKind::threshold:
      return "threshold";
    case RowKind::counter:
      break;
  }
  return "counter";
}

bool is_time(RowKind kind) {
  return kind == RowKind::relative_time || kind == RowKind::absolute_time || kind == RowKind::cpu_time ||
         kind == RowKind::part_time;
}

Count num_rows(const Comparison& comparison, Change change, Among among) {
  Count number = 0;
  for (const CellComparison& cell : comparison.cells) {
    number += std::count_if(cell.rows.begin(), cell.rows.end(), [&](const ComparisonRow& row) {
      return row.change == change && !row.is_advice && belongs(row, among);
    });
  }
  return number;
}

std::string verdict_text(const Comparison& comparison) {
  std::string text;
  // A threshold may be of a counter or of a time, and is held or broken.
  const Count broken = num_rows(comparison, Change::regressed, Among::thresholds);
  if (broken > 0) append(text, amount(broken, "threshold") + " broken");
  for (const Change change : {Change::regressed, Change::improved, Change::changed}) {
    const std::string found = findings_text(comparison, change);
    if (!found.empty()) append(text, found);
  }
  if (text.empty()) text = "No counter changed and no time is known to have moved";
  const Count open = num_rows(comparison, Change::inconclusive, Among::all);
  if (open > 0) append(text, fmt::format("{} inconclusive", open));
  return fmt::format("{} ({} compared{})", text, amount(static_cast<Count>(comparison.cells.size()), "run"),
                     comparison.times_withheld.empty() ? "" : ", counters only");
}

}  // namespace kvreplay::reports
