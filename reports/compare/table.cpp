#include "reports/compare/shown.hpp"
#include "reports/compare/writers.hpp"
#include "reports/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

// More than people read; files have them all.
constexpr std::size_t most_rows = 200;

Emphasis verdict_emphasis(const Comparison& comparison) {
  if (num_rows(comparison, Change::regressed, Among::all) > 0) return Emphasis::failure;
  if (num_rows(comparison, Change::changed, Among::all) > 0) return Emphasis::warning;
  return num_rows(comparison, Change::improved, Among::all) > 0 ? Emphasis::best : Emphasis::none;
}

}  // namespace

std::string comparison_table(const Comparison& comparison, std::size_t columns, bool color) {
  std::string out = painted_lines(printable(verdict_text(comparison)), columns, verdict_emphasis(comparison), color);
  const auto line = [&out, columns](const std::string& text) { out += wrapped(printable(text), columns, 2); };
  line("baseline:  " + shown_side(comparison.baseline));
  line("candidate: " + shown_side(comparison.candidate));
  for (const std::string& note : comparison.notes) line("note: " + note);
  std::vector<ShownRow> shown = rows_with_news(comparison);
  const std::size_t num_left_out = shown.size() - std::min(shown.size(), most_rows);
  shown.resize(shown.size() - num_left_out);
  if (!shown.empty()) {
    std::vector<std::vector<OverviewCell>> rows;
    for (const ShownRow& row : shown) rows.push_back(shown_cells(row));
    out += "\n" + text_table(comparison_columns(), std::move(rows), columns, color);
  }
  if (num_left_out > 0) out += fmt::format("  ... and {} more; -o FILE.csv has them all\n", num_left_out);
  out += "\n";
  for (const CellComparison& cell : comparison.cells) {
    if (cell.hint.empty()) continue;
    line(fmt::format("{} through {}: {}", cell.workload, cell.policy, cell.hint));
  }
  for (const std::string& text : legend_of(comparison)) line(text);
  return out;
}

}  // namespace kvreplay::reports
