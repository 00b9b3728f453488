// merge: the results of all shards of a run, joined into the one an unsharded run would have written.

#include "reports/merge.hpp"
#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/step_summary.hpp"
#include "cli/verdicts.hpp"
#include "reports/result_json.hpp"
#include "reports/terminal_table.hpp"
#include "reports/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace kvreplay::cli {
namespace {

struct MergeTexts {
  std::vector<std::string> files, outputs;
  TerminalOptions terminal;
};

// What else fails the run, as its shards were told.
std::vector<std::string> fail_on(const reports::ResultFile& results) {
  const bool outcome = std::any_of(results.config.begin(), results.config.end(), [](const auto& pair) {
    return pair.first == "fail_on" && pair.second.find("outcome") != std::string::npos;
  });
  return outcome ? std::vector<std::string>{"outcome"} : std::vector<std::string>{};
}

int merge(const MergeTexts& texts) {
  const OutputFiles outputs(texts.outputs, OutputKind::results);
  check_terminal_options(texts.terminal);
  check_inputs(texts.files, outputs);
  std::vector<reports::ShardResult> shards;
  for (const std::string& path : texts.files) {
    shards.push_back({path, reports::read_result_json(reports::whole_file(path), path)});
  }
  const reports::ResultFile results = reports::merged(std::move(shards));
  if (outputs.empty()) {
    fmt::print("{}",
               reports::terminal_table(results, {.color = wants_color(texts.terminal), .columns = terminal_width()}));
    print_verdicts(results);
    std::fflush(stdout);
  }
  outputs.write(results);
  for (const std::string& path : outputs.paths()) say("wrote " + path);
  append_step_summary(results);
  return exit_code_of(results, fail_on(results));
}

}  // namespace

void add_merge(CLI::App& program, Command& chosen) {
  auto texts = std::make_shared<MergeTexts>();
  CLI::App* command = program.add_subcommand("merge", "Join the results of all shards of a run (run --shard)");
  command->add_option("RESULT", texts->files, "Result files of the shards, in any order")->required();
  add_output_option(*command, texts->outputs);
  add_terminal_options(*command, texts->terminal);
  command->callback([texts, &chosen] { chosen = [texts] { return merge(*texts); }; });
}

}  // namespace kvreplay::cli
