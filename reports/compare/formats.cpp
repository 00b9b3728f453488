#include "reports/compare/writers.hpp"

#include "reports/format_lookup.hpp"
#include "reports/formats.hpp"

#include <array>

namespace kvreplay::reports {
namespace {

constexpr std::array formats{
    ComparisonFormat{"json", ".json", "every time and every change, schema kvreplay.comparison/1",
                     write_comparison_json},
    ComparisonFormat{"markdown", ".md", "verdict and changed rows for a pull request", write_comparison_markdown},
    ComparisonFormat{"csv", ".csv", "every row, a line each", write_comparison_csv},
    ComparisonFormat{"junit", ".junit.xml", "JUnit XML for CI servers", write_comparison_junit},
};

}  // namespace

std::span<const ComparisonFormat> comparison_formats() { return formats; }

const ComparisonFormat* find_comparison_format(std::string_view name) { return row_named(comparison_formats(), name); }

const ComparisonFormat& comparison_format_for_path(const std::string& path) {
  const ComparisonFormat* format = row_for_path(comparison_formats(), path);
  if (format == nullptr) throw UnknownFormat(path, extensions_of(comparison_formats()));
  return *format;
}

}  // namespace kvreplay::reports
