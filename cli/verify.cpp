// verify: do a policy's outputs equal those of a run without any cache?

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/verdicts.hpp"

#include <fmt/format.h>

#include <memory>

namespace kvreplay::cli {
namespace {

int verify(RunTexts& texts) {
  if (printed_policy_help(texts.policies)) return exit_ok;
  require_files(texts.files);
  const OutputFiles outputs(texts.outputs, OutputKind::results);
  check_inputs(texts.files, outputs);
  texts.verify = true;
  sim::ExperimentSettings settings = experiment_settings(texts);
  settings.repetitions = 0;  // outputs only: nothing is timed
  settings.interrupted = &interrupted;
  ProgressReporter progress(texts.terminal);
  reports::ResultFile results = sim::run_experiment(settings, progress);
  results.config = config_of("verify", texts);
  outputs.write(results);
  if (!outputs.uses_stdout()) print_verdicts(results);
  // A run that ended early was not verified to its end: a gate must not pass on it.
  return exit_code_of(results, {"outcome"});
}

}  // namespace

void add_verify(CLI::App& program, Command& chosen) {
  auto texts = std::make_shared<RunTexts>();
  CLI::App* command = program.add_subcommand(
      "verify", "Compare a policy's outputs with a run without a cache; exit 1 where they differ");
  command->add_option("FILE", texts->files, "Workload files");
  add_policy_option(*command, texts->policies, "discard, crop, reset, doubling and fixed");
  add_model_options(*command, texts->model);
  add_output_option(*command, texts->outputs);
  add_compute_options(*command, *texts);
  add_terminal_options(*command, texts->terminal);
  command->callback([texts, &chosen] { chosen = [texts] { return verify(*texts); }; });
}

}  // namespace kvreplay::cli
