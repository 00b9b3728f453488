#include "reports/html_data.hpp"

#include "reports/budgets.hpp"
#include "reports/metrics.hpp"
#include "reports/overview.hpp"
#include "reports/statistics.hpp"
#include "reports/text.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

constexpr std::size_t short_width = 60;    // names in legends and tables
constexpr std::size_t long_width = 2'000;  // names in full, sentences, values

constexpr std::array<std::string_view, 5> causes{"rewind", "overflow", "window_passed", "sequence_switch", "policy"};

std::string_view word_of(Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::best:
      return "best";
    case Emphasis::warning:
      return "warning";
    case Emphasis::failure:
      return "failure";
    case Emphasis::none:
      break;
  }
  return "";
}

// Policies of a group as the page calls them: short, and apart even where two runs have the same name.
std::vector<std::string> shown_policies(std::span<const RunResult> results, const Group& group) {
  std::vector<std::string> names;
  names.reserve(group.results.size());
  for (const std::size_t i : group.results) names.push_back(results[i].policy.spec);
  names = shortened_apart(names, short_width);
  std::set<std::string> taken;
  for (std::string& name : names) {
    const std::string first = name;
    for (int copy = 2; !taken.insert(name).second; ++copy) name = fmt::format("{} #{}", first, copy);
  }
  return names;
}

Json settings_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json rows = Json::array();
  for (const auto& [key, value] : pairs) {
    rows.push_back(Json::array({shortened(key, short_width), shortened(value, long_width)}));
  }
  return rows;
}

// Tokens evaluated: those nobody had evaluated before, and the others by cause.
Json tokens_json(const RunResult& result) {
  const auto count = [&](const std::string& name) { return counter(result.counters, name).value_or(0); };
  Json tokens = {{"first", count("tokens_evaluated") - count("tokens_recomputed")}};
  for (const std::string_view cause : causes) {
    tokens[std::string(cause)] = count(fmt::format("tokens_recomputed_{}", cause));
  }
  return tokens;
}

Json run_json(const RunResult& result, const std::string& name, const PageBudget& budget) {
  const std::optional<Latency> latency = pooled_latency(result);
  const auto count = [&](const std::string& metric) { return optional_json(counter(result.counters, metric)); };
  return {{"name", name},
          {"full_name", shortened(result.policy.spec, long_width)},
          {"completed", result.outcome.completed()},
          {"comparable", is_comparable(result)},
          {"evaluations", count("evaluations")},
          {"evaluated", count("tokens_evaluated")},
          {"tokens", tokens_json(result)},
          {"peak_bytes", count("transient_bytes_peak")},
          {"total_ns", latency ? Json(latency->total_ns) : Json()},
          {"repetitions", result.repetitions.size()},
          {"percentiles", latency ? percentiles_json(latency->evaluation_ns) : Json()},
          {"quantiles", latency_quantiles(result)},
          {"latency", latency_series(result, budget.points)},
          {"memory", memory_series(result, budget.points)},
          {"events", event_rows(result, budget.events)}};
}

Json columns_json(const Overview& overview) {
  Json columns = Json::array();
  for (const OverviewColumn& column : overview.columns) {
    columns.push_back({{"title", column.title}, {"meaning", column.meaning}, {"number", column.is_number}});
  }
  return columns;
}

Json rows_json(const Overview& overview, const std::vector<std::string>& policies) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < overview.rows.size(); ++i) {
    Json row = Json::array({Json::array({policies[i], ""})});
    for (std::size_t column = 1; column < overview.rows[i].size(); ++column) {
      const OverviewCell& cell = overview.rows[i][column];
      row.push_back(Json::array({shortened(cell.text, short_width), word_of(cell.emphasis)}));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json workload_json(const ResultFile& file, const Group& group, const std::string& label, const PageBudget& budget) {
  const Overview overview = overview_of(file.results, group, label, Units::human);
  const std::vector<std::string> policies = shown_policies(file.results, group);
  const RunResult& first = file.results[group.results.front()];
  Json runs = Json::array(), notes = Json::array();
  for (std::size_t i = 0; i < group.results.size(); ++i) {
    runs.push_back(run_json(file.results[group.results[i]], policies[i], budget));
  }
  for (const std::string& note : overview.notes) notes.push_back(shortened(note, long_width));
  return {{"label", label},
          {"path", shortened(overview.path, long_width)},
          {"title", shortened(overview.title, long_width)},
          {"setting", shortened(overview.setting, long_width)},
          {"depth", shortened(first.depth, short_width)},
          {"floor", optional_json(counter(first.counters, "tokens_floor_single"))},
          {"columns", columns_json(overview)},
          {"rows", rows_json(overview, policies)},
          {"notes", std::move(notes)},
          {"runs", std::move(runs)}};
}

// Broken ones first; of very many the page shows the first thousands.
Json budgets_json(const ResultFile& file) {
  constexpr std::size_t most = 3'000;
  const std::vector<std::string> workloads = shortened_apart(budget_workloads(file), short_width);
  Json rows = Json::array();
  for (const bool broken : {true, false}) {
    for (std::size_t i = 0; i < file.budgets.size() && rows.size() < most; ++i) {
      const BudgetLine& budget = file.budgets[i];
      if ((budget.verdict == "broken") != broken) continue;
      const std::string where = fmt::format("{}:{}", budget.suite, budget.line);
      rows.push_back(Json::array({budget.verdict, workloads[i], shortened(budget.policy, short_width),
                                  shortened(quantity_of(budget), long_width), shortened(finding_of(budget), long_width),
                                  shortened(where, short_width)}));
    }
  }
  return {{"summary", budget_summary(file)}, {"rows", std::move(rows)}};
}

}  // namespace

PageBudget page_budget(std::size_t num_runs) {
  constexpr std::size_t all_points = 30'000, all_events = 12'000, most = 2'000;
  const std::size_t runs = std::max<std::size_t>(num_runs, 1);
  return {std::clamp<std::size_t>(all_points / runs, 60, most), std::clamp<std::size_t>(all_events / runs, 20, most)};
}

Json page_data(const ResultFile& file) {
  const Verdict verdict = verdict_of(file);
  const PageBudget budget = page_budget(file.results.size());
  const std::vector<std::string> labels = shortened_apart(workload_labels(file.results), 2 * short_width);
  Json workloads = Json::array();
  for (const Group& group : groups_of(file.results)) {
    workloads.push_back(workload_json(file, group, labels[group.results.front()], budget));
  }
  return {{"verdict", {{"emphasis", word_of(verdict.emphasis)}, {"text", verdict.text}}},
          {"budgets", budgets_json(file)},
          {"workloads", std::move(workloads)},
          {"settings", settings_json(file.config)},
          {"provenance", settings_json(file.provenance.entries)}};
}

}  // namespace kvreplay::reports
