// run: workloads through policies; a table for people, files for programs.

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/verdicts.hpp"
#include "reports/terminal_table.hpp"

#include <fmt/format.h>

#include <memory>

namespace kvreplay::cli {
namespace {

int run(const RunTexts& texts) {
  if (printed_policy_help(texts.policies)) return exit_ok;
  require_files(texts.files);
  const OutputFiles outputs(texts.outputs, OutputKind::results);
  check_inputs(texts.files, outputs);
  sim::ExperimentSettings settings = experiment_settings(texts);
  settings.timeline = !outputs.empty();
  settings.interrupted = &interrupted;
  ProgressReporter progress(texts.terminal);
  reports::ResultFile results = sim::run_experiment(settings, progress);
  results.config = config_of("run", texts);
  if (!outputs.uses_stdout()) {
    fmt::print("{}",
               reports::terminal_table(results, {.color = wants_color(texts.terminal), .columns = terminal_width()}));
    print_verdicts(results);
  }
  std::fflush(stdout);
  outputs.write(results);
  for (const std::string& path : outputs.paths()) progress.note("wrote " + path);
  return exit_code_of(results, texts.fail_on);
}

}  // namespace

void add_run(CLI::App& program, Command& chosen) {
  auto texts = std::make_shared<RunTexts>();
  CLI::App* command = program.add_subcommand("run", "Replay workloads through cache policies and report what it costs");
  command->add_option("FILE", texts->files, "Workload files");
  add_policy_option(*command, texts->policies, "discard, crop, reset, doubling and fixed");
  add_model_options(*command, texts->model);
  command->add_option("--depth", texts->depth, "plan counts, alloc also moves the bytes, compute runs the whole stack")
      ->capture_default_str();
  command->add_option("--repetitions", texts->repetitions, "Times each run is repeated, policies interleaved")
      ->capture_default_str();
  command->add_flag("--verify", texts->verify, "Compare outputs with a run without a cache; exit 1 where they differ");
  add_output_option(*command, texts->outputs);
  command->add_option("--dump", texts->dump_folder,
                      "Write every wanted row of logits to safetensors files in this folder");
  command->add_flag("--dump-hidden", texts->dump_hidden, "With --dump: also every layer's output of the same rows");
  command->add_option("--fail-on", texts->fail_on, "Exit 1 also for: outcome (a run that did not complete)")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_compute_options(*command, *texts);
  add_terminal_options(*command, texts->terminal);
  command->callback([texts, &chosen] { chosen = [texts] { return run(*texts); }; });
}

}  // namespace kvreplay::cli
