// A suite made ready to run: its cells, with policies parsed, and its budgets, one line per cell they bound.
#pragma once

#include "policies/registry.hpp"
#include "reports/result.hpp"
#include "sim/experiment.hpp"
#include "workloads/suite.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kvreplay::sim {

// What the command line says instead of a suite; empty: nothing.
struct SuiteOverrides {
  std::vector<policies::PolicySpec> policies;
  std::string model;
  std::optional<Depth> depth;
  std::optional<Count> repetitions;
};

// "plan", "alloc", "compute", or absent.
std::optional<Depth> depth_named(std::string_view name);

// `base` with the suite's workloads, policies, model, depth and repetitions where it gives them and `overrides` does
// not. Throws InputError at the place of a policy or depth nobody has.
ExperimentSettings settings_of(const workloads::Suite& suite, const SuiteOverrides& overrides, ExperimentSettings base);

// A line per cell a budget bounds, in the order of the file, of its workloads and of its policies; not judged yet.
// Reads the workloads for their ids. Throws InputError at a budget that bounds nothing the suite names, whose metric
// nobody has, that bounds a time other than against another policy, or that makes more than 200,000 lines. A policy
// only the command line left out makes no line.
std::vector<reports::BudgetLine> budget_lines(const workloads::Suite& suite, const ExperimentSettings& settings);

}  // namespace kvreplay::sim
