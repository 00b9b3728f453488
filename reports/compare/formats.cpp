#include "reports/compare/writers.hpp"

#include "reports/formats.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

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

const ComparisonFormat* find_comparison_format(std::string_view name) {
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const auto& f) { return f.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

const ComparisonFormat& comparison_format_for_path(const std::string& path) {
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const auto& f) {
    return path.ends_with(f.extension) && !path.ends_with("/" + std::string(f.extension));
  });
  if (found != formats.end()) return *found;
  std::string known;
  for (const ComparisonFormat& format : formats)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format.extension);
  throw UnknownFormat(path, known);
}

}  // namespace kvreplay::reports
