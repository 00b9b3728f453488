#include "reports/csv.hpp"
#include "reports/compare/writers.hpp"

#include <array>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

std::string text_of_optional(const std::optional<double>& value) { return value ? text_of(Number(*value)) : ""; }

}  // namespace

std::string write_comparison_csv(const Comparison& comparison) {
  std::string out;
  const std::vector<std::string> titles{
      "workload", "policy",    "model", "depth", "kind", "metric", "unit",
      "baseline", "candidate", "ratio", "low",   "high", "p",      "smallest_detectable",
      "verdict",  "advice",    "note"};
  append_csv_record(out, titles);
  for (const CellComparison& cell : comparison.cells) {
    for (const ComparisonRow& row : cell.rows) {
      const std::vector<std::string> fields{cell.workload,
                                            cell.policy,
                                            cell.model,
                                            cell.depth,
                                            std::string(name_of(row.kind)),
                                            row.metric,
                                            row.unit,
                                            text_of(row.baseline),
                                            text_of(row.candidate),
                                            text_of_optional(row.ratio),
                                            row.interval ? text_of(Number(row.interval->low)) : "",
                                            row.interval ? text_of(Number(row.interval->high)) : "",
                                            text_of_optional(row.p),
                                            text_of_optional(row.smallest_detectable),
                                            std::string(name_of(row.change)),
                                            row.is_advice ? "yes" : "no",
                                            row.note};
      append_csv_record(out, fields);
    }
  }
  return out;
}

}  // namespace kvreplay::reports
