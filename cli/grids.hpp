// What `run` runs: grids of workloads and policies, one per suite and one for workloads given by themselves.
#pragma once

#include "cli/options.hpp"
#include "reports/result.hpp"
#include "sim/experiment.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kvreplay::cli {

struct Grid {
  std::string suite;  // path; empty: workloads given by themselves
  sim::ExperimentSettings settings;
  std::vector<reports::BudgetLine> budgets;
  sim::Count num_cells() const;
};

// In the order of texts.files; neighbours that are workloads are one grid. `base` holds what the command line says,
// which wins over a suite. Throws InputError and OptionError.
std::vector<Grid> grids_of(const RunTexts& texts, const sim::ExperimentSettings& base);

// The part of all cells `text` asks for (docs/suites.md, "Shards"), said on stderr; absent for an empty text. Throws
// OptionError.
std::optional<reports::Shard> shard_of(const std::string& text, const std::vector<Grid>& grids);

// Runs one grid after the other, until an interruption, and judges the budgets. Throws as run_experiment.
reports::ResultFile run_grids(const std::vector<Grid>& grids, const std::optional<reports::Shard>& shard,
                              sim::ExperimentObserver& observer);

// The resolved command line and what the suites added to it, for the result file.
std::vector<std::pair<std::string, std::string>> config_of_grids(const RunTexts& texts, const std::vector<Grid>& grids);

}  // namespace kvreplay::cli
