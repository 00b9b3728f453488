#include "reports/junit.hpp"

#include "reports/budgets.hpp"
#include "reports/labels.hpp"
#include "reports/measurements.hpp"
#include "reports/overview.hpp"
#include "reports/statistics.hpp"
#include "reports/xml.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

bool fails_on_outcome(const ResultFile& file) {
  return std::any_of(file.config.begin(), file.config.end(), [](const auto& pair) {
    return pair.first == "fail_on" && pair.second.find("outcome") != std::string::npos;
  });
}

void add_property(pugi::xml_node properties, std::string_view name, std::string_view value) {
  pugi::xml_node property = properties.append_child("property");
  set_attribute(property, "name", name);
  set_attribute(property, "value", value);
}

void add_numbers(pugi::xml_node test_case, const RunResult& result) {
  pugi::xml_node properties = test_case.append_child("properties");
  add_property(properties, "workload.path", result.workload.path);
  add_property(properties, "workload.sha256", result.workload.sha256);
  add_property(properties, "model", result.model.profile);
  add_property(properties, "depth", result.depth);
  for (const Measurement& number : counted(result)) add_property(properties, number.metric, text_of(number.value));
  for (const Measurement& number : measured(result)) add_property(properties, number.metric, text_of(number.value));
}

pugi::xml_node add_case(pugi::xml_node suite, const std::string& workload, const std::string& name, JunitTally& tally) {
  ++tally.tests;
  pugi::xml_node test_case = suite.append_child("testcase");
  set_attribute(test_case, "classname", workload);
  set_attribute(test_case, "name", name);
  return test_case;
}

void add_verdict(pugi::xml_node test_case, const char* kind, std::string_view type, const std::string& message) {
  pugi::xml_node verdict = test_case.append_child(kind);
  set_attribute(verdict, "type", type);
  set_attribute(verdict, "message", message);
}

void add_outcome(pugi::xml_node test_case, const RunResult& result, bool is_failure, JunitTally& tally) {
  const Outcome& outcome = result.outcome;
  if (outcome.completed()) return;
  const std::string message = incomplete_note(result);
  if (outcome.kind == "interrupted") {
    ++tally.errors;
    add_verdict(test_case, "error", outcome.kind, message);
  } else if (is_failure) {
    ++tally.failures;
    add_verdict(test_case, "failure", outcome.kind, message);
  } else {
    ++tally.skipped;
    set_attribute(test_case.append_child("skipped"), "message", message);
  }
}

void add_run(pugi::xml_node suite, const RunResult& result, const std::string& workload, bool fails,
             JunitTally& tally) {
  const std::optional<Latency> latency = pooled_latency(result);
  const Count ns = latency ? latency->total_ns : 0;
  pugi::xml_node outcome = add_case(suite, workload, result.policy.spec + ": outcome", tally);
  set_attribute(outcome, "time", junit_seconds(ns));
  tally.ns += ns;
  add_numbers(outcome, result);
  add_outcome(outcome, result, fails, tally);
  if (!result.verification) return;
  pugi::xml_node verification = add_case(suite, workload, result.policy.spec + ": verification", tally);
  set_attribute(verification, "time", junit_seconds(0));
  if (result.verification->passed()) return;
  ++tally.failures;
  add_verdict(verification, "failure", "verification", difference_note(result));
}

void add_budget(pugi::xml_node suite, const BudgetLine& budget, const std::string& workload, JunitTally& tally) {
  const std::string name = fmt::format("{}: {} {}", budget.policy, quantity_of(budget), bounds_of(budget));
  pugi::xml_node test_case = add_case(suite, workload, name, tally);
  set_attribute(test_case, "time", junit_seconds(0));
  set_attribute(test_case, "file", budget.suite);
  test_case.append_attribute("line") = budget.line;
  if (budget.verdict == "passed") return;
  if (budget.verdict == "broken") {
    ++tally.failures;
    add_verdict(test_case, "failure", "budget", finding_of(budget));
  } else {
    ++tally.skipped;
    set_attribute(test_case.append_child("skipped"), "message", budget.reason);
  }
}

}  // namespace

std::string write_junit(const ResultFile& file) {
  pugi::xml_document document;
  pugi::xml_node suites = add_junit_suites(document, "kvreplay");
  const std::vector<std::string> labels = workload_labels(file.results);
  const bool fails = fails_on_outcome(file);
  JunitTally total;
  const auto finish_suite = [&total](pugi::xml_node suite, const JunitTally& tally) {
    set_tally(suite, tally);
    total.add(tally);
  };
  for (const Group& group : groups_of(file.results)) {
    const RunResult& first = file.results[group.results.front()];
    const std::string& label = labels[group.results.front()];
    pugi::xml_node suite = suites.append_child("testsuite");
    set_attribute(suite, "name", fmt::format("{} ({}, depth {})", label, first.model.profile, first.depth));
    JunitTally tally;
    for (const std::size_t i : group.results) add_run(suite, file.results[i], label, fails, tally);
    finish_suite(suite, tally);
  }
  if (!file.budgets.empty()) {
    pugi::xml_node suite = suites.append_child("testsuite");
    set_attribute(suite, "name", "budgets");
    const std::vector<std::string> workloads = budget_workloads(file);
    JunitTally tally;
    for (std::size_t i = 0; i < file.budgets.size(); ++i) add_budget(suite, file.budgets[i], workloads[i], tally);
    finish_suite(suite, tally);
  }
  set_tally(suites, total);
  return saved(document);
}

}  // namespace kvreplay::reports
