// Aligned tables for a terminal.
#pragma once

#include "reports/overview.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::reports {

struct TextColumn {
  std::string title;
  bool is_number = true;  // numbers are flush right
};

// The text in ANSI colour, or as it is.
std::string painted(std::string_view text, Emphasis emphasis, bool color);

// The same of a text that is wrapped: lines of at most `width` columns, later ones indented.
std::string painted_lines(std::string_view text, std::size_t width, Emphasis emphasis, bool color);

// Columns the table takes in one block.
std::size_t table_width(std::span<const TextColumn> columns, const std::vector<std::vector<OverviewCell>>& rows);

// A header, a rule and the rows, two blanks between columns. What is wider than `width` is continued below in further
// blocks that repeat the first column; a first column wider than a third of `width` is shortened in the middle, its
// rows kept apart. `rows`: one cell per column. No trailing blanks.
std::string text_table(std::span<const TextColumn> columns, std::vector<std::vector<OverviewCell>> rows,
                       std::size_t width, bool color);

}  // namespace kvreplay::reports
