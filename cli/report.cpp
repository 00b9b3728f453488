// report: result files of earlier runs, joined and written in other formats.

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "policies/option_error.hpp"
#include "reports/result_json.hpp"
#include "reports/terminal_table.hpp"
#include "reports/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace kvreplay::cli {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct ReportTexts {
  std::vector<std::string> files, outputs;
  TerminalOptions terminal;
};

// What all files say stands once; where they differ every value is kept.
void add_missing(Pairs& pairs, const Pairs& more) {
  for (const auto& pair : more) {
    if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(pair);
  }
}

reports::ResultFile joined(const std::vector<std::string>& paths) {
  reports::ResultFile all;
  for (const std::string& path : paths) {
    reports::ResultFile file = reports::read_result_json(reports::whole_file(path), path);
    if (all.results.empty() && all.config.empty()) {
      all = std::move(file);
      continue;
    }
    if (file.shard || all.shard) {
      throw policies::OptionError(
          fmt::format("{}: is one of several files and a shard is among them; 'kvreplay merge' joins shards", path));
    }
    std::move(file.budgets.begin(), file.budgets.end(), std::back_inserter(all.budgets));
    add_missing(all.config, file.config);
    add_missing(all.provenance.entries, file.provenance.entries);
    std::move(file.results.begin(), file.results.end(), std::back_inserter(all.results));
  }
  return all;
}

int report(const ReportTexts& texts) {
  const OutputFiles outputs(texts.outputs, OutputKind::results);
  check_terminal_options(texts.terminal);
  check_inputs(texts.files, outputs);
  const reports::ResultFile results = joined(texts.files);
  if (outputs.empty()) {
    fmt::print("{}",
               reports::terminal_table(results, {.color = wants_color(texts.terminal), .columns = terminal_width()}));
    std::fflush(stdout);
    return exit_ok;
  }
  outputs.write(results);
  for (const std::string& path : outputs.paths()) say("wrote " + path);
  return exit_ok;
}

}  // namespace

void add_report(CLI::App& program, Command& chosen) {
  auto texts = std::make_shared<ReportTexts>();
  CLI::App* command = program.add_subcommand("report", "Write results of earlier runs as a page, tables or a trace");
  command->add_option("RESULT", texts->files, "Result files (run -o FILE.json); several are joined")->required();
  add_output_option(*command, texts->outputs);
  add_terminal_options(*command, texts->terminal);
  command->callback([texts, &chosen] { chosen = [texts] { return report(*texts); }; });
}

}  // namespace kvreplay::cli
