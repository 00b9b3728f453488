// run: workloads through policies; a table for people, files for programs.

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/grids.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/step_summary.hpp"
#include "cli/verdicts.hpp"
#include "reports/terminal_table.hpp"

#include <fmt/format.h>

#include <memory>

namespace kvreplay::cli {
namespace {

// Results on stdout unless a file goes there.
void print(const RunTexts& texts, const OutputFiles& outputs, const reports::ResultFile& results) {
  if (outputs.uses_stdout()) return;
  fmt::print("{}",
             reports::terminal_table(results, {.color = wants_color(texts.terminal), .columns = terminal_width()}));
  print_verdicts(results);
  std::fflush(stdout);
}

int run(const RunTexts& texts) {
  if (printed_policy_help(texts.policies)) return exit_ok;
  require_files(texts.files);
  const OutputFiles outputs(texts.outputs, OutputKind::results);
  check_inputs(texts.files, outputs);
  sim::ExperimentSettings settings = experiment_settings(texts);
  settings.timeline = !outputs.empty();
  settings.interrupted = &interrupted;
  std::vector<Grid> grids = grids_of(texts, settings);
  for (const Grid& grid : grids) check_inputs(grid.settings.workload_paths, outputs);
  const auto shard = shard_of(texts.shard, grids);
  ProgressReporter progress(texts.terminal);
  reports::ResultFile results = run_grids(grids, shard, progress);
  results.config = config_of_grids(texts, grids);
  print(texts, outputs, results);
  outputs.write(results);
  for (const std::string& path : outputs.paths()) progress.note("wrote " + path);
  append_step_summary(results);
  return exit_code_of(results, texts.fail_on);
}

}  // namespace

void add_run(CLI::App& program, Command& chosen) {
  auto texts = std::make_shared<RunTexts>();
  CLI::App* command = program.add_subcommand("run", "Replay workloads through cache policies and report what it costs");
  command->add_option("FILE", texts->files, "Workload and suite files");
  add_policy_option(*command, texts->policies, "discard, crop, reset, doubling and fixed");
  add_model_options(*command, texts->model);
  command->add_option("--depth", texts->depth, "plan counts, alloc also moves the bytes, compute runs the whole stack")
      ->capture_default_str();
  command->add_option("--repetitions", texts->repetitions, "Times each run is repeated, policies interleaved")
      ->capture_default_str();
  command->add_flag("--verify", texts->verify, "Compare outputs with a run without a cache; exit 1 where they differ");
  command->add_option("--shard", texts->shard,
                      "Run part I/N of the cells (workload x policy), to be joined by 'kvreplay merge'; auto or\n"
                      "auto/N takes I from Slurm, Kubernetes, GNU parallel or a CI matrix");
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
  command->callback([texts, command, &chosen] {
    texts->given = given_options(*command);
    chosen = [texts] { return run(*texts); };
  });
}

}  // namespace kvreplay::cli
