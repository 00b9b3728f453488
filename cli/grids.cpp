#include "cli/grids.hpp"

#include "cli/commands.hpp"
#include "cli/shard.hpp"
#include "cli/verdicts.hpp"
#include "policies/option_error.hpp"
#include "reports/budgets.hpp"
#include "sim/suite.hpp"
#include "workloads/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace kvreplay::cli {
namespace {

using sim::Count;

Grid grid_of(const std::string& path, const sim::SuiteOverrides& overrides, const sim::ExperimentSettings& base) {
  const workloads::Suite suite = workloads::read_suite(path);
  Grid grid{path, sim::settings_of(suite, overrides, base), {}};
  grid.budgets = sim::budget_lines(suite, grid.settings);
  const bool observes = grid.settings.verify || !grid.settings.dump_folder.empty();
  if (observes && grid.settings.depth != sim::Depth::compute) {
    throw policies::OptionError(
        fmt::format("{}: runs at depth {}; --verify and --dump look at outputs: add --depth compute", path,
                    sim::name_of(grid.settings.depth)));
  }
  return grid;
}

// Different texts of all grids, in order of appearance, with blanks between.
std::string joined(const std::vector<Grid>& grids,
                   const std::function<std::vector<std::string>(const Grid&)>& texts_of) {
  std::vector<std::string> texts;
  for (const Grid& grid : grids) {
    for (const std::string& text : texts_of(grid)) {
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    }
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace

Count Grid::num_cells() const { return static_cast<Count>(settings.workload_paths.size() * settings.policies.size()); }

std::vector<Grid> grids_of(const RunTexts& texts, const sim::ExperimentSettings& base) {
  sim::SuiteOverrides overrides;
  if (!texts.policies.empty()) overrides.policies = base.policies;
  overrides.model = texts.model.model;
  if (is_given(texts.given, "--depth")) overrides.depth = base.depth;
  if (is_given(texts.given, "--repetitions")) overrides.repetitions = base.repetitions;
  std::vector<Grid> grids;
  for (const std::string& path : texts.files) {
    if (workloads::is_suite_file(path)) {
      grids.push_back(grid_of(path, overrides, base));
      continue;
    }
    if (grids.empty() || !grids.back().suite.empty()) {
      grids.push_back({"", base, {}});
      grids.back().settings.workload_paths.clear();
    }
    grids.back().settings.workload_paths.push_back(path);
  }
  return grids;
}

std::optional<reports::Shard> shard_of(const std::string& text, const std::vector<Grid>& grids) {
  if (text.empty()) return std::nullopt;
  reports::Shard shard = parse_shard(text);
  for (const Grid& grid : grids) shard.num_cells += grid.num_cells();
  const Count mine = (shard.num_cells - shard.index + shard.count) / shard.count;
  say(fmt::format("shard {} of {}: {} of {} cells", shard.index, shard.count, mine, shard.num_cells));
  return shard;
}

reports::ResultFile run_grids(const std::vector<Grid>& grids, const std::optional<reports::Shard>& shard,
                              sim::ExperimentObserver& observer) {
  reports::ResultFile all;
  sim::CellSubset cells;
  if (shard) cells = {.index = shard->index - 1, .count = shard->count, .first_cell = 0};
  Count first_run = 0;
  for (const Grid& grid : grids) {
    sim::ExperimentSettings settings = grid.settings;
    settings.cells = cells;
    settings.first_run = first_run;
    reports::ResultFile file = sim::run_experiment(settings, observer);
    if (all.provenance.entries.empty()) all.provenance = std::move(file.provenance);
    for (reports::RunResult& result : file.results) {
      result.suite = grid.suite;
      all.results.push_back(std::move(result));
    }
    cells.first_cell += grid.num_cells();
    first_run += grid.num_cells() * settings.repetitions;
    if (interrupted) break;
  }
  for (const Grid& grid : grids) std::copy(grid.budgets.begin(), grid.budgets.end(), std::back_inserter(all.budgets));
  all.shard = shard;
  reports::judge_budgets(all);
  return all;
}

std::vector<std::pair<std::string, std::string>> config_of_grids(const RunTexts& texts,
                                                                 const std::vector<Grid>& grids) {
  auto config = config_of("run", texts);
  const auto is_suite = [](const Grid& grid) { return !grid.suite.empty(); };
  if (std::none_of(grids.begin(), grids.end(), is_suite)) return config;
  const auto set = [&config](const std::string& key, const std::string& value) {
    for (auto& [name, text] : config) {
      if (name == key) text = value;
    }
  };
  set("policies", joined(grids, [](const Grid& grid) {
        std::vector<std::string> specs;
        for (const policies::PolicySpec& policy : grid.settings.policies) specs.push_back(policy.text);
        return specs;
      }));
  set("model", joined(grids, [](const Grid& grid) {
        const std::string& model = grid.settings.model.model;
        return std::vector<std::string>{model.empty() ? "the workload's" : model};
      }));
  set("depth", joined(grids, [](const Grid& grid) { return std::vector{std::string(name_of(grid.settings.depth))}; }));
  set("repetitions",
      joined(grids, [](const Grid& grid) { return std::vector{std::to_string(grid.settings.repetitions)}; }));
  for (const Grid& grid : grids) {
    if (is_suite(grid)) config.emplace_back("suite", grid.suite);
  }
  return config;
}

}  // namespace kvreplay::cli
