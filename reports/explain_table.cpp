#include "reports/explain_table.hpp"

#include "reports/sample_columns.hpp"
#include "reports/text.hpp"
#include "reports/text_table.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

// One column of explain's table: a column of the sample, or two as "before > after".
struct ExplainColumn {
  std::string_view title;
  std::string_view first, second;
};

constexpr std::array explain_columns{
    ExplainColumn{"eval", "evaluation", ""},
    ExplainColumn{"sequence", "sequence", ""},
    ExplainColumn{"line", "line", ""},
    ExplainColumn{"length", "length", ""},
    ExplainColumn{"common", "common_prefix", ""},
    ExplainColumn{"held", "held_before", "held_after"},
    ExplainColumn{"kept", "kept", ""},
    ExplainColumn{"fed", "fed", ""},
    ExplainColumn{"from", "first_position", ""},
    ExplainColumn{"capacity", "capacity_before", "capacity_after"},
    ExplainColumn{"bytes", "bytes_before", "bytes_after"},
    ExplainColumn{"storage", "new_storage", ""},
    ExplainColumn{"resets", "resets", ""},
    ExplainColumn{"crop to", "crop_to", ""},
    ExplainColumn{"action", "action", ""},
    ExplainColumn{"cause", "cause", ""},
    ExplainColumn{"exact", "exact", ""},
    ExplainColumn{"recomputed", "tokens_recomputed", ""},
    ExplainColumn{"copied", "bytes_copied", ""},
    ExplainColumn{"zeroed", "bytes_zeroed", ""},
    ExplainColumn{"peak", "transient_bytes", ""},
};

std::string explain_cell(const Sample& sample, std::string_view name) {
  const SampleColumn& column = *find_sample_column(name);
  const Cell cell = column.cell(sample);
  const Count* count = std::get_if<Count>(&cell);
  if (count == nullptr) return text_of(cell);
  return grouped(*count);
}

OverviewCell explain_cell(const Sample& sample, const ExplainColumn& column) {
  std::string text = explain_cell(sample, column.first);
  if (!column.second.empty()) {
    const std::string after = explain_cell(sample, column.second);
    if (after != text) text = fmt::format("{} > {}", text.empty() ? "-" : text, after.empty() ? "-" : after);
  }
  const bool wrong = column.first == "exact" && sample.exact && !*sample.exact;
  const bool stopped = column.first == "action" && (sample.action == "refused" || sample.action == "exceeded");
  return {std::move(text), wrong ? Emphasis::failure : stopped ? Emphasis::warning : Emphasis::none};
}

}  // namespace

std::string explain_table(std::span<const Sample> samples, bool color) {
  std::vector<TextColumn> columns;
  std::vector<std::vector<OverviewCell>> rows(samples.size());
  for (const ExplainColumn& column : explain_columns) {
    std::vector<OverviewCell> cells;
    for (const Sample& sample : samples) cells.push_back(explain_cell(sample, column));
    const bool blank =
        std::all_of(cells.begin(), cells.end(), [](const OverviewCell& cell) { return cell.text.empty(); });
    if (blank && !samples.empty()) continue;
    columns.push_back({std::string(column.title), find_sample_column(column.first)->is_number});
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row].push_back(std::move(cells[row]));
  }
  return text_table(columns, std::move(rows), std::numeric_limits<std::size_t>::max(), color);
}

}  // namespace kvreplay::reports
