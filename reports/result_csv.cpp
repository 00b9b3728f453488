#include "reports/result_csv.hpp"

#include "reports/budgets.hpp"
#include "reports/csv.hpp"
#include "reports/measurements.hpp"

#include <array>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

void append_number(std::string& out, const RunResult& result, const std::string& repetition, const Measurement& number,
                   const std::string& text) {
  const std::string& workload = result.workload.path.empty() ? result.workload.id : result.workload.path;
  append_csv_record(out, std::array{workload, result.policy.spec, repetition, number.metric, number.unit, text,
                                    result.model.profile, result.depth});
}

// Verdict, value and bounds of a budget, each a record.
void append_budget(std::string& out, const BudgetLine& budget) {
  const std::string name = fmt::format("budget {}:{} {}", budget.suite, budget.line, quantity_of(budget));
  const auto append = [&](const std::string& part, const std::string& text) {
    append_csv_record(
        out, std::array<std::string, 8>{budget.workload_path, budget.policy, "", name + " " + part, "", text, "", ""});
  };
  append("verdict", budget.verdict);
  if (!text_of(budget.value).empty()) append("value", text_of(budget.value));
  if (!text_of(budget.least).empty()) append("min", text_of(budget.least));
  if (!text_of(budget.most).empty()) append("max", text_of(budget.most));
}

}  // namespace

std::string write_result_csv(const ResultFile& file) {
  std::string out;
  append_csv_record(
      out, std::array<std::string, 8>{"workload", "policy", "repetition", "metric", "unit", "value", "model", "depth"});
  for (const RunResult& result : file.results) {
    const auto append = [&](const std::string& repetition, const std::vector<Measurement>& numbers) {
      for (const Measurement& number : numbers) append_number(out, result, repetition, number, text_of(number.value));
    };
    append_number(out, result, "", {"outcome", "", {}}, result.outcome.kind);
    append("", counted(result));
    append("", measured(result));
    for (const Repetition& repetition : result.repetitions) {
      append(fmt::format("{}", repetition.index), measured(result, repetition));
    }
  }
  for (const BudgetLine& budget : file.budgets) append_budget(out, budget);
  return out;
}

}  // namespace kvreplay::reports
