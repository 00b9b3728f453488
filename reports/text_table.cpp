#include "reports/text_table.hpp"

#include "reports/text.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t smallest_first_column = 12;

std::string_view escape_of(Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::best:
      return "\x1b[1;32m";
    case Emphasis::warning:
      return "\x1b[33m";
    case Emphasis::failure:
      return "\x1b[1;31m";
    case Emphasis::none:
      break;
  }
  return {};
}

void append_cell(std::string& line, const OverviewCell& cell, std::size_t width, bool right, bool color) {
  const std::string blanks(width - std::min(width, display_width(cell.text)), ' ');
  if (right) line += blanks;
  line += painted(cell.text, cell.emphasis, color);
  if (!right) line += blanks;
}

void append_line(std::string& out, std::string line) {
  while (line.ends_with(' ')) line.pop_back();
  out += line;
  out += '\n';
}

// Columns of each block: the first, then as many as fit.
std::vector<std::vector<std::size_t>> blocks_of(std::span<const std::size_t> widths, std::size_t width) {
  std::vector<std::vector<std::size_t>> blocks{{0}};
  std::size_t used = widths[0];
  for (std::size_t column = 1; column < widths.size(); ++column) {
    if (used + gap + widths[column] > width && blocks.back().size() > 1) {
      blocks.push_back({0});
      used = widths[0];
    }
    blocks.back().push_back(column);
    used += gap + widths[column];
  }
  return blocks;
}

void shorten_first_column(std::vector<std::vector<OverviewCell>>& rows, std::size_t width) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const auto& row : rows) names.push_back(row.front().text);
  names = shortened_apart(names, width);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].front().text = names[i];
}

std::vector<std::size_t> widths_of(std::span<const TextColumn> columns,
                                   const std::vector<std::vector<OverviewCell>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(display_width(columns[i].title));
    for (const auto& row : rows) widths.back() = std::max(widths.back(), display_width(row[i].text));
  }
  return widths;
}

}  // namespace

std::string painted(std::string_view text, Emphasis emphasis, bool color) {
  if (!color || emphasis == Emphasis::none) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_of(emphasis), text);
}

std::string painted_lines(std::string_view text, std::size_t width, Emphasis emphasis, bool color) {
  std::string lines = wrapped(text, width);
  lines.pop_back();  // the last line's end is not painted
  return painted(lines, emphasis, color) + '\n';
}

std::size_t table_width(std::span<const TextColumn> columns, const std::vector<std::vector<OverviewCell>>& rows) {
  const std::vector<std::size_t> widths = widths_of(columns, rows);
  return std::accumulate(widths.begin(), widths.end(), gap * (columns.size() - 1));
}

std::string text_table(std::span<const TextColumn> columns, std::vector<std::vector<OverviewCell>> rows,
                       std::size_t width, bool color) {
  shorten_first_column(rows, std::max(width / 3, smallest_first_column));
  for (auto& row : rows) {
    for (OverviewCell& cell : row) cell.text = printable(cell.text);
  }
  const std::vector<std::size_t> widths = widths_of(columns, rows);
  std::string out;
  for (const std::vector<std::size_t>& block : blocks_of(widths, width)) {
    if (!out.empty()) out += '\n';
    std::string header, rule;
    for (const std::size_t i : block) {
      if (i != block.front()) header.append(gap, ' '), rule.append(gap, ' ');
      append_cell(header, {columns[i].title, Emphasis::none}, widths[i], columns[i].is_number, false);
      rule.append(widths[i], '-');
    }
    append_line(out, header);
    append_line(out, rule);
    for (const auto& row : rows) {
      std::string line;
      for (const std::size_t i : block) {
        if (i != block.front()) line.append(gap, ' ');
        append_cell(line, row[i], widths[i], columns[i].is_number, color);
      }
      append_line(out, line);
    }
  }
  return out;
}

}  // namespace kvreplay::reports
