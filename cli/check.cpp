// check: validates workload files, fills in what they should expect of themselves, or compares recordings with replays.

#include "cli/commands.hpp"
#include "cli/errors.hpp"
#include "cli/exit_codes.hpp"
#include "cli/terminal.hpp"
#include "policies/option_error.hpp"
#include "reports/atomic_file.hpp"
#include "reports/whole_file.hpp"
#include "sim/cells.hpp"
#include "sim/model_config.hpp"
#include "sim/observed.hpp"
#include "sim/suite.hpp"
#include "workloads/expansion.hpp"
#include "workloads/expect_writer.hpp"
#include "workloads/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace kvreplay::cli {
namespace {

struct CheckTexts {
  std::vector<std::string> files;
  bool write_expect = false, observed = false;
};

// Prints what differs. Exit code 1 if anything does.
int check_observation(const sim::LoadedWorkload& loaded, const workloads::Observed& observed) {
  const std::string& path = loaded.workload.path;
  const auto policy = sim::known_policy(observed);
  if (!policy) {
    fmt::print("{}:{}: not checkable: {} is recorded for policy {}, which this program does not have\n", path,
               observed.mark.line, observed.engine, observed.policy);
    return exit_ok;
  }
  const sim::ObservedComparison comparison =
      sim::compare_with_observed(loaded, observed, *policy, sim::engine_log_beside(path));
  for (const sim::ObservedDifference& difference : comparison.differences) {
    fmt::print("{}:{}: {}: observed {}, replayed {}\n", path, observed.mark.line, difference.what, difference.observed,
               difference.ours);
  }
  const std::string calls =
      comparison.log ? reports::describe(comparison.calls, *comparison.log) : "no engine log beside it";
  fmt::print("{}: {}: {} with {}: {} totals compared, {} differ; {}\n", path,
             comparison.equal() ? "equal" : "DIFFERENT", observed.policy, observed.engine, comparison.totals_compared,
             comparison.differences.size(), calls);
  return comparison.equal() ? exit_ok : exit_gate_failed;
}

int check_observed(const std::string& path) {
  const sim::LoadedWorkload loaded = sim::load_workload(path, {}, false);
  if (loaded.workload.expect.observed.empty()) fmt::print("{}: not checkable: it has no expect.observed\n", path);
  int worst = exit_ok;
  for (const workloads::Observed& observed : loaded.workload.expect.observed) {
    worst = std::max(worst, check_observation(loaded, observed));
  }
  return worst;
}

// A suite with all its workloads, as `run` would take them.
int check_suite(const std::string& path, const CheckTexts& texts) {
  if (texts.observed) throw policies::OptionError(path + ": is a suite; --observed replays recordings");
  if (texts.write_expect) throw policies::OptionError(path + ": is a suite; --write-expect fills in workload files");
  const workloads::Suite suite = workloads::read_suite(path);
  const sim::ExperimentSettings settings = sim::settings_of(suite, {}, {});
  const std::size_t num_budgets = sim::budget_lines(suite, settings).size();
  for (const std::string& workload : settings.workload_paths) {
    const sim::LoadedWorkload loaded = sim::load_workload(workload, settings.model, false);
    for (const policies::PolicySpec& policy : settings.policies) sim::check_policy(policy, loaded.model);
  }
  fmt::print("{}: ok, {} workloads through {} policies, {} cells, {} budgets on them\n", path,
             settings.workload_paths.size(), settings.policies.size(),
             settings.workload_paths.size() * settings.policies.size(), num_budgets);
  return exit_ok;
}

int check_file(const std::string& path, const CheckTexts& texts) {
  if (workloads::is_suite_file(path)) return check_suite(path, texts);
  if (texts.write_expect) {
    reports::write_atomically(path, workloads::text_with_expect(reports::whole_file(path), path, sim::model_vocab));
  }
  const workloads::Workload workload = workloads::read_workload(path, sim::model_vocab);
  if (const auto absent = sim::check_model(workload)) {
    say(fmt::format("warning: {}; a replay needs it, or --model", *absent));
  }
  const workloads::Facts facts = workloads::facts_of(workload, {});
  fmt::print("{}: ok, {} evaluations, longest list {}, {} tokens requested, at least {} evaluated by one cache\n", path,
             facts.evaluations, facts.max_length, facts.tokens_requested, facts.tokens_floor_single);
  return exit_ok;
}

int check(const CheckTexts& texts) {
  int worst = exit_ok;
  for (const std::string& path : texts.files) {
    worst = std::max(worst, guarded([&] {
                       const int checked = check_file(path, texts);
                       return texts.observed ? std::max(checked, check_observed(path)) : checked;
                     }));
  }
  return worst;
}

}  // namespace

void add_check(CLI::App& program, Command& chosen) {
  auto texts = std::make_shared<CheckTexts>();
  CLI::App* command = program.add_subcommand("check", "Validate workload and suite files");
  command->add_option("FILE", texts->files, "Workload and suite files")->required();
  command->add_flag("--write-expect", texts->write_expect,
                    "Fill in the file's expect block (counts and bounds); the rest stays as it is");
  command->add_flag("--observed", texts->observed,
                    "Replay recordings as the policy they name and compare with what the engine did, in total and\n"
                    "(NAME.observed.csv beside NAME.yaml) call by call; exit 1 at a difference");
  command->callback([texts, &chosen] { chosen = [texts] { return check(*texts); }; });
}

}  // namespace kvreplay::cli
