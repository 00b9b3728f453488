// The formats of a comparison: one format = one .cpp + one row in formats.cpp.
#pragma once

#include "reports/compare/comparison.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kvreplay::reports {

inline constexpr std::string_view comparison_schema = "kvreplay.comparison/1";

struct ComparisonFormat {
  std::string_view name, extension, meaning;
  std::string (*write)(const Comparison& comparison);
};

// Extensions are those of formats.hpp where the format is the same.
std::span<const ComparisonFormat> comparison_formats();
const ComparisonFormat* find_comparison_format(std::string_view name);
// By the end of a file's name. Throws UnknownFormat.
const ComparisonFormat& comparison_format_for_path(const std::string& path);

// All rows of times and thresholds, the counters that changed, the number that did not.
std::string write_comparison_json(const Comparison& comparison);
// The verdict first, rows with news, the rest folded; under 1 MiB.
std::string write_comparison_markdown(const Comparison& comparison);
// Every row, unchanged ones included, a line each.
std::string write_comparison_csv(const Comparison& comparison);
// A suite a workload, a case a policy and kind of number; regressions are failures, what is undecided is skipped.
std::string write_comparison_junit(const Comparison& comparison);
// For a terminal of that many columns.
std::string comparison_table(const Comparison& comparison, std::size_t columns, bool color);

}  // namespace kvreplay::reports
