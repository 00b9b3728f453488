#include "reports/terminal_table.hpp"

#include "reports/budgets.hpp"
#include "reports/glance.hpp"
#include "reports/text.hpp"
#include "reports/text_table.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

constexpr std::size_t max_note_width = 400;

std::string table_of(const Overview& overview, const TerminalStyle& style) {
  std::vector<TextColumn> columns;
  columns.reserve(overview.columns.size());
  for (const OverviewColumn& column : overview.columns) columns.push_back({column.title, column.is_number});
  std::vector<std::vector<OverviewCell>> rows = overview.rows;
  if (table_width(columns, rows) > style.columns) {
    for (std::size_t i = overview.columns.size(); i-- > 0;) {
      if (!overview.columns[i].is_optional) continue;
      const auto at = static_cast<std::ptrdiff_t>(i);
      columns.erase(columns.begin() + at);
      for (auto& row : rows) row.erase(row.begin() + at);
    }
  }
  return text_table(columns, std::move(rows), style.columns, style.color);
}

void append_overview(std::string& out, const Overview& overview, const TerminalStyle& style) {
  const auto line = [&](const std::string& text) { out += wrapped(shortened(text, max_note_width), style.columns); };
  std::string heading = shortened(overview.workload, style.columns);
  if (overview.path != overview.workload && !overview.path.empty()) heading += fmt::format("  ({})", overview.path);
  line(heading);
  if (!overview.title.empty()) line(overview.title);
  line(overview.setting);
  out += '\n';
  out += table_of(overview, style);
  if (!overview.notes.empty()) out += '\n';
  for (const std::string& note : overview.notes) line("! " + note);
  out += '\n';
}

// What the tables of many workloads come to.
void append_glance(std::string& out, const std::vector<Overview>& overviews, const TerminalStyle& style) {
  const char* const title = "x floor";
  Glance glance = glance_of(overviews, title);
  std::vector<TextColumn> columns{{title, false}};
  for (const std::string& policy : shortened_apart(glance.policies, style.columns / 3)) columns.push_back({policy});
  out += "All workloads\n\n" + text_table(columns, std::move(glance.rows), style.columns, style.color) + '\n';
}

std::string legend_of(const std::vector<Overview>& overviews) {
  std::vector<std::string> titles;
  std::string legend;
  for (const Overview& overview : overviews) {
    for (const OverviewColumn& column : overview.columns) {
      if (column.meaning.empty() || std::find(titles.begin(), titles.end(), column.title) != titles.end()) continue;
      titles.push_back(column.title);
      legend += fmt::format("{}{}: {}", legend.empty() ? "" : "; ", column.title, column.meaning);
    }
  }
  return legend;
}

// A line per budget that is kept by all its runs, and one per run that breaks it or where it could not be judged, each
// beginning with a word that can be searched for.
void append_budgets(std::string& out, const ResultFile& file, const TerminalStyle& style) {
  if (file.budgets.empty()) return;
  const std::vector<std::string> workloads = budget_workloads(file);
  const auto line = [&](const char* word, Emphasis emphasis, const BudgetLine& budget, const std::string& what) {
    out += painted(word, emphasis, style.color) + " ";
    const std::string text = fmt::format("{} ({}:{})", what, budget.suite, budget.line);
    out += wrapped(shortened(text, max_note_width),
                   std::max<std::size_t>(style.columns, 40) - std::string_view(word).size() - 1);
  };
  out += "Budgets\n";
  for (std::size_t first = 0, next = 0; first < file.budgets.size(); first = next) {
    const BudgetLine& budget = file.budgets[first];
    std::size_t num_kept = 0;
    bool one_policy = true;
    for (; next < file.budgets.size(); ++next) {
      const BudgetLine& at = file.budgets[next];
      if (at.suite != budget.suite || at.line != budget.line) break;
      const std::string what =
          fmt::format("{} / {}: {} {}", workloads[next], at.policy, quantity_of(at), finding_of(at));
      one_policy = one_policy && at.policy == budget.policy;
      if (at.verdict == "passed") ++num_kept;
      if (at.verdict == "broken") line("BROKEN    ", Emphasis::failure, at, what);
      if (at.verdict == "not_judged") line("not judged", Emphasis::warning, at, what);
    }
    if (num_kept == 0) continue;
    const std::string runs = one_policy ? fmt::format("runs of {}", budget.policy) : std::string("runs");
    line("kept      ", Emphasis::none, budget,
         next - first == 1
             ? fmt::format("{} / {}: {} {}", workloads[first], budget.policy, quantity_of(budget), finding_of(budget))
             : fmt::format("{} of {} {}: {} {}", num_kept, next - first, runs, quantity_of(budget), bounds_of(budget)));
  }
  out += '\n';
}

}  // namespace

std::string terminal_table(const ResultFile& file, const TerminalStyle& style) {
  const std::vector<std::string> labels = workload_labels(file.results);
  std::vector<Overview> overviews;
  for (const Group& group : groups_of(file.results)) {
    overviews.push_back(overview_of(file.results, group, labels[group.results.front()], style.units));
  }
  std::string out;
  for (const Overview& overview : overviews) append_overview(out, overview, style);
  if (overviews.size() > 1) append_glance(out, overviews, style);
  if (style.legend && !overviews.empty()) {
    out += wrapped(legend_of(overviews), style.columns);
    if (style.units == Units::human) out += wrapped("Exact numbers: -o FILE.csv or -o FILE.json.", style.columns);
    out += '\n';
  }
  append_budgets(out, file, style);
  const Verdict verdict = verdict_of(file);
  return out + painted_lines(printable(verdict.text) + ".", style.columns, verdict.emphasis, style.color);
}

}  // namespace kvreplay::reports
