// The table of a comparison as people see it, for the terminal and Markdown.
#pragma once

#include "reports/compare/comparison.hpp"
#include "reports/text_table.hpp"

#include <string>
#include <vector>

namespace kvreplay::reports {

struct ShownRow {
  const CellComparison* cell = nullptr;
  const ComparisonRow* row = nullptr;
};

// Rows with news, worst first within a run: everything that changed or could not be decided, but no part of a time
// that is merely undecided, for then the whole is as well.
std::vector<ShownRow> rows_with_news(const Comparison& comparison);
// All others.
std::vector<ShownRow> rows_without_news(const Comparison& comparison);

std::vector<TextColumn> comparison_columns();
// One cell per column.
std::vector<OverviewCell> shown_cells(const ShownRow& shown);

// "tokens_evaluated"; "time (total)", "time (attention)" and so on for times.
std::string shown_metric(const ComparisonRow& row);

// Sentences: how times were judged, what could have been found.
std::vector<std::string> legend_of(const Comparison& comparison);

// "BASELINE: commit abc, 2026-01-02, Release, ...".
std::string shown_side(const SideSummary& side);

}  // namespace kvreplay::reports
