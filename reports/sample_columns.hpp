// The columns of one evaluation: the same names and words in explain's CSV and table, in a result's timeline and in
// the comparison with an engine's log.
#pragma once

#include "reports/result.hpp"

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace kvreplay::reports {

// Blank, a number, a word, or yes/no.
using Cell = std::variant<std::monostate, Count, std::string, bool>;

struct SampleColumn {
  std::string_view name;
  bool is_number;
  Cell (*cell)(const Sample& sample);
  std::string_view meaning;  // one line
};

// In the order of explain's CSV; the first is `evaluation`.
std::span<const SampleColumn> sample_columns();

// Null for a name nobody has.
const SampleColumn* find_sample_column(std::string_view name);

// The cell as text: blank "", numbers in full, true "yes", false "no".
std::string text_of(const Cell& cell);

}  // namespace kvreplay::reports
