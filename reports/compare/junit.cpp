#include "reports/compare/shown.hpp"
#include "reports/compare/writers.hpp"
#include "reports/xml.hpp"

#include <array>
#include <map>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

// The rows a case stands for.
struct Question {
  const char* name;
  const char* failure;  // type of a failure
  bool (*is_part)(RowKind kind);
};
constexpr std::array questions{
    Question{"counters", "regression",
             [](RowKind kind) { return kind == RowKind::counter || kind == RowKind::outcome; }},
    Question{"times", "regression", is_time},
    Question{"thresholds", "broken threshold", [](RowKind kind) { return kind == RowKind::threshold; }},
};

std::string sentence(const CellComparison& cell, const ComparisonRow& row) {
  const std::vector<OverviewCell> cells = shown_cells({&cell, &row});
  return fmt::format("{}: {}, now {} ({}); {}", cells[2].text, cells[3].text, cells[4].text, cells[5].text,
                     cells.back().text);
}

void add_case(pugi::xml_node suite, const CellComparison& cell, const Question& question, JunitTally& tally) {
  std::string regressions, open;
  int num_rows = 0;
  for (const ComparisonRow& row : cell.rows) {
    if (!question.is_part(row.kind)) continue;
    ++num_rows;
    if (row.change == Change::regressed && !row.is_advice) regressions += sentence(cell, row) + "\n";
    // A part that is undecided is no news where the whole is decided.
    const bool counts = row.kind != RowKind::part_time && !row.is_advice;
    if (row.change == Change::inconclusive && counts) open += sentence(cell, row) + "\n";
  }
  if (num_rows == 0) return;
  ++tally.tests;
  pugi::xml_node test_case = suite.append_child("testcase");
  set_attribute(test_case, "classname", cell.workload);
  set_attribute(test_case, "name", fmt::format("{}: {}", cell.policy, question.name));
  set_attribute(test_case, "time", junit_seconds(0));
  if (!regressions.empty()) {
    ++tally.failures;
    pugi::xml_node failure = test_case.append_child("failure");
    set_attribute(failure, "type", question.failure);
    set_attribute(failure, "message", regressions + cell.hint);
  } else if (!open.empty()) {
    ++tally.skipped;
    set_attribute(test_case.append_child("skipped"), "message", open);
  }
}

}  // namespace

std::string write_comparison_junit(const Comparison& comparison) {
  pugi::xml_document document;
  pugi::xml_node suites = add_junit_suites(document, "kvreplay compare");
  std::map<std::string, std::pair<pugi::xml_node, JunitTally>> by_workload;
  JunitTally total;
  for (const CellComparison& cell : comparison.cells) {
    auto [entry, is_new] = by_workload.try_emplace(cell.workload);
    auto& [suite, tally] = entry->second;
    if (is_new) {
      suite = suites.append_child("testsuite");
      set_attribute(suite, "name", cell.workload);
    }
    for (const Question& question : questions) add_case(suite, cell, question, tally);
  }
  for (auto& [workload, entry] : by_workload) {
    set_tally(entry.first, entry.second);
    total.add(entry.second);
  }
  set_tally(suites, total);
  return saved(document);
}

}  // namespace kvreplay::reports
