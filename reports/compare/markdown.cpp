#include "reports/markdown.hpp"

#include "reports/compare/shown.hpp"
#include "reports/compare/writers.hpp"

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

constexpr std::size_t max_note_width = 500, reserve_bytes = 1'000;

std::string_view sign_of(Change change, bool is_advice) {
  if (change == Change::regressed) return is_advice ? "\xE2\x9A\xA0 " : "\xE2\x9D\x8C ";  // warning sign, cross
  if (change == Change::improved) return "\xE2\x9C\x85 ";                                 // check mark
  return change == Change::changed ? "\xE2\x9A\xA0 " : "";
}

std::string table_head() {
  std::string titles = "|", rule = "|";
  for (const TextColumn& column : comparison_columns()) {
    titles += fmt::format(" {} |", column.title);
    rule += column.is_number ? "---:|" : "---|";
  }
  return titles + "\n" + rule + "\n";
}

std::string table_row(const ShownRow& shown) {
  std::string line = "|";
  const std::vector<OverviewCell> cells = shown_cells(shown);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_name = i < 3;
    const bool is_verdict = i + 1 == cells.size();
    line += fmt::format(" {}{} |", is_verdict ? sign_of(shown.row->change, shown.row->is_advice) : "",
                        is_name ? markdown_name(cells[i].text) : markdown_text(cells[i].text, max_note_width));
  }
  return line + "\n";
}

// As many rows as fit into `most_bytes`; counts those that do not.
std::string table_of(const std::vector<ShownRow>& rows, std::size_t most_bytes, std::size_t& num_left_out) {
  std::string out = table_head();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string line = table_row(rows[i]);
    if (out.size() + line.size() > most_bytes) {
      num_left_out += rows.size() - i;
      break;
    }
    out += line;
  }
  return out + "\n";
}

std::string list_of(const std::vector<std::string>& lines) {
  constexpr std::size_t most_lines = 100;
  std::string out;
  for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i) {
    out += fmt::format("- {}\n", markdown_text(lines[i], max_note_width));
  }
  if (lines.size() > most_lines) out += fmt::format("- ... and {} more\n", lines.size() - most_lines);
  return out.empty() ? out : out + "\n";
}

std::string folded(std::string_view summary, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", summary, content);
}

std::vector<std::string> hints_of(const Comparison& comparison) {
  std::vector<std::string> hints;
  for (const CellComparison& cell : comparison.cells) {
    if (!cell.hint.empty()) hints.push_back(fmt::format("{} through {}: {}", cell.workload, cell.policy, cell.hint));
  }
  return hints;
}

}  // namespace

std::string write_comparison_markdown(const Comparison& comparison) {
  const bool failed = num_rows(comparison, Change::regressed, Among::all) > 0;
  std::string out = fmt::format("**{}{}.**\n\n", failed ? "\xE2\x9D\x8C " : "",
                                markdown_text(verdict_text(comparison), max_note_width));
  out += list_of(comparison.notes);
  std::size_t num_left_out = 0;
  const std::vector<ShownRow> news = rows_with_news(comparison), rest = rows_without_news(comparison);
  // Half of the room at most for what did not change, and what changed comes first.
  if (!news.empty()) out += table_of(news, max_markdown_bytes / 2, num_left_out);
  out += list_of(hints_of(comparison));
  std::vector<std::string> settings{"baseline: " + shown_side(comparison.baseline),
                                    "candidate: " + shown_side(comparison.candidate)};
  for (const std::string& line : legend_of(comparison)) settings.push_back(line);
  const std::string how = folded("What was compared, and how", list_of(settings));
  if (!rest.empty()) {
    const std::size_t room = max_markdown_bytes - std::min(max_markdown_bytes, out.size() + how.size() + reserve_bytes);
    out += folded(fmt::format("{} numbers without news", rest.size()), table_of(rest, room, num_left_out));
  }
  if (num_left_out > 0) {
    out += fmt::format("{} rows are left out to stay under 1 MiB; the CSV has them.\n\n", num_left_out);
  }
  return out + how;
}

}  // namespace kvreplay::reports
