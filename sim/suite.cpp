#include "sim/suite.hpp"

#include "policies/option_error.hpp"
#include "policies/sweep.hpp"
#include "reports/metrics.hpp"
#include "sim/cells.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kvreplay::sim {
namespace {

using reports::Metric;
using reports::MetricKind;
using workloads::PlacedText;
using workloads::Suite;
using workloads::SuiteBudget;

constexpr std::size_t max_budget_lines = 200'000;

// The policies a line of the list stands for, each checked.
std::vector<std::string> policies_of(const Suite& suite, const PlacedText& text) {
  try {
    std::vector<std::string> names = policies::sweep(text.text);
    for (const std::string& name : names) (void)policies::parse_policy(name);
    return names;
  } catch (const policies::OptionError& error) {
    throw workloads::InputError(suite.path, text.mark, text.place, error.what(), error.given, error.candidates);
  }
}

std::vector<std::string> policy_names(const Suite& suite) {
  if (suite.policies.empty()) return policies::seed_policies();
  std::vector<std::string> names;
  for (const PlacedText& policy : suite.policies) {
    for (std::string& name : policies_of(suite, policy)) {
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        throw fault(suite, policy, fmt::format("policy {} is in the list already", name));
      }
      names.push_back(std::move(name));
    }
  }
  return names;
}

// Throws unless `policy` is one of the suite's.
void check_named(const Suite& suite, const PlacedText& policy) {
  const std::vector<std::string> names = policy_names(suite);
  if (std::find(names.begin(), names.end(), policy.text) != names.end()) return;
  throw fault(suite, policy,
              fmt::format("policy '{}' is none of the suite's ({})", policy.text, fmt::join(names, ", ")), names);
}

// A policy is no yardstick of its own: a budget that leaves no cell to bound would be kept whatever is measured.
void check_bounds_a_cell(const Suite& suite, const SuiteBudget& budget) {
  if (!budget.against) return;
  const std::string& yardstick = budget.against->text;
  const std::vector<std::string> names = budget.policy ? std::vector{budget.policy->text} : policy_names(suite);
  if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name != yardstick; })) return;
  throw fault(suite, *budget.against,
              fmt::format("nothing but {} is bounded, and that against itself; name another of the suite's policies "
                          "({})",
                          yardstick, fmt::join(policy_names(suite), ", ")));
}

const Metric& metric_named(const Suite& suite, const PlacedText& name) {
  if (const Metric* metric = reports::find_metric(name.text)) return *metric;
  std::vector<std::string> names;
  for (const Metric& metric : reports::metric_table()) names.emplace_back(metric.name);
  throw fault(suite, name, fmt::format("there is no metric '{}' ('kvreplay list metrics' names all)", name.text),
              names);
}

void check_metrics(const Suite& suite, const SuiteBudget& budget) {
  const Metric& metric = metric_named(suite, budget.metric);
  if (metric.kind == MetricKind::measured && !metric.name.starts_with("latency.")) {
    throw fault(suite, budget.metric,
                fmt::format("{} is a reading of one process; no budget can hold it", metric.name));
  }
  if (metric.kind == MetricKind::measured && !budget.against) {
    throw fault(suite, budget.metric,
                fmt::format("{} depends on the machine; bound it against another policy of the same run "
                            "(against: POLICY)",
                            metric.name));
  }
  if (budget.over && metric_named(suite, *budget.over).kind != MetricKind::exact) {
    throw fault(suite, *budget.over, "only an exact metric can be divided by");
  }
  if (budget.against) check_named(suite, *budget.against);
  if (budget.policy) check_named(suite, *budget.policy);
  check_bounds_a_cell(suite, budget);
}

// A model nobody knows is the suite's fault, at its line. Overrides alone (":key=value") depend on the workload.
void check_model(const Suite& suite, const PlacedText& model) {
  if (model.text.starts_with(':')) return;
  workloads::Workload none;
  none.path = suite.path;
  try {
    (void)resolve_model(none, {.model = model.text, .weights = {}, .kv_dtype = {}, .max_positions = {}});
  } catch (const policies::OptionError& error) {
    throw workloads::InputError(suite.path, model.mark, model.place, error.what(), error.given, error.candidates);
  }
}

reports::Number number(const std::optional<Count>& count, const std::optional<double>& ratio) {
  if (count) return *count;
  return ratio ? reports::Number(*ratio) : reports::Number();
}

reports::BudgetLine line_of(const Suite& suite, const SuiteBudget& budget, const std::string& workload,
                            const std::string& policy) {
  reports::BudgetLine line;
  line.suite = suite.path;
  line.line = budget.mark.line;
  line.workload_path = workload;
  line.policy = policy;
  line.metric = budget.metric.text;
  if (budget.over) line.over = budget.over->text;
  if (budget.against) line.against = budget.against->text;
  line.least = number(budget.least, budget.least_ratio);
  line.most = number(budget.most, budget.most_ratio);
  return line;
}

}  // namespace

std::optional<Depth> depth_named(std::string_view name) {
  for (const Depth depth : {Depth::plan, Depth::alloc, Depth::compute}) {
    if (name == name_of(depth)) return depth;
  }
  return std::nullopt;
}

ExperimentSettings settings_of(const Suite& suite, const SuiteOverrides& overrides, ExperimentSettings base) {
  base.workload_paths.clear();
  for (const workloads::SuiteWorkload& workload : suite.workloads) base.workload_paths.push_back(workload.path);
  const std::vector<std::string> names = policy_names(suite);  // checked even where the command line has others
  if (overrides.policies.empty()) {
    base.policies.clear();
    for (const std::string& name : names) base.policies.push_back(policies::parse_policy(name));
  }
  if (suite.depth) {
    const auto depth = depth_named(suite.depth->text);
    if (!depth) {
      throw fault(suite, *suite.depth, fmt::format("expected plan, alloc or compute, found '{}'", suite.depth->text),
                  {"plan", "alloc", "compute"});
    }
    base.depth = *depth;
  }
  if (suite.model) check_model(suite, *suite.model);
  if (suite.model && overrides.model.empty()) base.model.model = suite.model->text;
  if (suite.repetitions) base.repetitions = *suite.repetitions;
  if (overrides.depth) base.depth = *overrides.depth;
  if (overrides.repetitions) base.repetitions = *overrides.repetitions;
  return base;
}

std::vector<reports::BudgetLine> budget_lines(const Suite& suite, const ExperimentSettings& settings) {
  std::vector<std::string> ids;
  if (!suite.budgets.empty()) {
    for (const auto& workload : suite.workloads)
      ids.push_back(workloads::read_workload(workload.path, model_vocab).meta.id);
  }
  std::vector<reports::BudgetLine> lines;
  for (const SuiteBudget& budget : suite.budgets) {
    check_metrics(suite, budget);
    bool bounds_any = false;
    for (std::size_t i = 0; i < suite.workloads.size(); ++i) {
      if (budget.workload && !names_workload(budget.workload->text, suite.workloads[i], ids[i])) continue;
      bounds_any = true;
      for (const policies::PolicySpec& policy : settings.policies) {
        if (budget.policy && budget.policy->text != policy.text) continue;
        if (budget.against && budget.against->text == policy.text) continue;
        lines.push_back(line_of(suite, budget, suite.workloads[i].path, policy.text));
      }
    }
    if (lines.size() > max_budget_lines) {
      throw workloads::InputError(
          suite.path, budget.mark, budget.place,
          fmt::format("with this one the budgets bound more than {} numbers; split the suite", max_budget_lines));
    }
    if (!bounds_any) {
      throw fault(suite, *budget.workload,
                  fmt::format("no workload of the suite has the id or path '{}'", budget.workload->text), ids);
    }
  }
  return lines;
}

}  // namespace kvreplay::sim
