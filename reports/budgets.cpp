#include "reports/budgets.hpp"

#include "reports/measurements.hpp"
#include "reports/metrics.hpp"
#include "reports/overview.hpp"
#include "reports/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

using CellKey = std::tuple<std::string, std::string, std::string>;  // suite, workload's path, policy

// Cells by name, and their measured numbers, which are costly to make, once.
class Cells {
 public:
  explicit Cells(const std::vector<RunResult>& results) : results_(results) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const RunResult& r = results[i];
      if (!r.suite.empty()) index_.emplace(CellKey(r.suite, r.workload.path, r.policy.spec), i);
    }
  }

  std::optional<std::size_t> find(const BudgetLine& budget, const std::string& policy) const {
    const auto found = index_.find(CellKey(budget.suite, budget.workload_path, policy));
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }

  Number value(std::size_t cell, const std::string& metric) {
    if (const auto count = counter(results_[cell].counters, metric)) return *count;
    const auto [numbers, is_new] = measured_.try_emplace(cell);
    if (is_new) numbers->second = measured(results_[cell]);
    for (const Measurement& number : numbers->second) {
      if (number.metric == metric) return number.value;
    }
    return {};
  }

 private:
  const std::vector<RunResult>& results_;
  std::map<CellKey, std::size_t> index_;
  std::map<std::size_t, std::vector<Measurement>> measured_;
};

double real(const Number& number) {
  if (const Count* count = std::get_if<Count>(&number)) return static_cast<double>(*count);
  return std::get<double>(number);
}

bool is_absent(const Number& number) { return std::holds_alternative<std::monostate>(number); }

// Counts are compared as integers: doubles lose digits above 2^53.
bool less(const Number& a, const Number& b) {
  const Count* x = std::get_if<Count>(&a);
  const Count* y = std::get_if<Count>(&b);
  return x != nullptr && y != nullptr ? *x < *y : real(a) < real(b);
}

void set(BudgetLine& budget, const char* verdict, std::string reason) {
  budget.verdict = verdict;
  budget.reason = std::move(reason);
}

// Shards are timed apart, maybe on other machines: part i of n has every n-th cell.
bool timed_together(const ResultFile& file, std::size_t a, std::size_t b) {
  const auto& entries = file.provenance.entries;
  const auto merged = std::find_if(entries.begin(), entries.end(), [](const auto& e) { return e.first == "shards"; });
  if (merged == entries.end()) return true;
  std::size_t shards = 0;
  for (const char c : merged->second.substr(0, 9))
    shards = c >= '0' && c <= '9' ? shards * 10 + std::size_t(c - '0') : 0;
  return shards == 0 || a % shards == b % shards;
}

void judge(BudgetLine& budget, const ResultFile& file, Cells& cells) {
  budget.value = {};
  const auto cell = cells.find(budget, budget.policy);
  const auto other = budget.against.empty() ? cell : cells.find(budget, budget.against);
  if (!cell || !other) return set(budget, "not_judged", "not run here");
  for (const std::size_t i : {*cell, *other}) {
    const RunResult& run = file.results[i];
    if (run.outcome.kind == "interrupted") return set(budget, "not_judged", "the run was interrupted");
    if (!run.outcome.completed()) return set(budget, "broken", incomplete_note(run));
  }
  const Metric* metric = find_metric(budget.metric);
  const bool is_time = metric != nullptr && metric->kind == MetricKind::measured;
  if (is_time && !timed_together(file, *cell, *other)) {
    return set(budget, "not_judged", "the two were timed in different shards");
  }
  budget.value = cells.value(*cell, budget.metric);
  const bool is_ratio = !budget.over.empty() || !budget.against.empty();
  const Number divisor = !is_ratio ? Number() : cells.value(*other, budget.over.empty() ? budget.metric : budget.over);
  if (is_absent(budget.value) || (is_ratio && is_absent(divisor))) {
    budget.value = {};
    return set(budget, is_time ? "not_judged" : "broken",
               is_time ? fmt::format("not measured at depth {}", file.results[*cell].depth) : "not in the record");
  }
  if (is_ratio) {
    const double ratio = real(budget.value) / real(divisor);
    budget.value = {};
    if (!std::isfinite(ratio)) return set(budget, "broken", "the ratio is not defined: it divides by 0");
    budget.value = ratio;
  }
  const bool low = !is_absent(budget.least) && less(budget.value, budget.least);
  const bool high = !is_absent(budget.most) && less(budget.most, budget.value);
  set(budget, low || high ? "broken" : "passed", "");
}

std::string shown(const Number& number) {
  if (const Count* count = std::get_if<Count>(&number)) return grouped(*count);
  const double* ratio = std::get_if<double>(&number);
  return ratio == nullptr ? std::string("-") : fmt::format("{:.6g}", *ratio);
}

// A broken ratio has all its digits where six are those of its bound.
std::string shown_value(const BudgetLine& budget) {
  const double* ratio = std::get_if<double>(&budget.value);
  const std::string text = shown(budget.value);
  const bool looks_kept = text == shown(budget.least) || text == shown(budget.most);
  return ratio != nullptr && budget.verdict == "broken" && looks_kept ? fmt::format("{}", *ratio) : text;
}

}  // namespace

void judge_budgets(ResultFile& file) {
  Cells cells(file.results);
  for (BudgetLine& budget : file.budgets) judge(budget, file, cells);
}

BudgetTally tally_of(const ResultFile& file) {
  BudgetTally tally;
  for (const BudgetLine& budget : file.budgets) {
    ++(budget.verdict == "passed" ? tally.passed : budget.verdict == "broken" ? tally.broken : tally.not_judged);
  }
  return tally;
}

std::string budget_summary(const ResultFile& file) {
  if (file.budgets.empty()) return {};
  const BudgetTally tally = tally_of(file);
  std::string text = tally.broken > 0 ? fmt::format("{} of {} budgets broken", tally.broken, file.budgets.size())
                                      : fmt::format("{} of {} budgets kept", tally.passed, file.budgets.size());
  if (tally.not_judged > 0) text += fmt::format(", {} not judged", tally.not_judged);
  return text;
}

std::string quantity_of(const BudgetLine& budget) {
  if (!budget.over.empty()) return fmt::format("{} / {}", budget.metric, budget.over);
  if (!budget.against.empty()) return fmt::format("{} / that of {}", budget.metric, budget.against);
  return budget.metric;
}

std::string bounds_of(const BudgetLine& budget) {
  if (is_absent(budget.least)) return fmt::format("at most {}", shown(budget.most));
  if (is_absent(budget.most)) return fmt::format("at least {}", shown(budget.least));
  return fmt::format("from {} to {}", shown(budget.least), shown(budget.most));
}

std::string finding_of(const BudgetLine& budget) {
  return fmt::format("{}, {}", budget.reason.empty() ? shown_value(budget) : budget.reason, bounds_of(budget));
}

std::vector<std::string> budget_workloads(const ResultFile& file) {
  const std::vector<std::string> labels = workload_labels(file.results);
  std::map<std::string, std::string> label_of;
  for (std::size_t i = 0; i < labels.size(); ++i) label_of.emplace(file.results[i].workload.path, labels[i]);
  std::vector<std::string> names;
  for (const BudgetLine& budget : file.budgets) {
    const auto known = label_of.find(budget.workload_path);
    names.push_back(known == label_of.end() ? budget.workload_path : known->second);
  }
  return names;
}

}  // namespace kvreplay::reports
