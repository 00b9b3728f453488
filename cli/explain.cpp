// explain: what happened at every evaluation, laid beside an engine's own log if there is one.

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/numbers.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "policies/option_error.hpp"
#include "reports/engine_log.hpp"
#include "reports/explain_csv.hpp"
#include "reports/explain_table.hpp"
#include "sim/cells.hpp"
#include "sim/timeline.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>

namespace kvreplay::cli {
namespace {

struct ExplainTexts {
  std::string file, log;
  std::vector<std::string> policies, outputs;
  std::string evaluation, from, to;
  std::string memory_limit, truncate = "lazy";
  ModelTexts model;
  TerminalOptions terminal;
  std::vector<std::string> given = {};  // given_options of the command
};

struct Range {
  std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max();
};

Range range_of(const ExplainTexts& texts) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  Range range;
  if (!texts.evaluation.empty() && (!texts.from.empty() || !texts.to.empty())) {
    throw policies::OptionError("--evaluation names one evaluation; --from and --to a range: give one or the other");
  }
  if (!texts.evaluation.empty()) range.first = range.last = parse_count("--evaluation", texts.evaluation, 0, most);
  if (!texts.from.empty()) range.first = parse_count("--from", texts.from, 0, most);
  if (!texts.to.empty()) range.last = parse_count("--to", texts.to, 0, most);
  if (range.first > range.last) {
    throw policies::OptionError(fmt::format("--from {} is behind --to {}", range.first, range.last));
  }
  return range;
}

std::span<const reports::Sample> within(const std::vector<reports::Sample>& samples, Range range) {
  const auto total = static_cast<std::int64_t>(samples.size());
  if (range.first >= total) {
    throw policies::OptionError(fmt::format("evaluation {} does not exist: this run has {}", range.first, total));
  }
  const auto first = static_cast<std::size_t>(range.first);
  const auto last = static_cast<std::size_t>(std::min(range.last, total - 1));
  return std::span(samples).subspan(first, last - first + 1);
}

int explain(const ExplainTexts& texts) {
  if (printed_policy_help(texts.policies)) return exit_ok;
  if (texts.file.empty()) require_files({});
  if (texts.policies.size() != 1) {
    throw policies::OptionError(fmt::format("explain takes one --policy, not {}", texts.policies.size()));
  }
  check_terminal_options(texts.terminal);
  refuse_idle(texts.given, {"--weights", "--dtype"}, "'run' and 'verify', explain computes nothing");
  const OutputFiles outputs(texts.outputs, OutputKind::explanation);
  check_inputs(texts.log.empty() ? std::vector{texts.file} : std::vector{texts.file, texts.log}, outputs);
  const Range range = range_of(texts);
  const std::vector<policies::PolicySpec> specs = policy_specs(texts.policies);
  if (specs.size() != 1) {
    throw policies::OptionError(
        fmt::format("explain takes one --policy; {} stands for {}", texts.policies.front(), specs.size()));
  }
  const policies::PolicySpec& policy = specs.front();
  std::optional<reports::EngineLog> log;
  if (!texts.log.empty()) log = reports::read_engine_log(texts.log);
  const bool stop_at_limit = stops_at_limit(texts.model);
  const sim::LoadedWorkload loaded = sim::load_workload(texts.file, model_options(texts.model), stop_at_limit);
  sim::check_policy(policy, loaded.model);

  sim::ReplaySettings settings;
  if (!texts.memory_limit.empty()) settings.memory_limit_bytes = parse_bytes("--memory-limit", texts.memory_limit);
  settings.stop_at_limit = stop_at_limit;
  settings.truncate_at_events = truncates_at_events(texts.truncate);
  settings.interrupted = &interrupted;
  stops_in_order = true;
  sim::AllSamples all;
  sim::ReplayListener* listener = &all;
  const sim::ReplayRecord record =
      sim::replay(loaded.workload, loaded.facts, loaded.model, policy, nullptr, settings, std::span(&listener, 1));

  const auto chosen = within(all.samples, range);
  outputs.write(reports::explain_csv(chosen));
  if (!outputs.uses_stdout()) fmt::print("{}", reports::explain_table(chosen, wants_color(texts.terminal)));
  if (!record.outcome.completed()) say(fmt::format("outcome: {}: {}", record.outcome.kind, record.outcome.message));
  if (interrupted) return exit_interrupted;
  if (!log) return exit_ok;
  // The whole log is compared, whatever part is shown.
  const reports::LogComparison comparison = reports::compare_with_log(all.samples, *log);
  say(reports::describe(comparison, *log));
  return comparison.equal() ? exit_ok : exit_gate_failed;
}

}  // namespace

void add_explain(CLI::App& program, Command& chosen) {
  auto texts = std::make_shared<ExplainTexts>();
  CLI::App* command = program.add_subcommand("explain", "Show what a policy does at every evaluation, and why");
  command->add_option("FILE", texts->file, "Workload file");
  add_policy_option(*command, texts->policies, "none; one is needed");
  command->add_option("--evaluation", texts->evaluation, "Show one evaluation (they count from 0)");
  command->add_option("--from", texts->from, "First evaluation to show");
  command->add_option("--to", texts->to, "Last evaluation to show");
  command->add_option(
      "--against", texts->log,
      "An engine's log (CSV, one record per call): compare all columns both have,\nexit 1 at a difference");
  command->add_option("--memory-limit", texts->memory_limit, "End the run when the cache would hold more bytes");
  command->add_option("--truncate", texts->truncate, "lazy or eager, as for run")->capture_default_str();
  add_output_option(*command, texts->outputs);
  add_model_options(*command, texts->model);
  command->add_option("--color", texts->terminal.color, "Colours: auto, always or never")->capture_default_str();
  command->callback([texts, command, &chosen] {
    texts->given = given_options(*command);
    chosen = [texts] { return explain(*texts); };
  });
}

}  // namespace kvreplay::cli
