// Options that several sub-commands share, as text, and what they mean.
#pragma once

#include "cli/terminal.hpp"
#include "sim/experiment.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace kvreplay::cli {

struct ModelTexts {
  std::string model, weights, dtype, kv_dtype, max_positions;
  std::string at_limit = "error";  // error | stop
};

struct RunTexts {
  std::vector<std::string> files, policies, outputs;
  ModelTexts model;
  std::string depth = "compute";
  std::string repetitions = "1", threads = "auto", memory_limit, tolerance, truncate = "lazy";
  std::string kernels = "fast", pages = "huge", prefill_chunk;
  std::string dump_folder;
  bool dump_hidden = false, verify = false, yes = false;
  std::vector<std::string> fail_on;
  std::string shard;
  std::vector<std::string> given = {};  // given_options of the command
  TerminalOptions terminal;
};

void add_model_options(CLI::App& command, ModelTexts& texts);
void add_policy_option(CLI::App& command, std::vector<std::string>& policies, const std::string& default_text);
void add_output_option(CLI::App& command, std::vector<std::string>& outputs);
void add_terminal_options(CLI::App& command, TerminalOptions& options);
void add_compute_options(CLI::App& command, RunTexts& texts);  // threads, kernels, memory, tolerance, ...

// Names of the options on the command line, such as --depth.
std::vector<std::string> given_options(const CLI::App& command);
bool is_given(const std::vector<std::string>& given, const std::string& name);
// An option that does nothing looks as if it had been heeded: throws OptionError if one of `names` is given, which goes
// with `what` only.
void refuse_idle(const std::vector<std::string>& given, const std::vector<std::string>& names, const std::string& what);

// Throws OptionError unless `text` is one of `choices`.
void check_one_of(const std::string& option, const std::string& text, const std::vector<std::string>& choices);

// The words of an option that may be repeated and takes lists "a,b"; each is one of `choices`, else throws OptionError.
std::vector<std::string> words_of(const std::string& option, const std::vector<std::string>& texts,
                                  const std::vector<std::string>& choices);

// The same, read. Throw OptionError.
sim::ModelOptions model_options(const ModelTexts& texts);
bool stops_at_limit(const ModelTexts& texts);
std::vector<policies::PolicySpec> policy_specs(const std::vector<std::string>& texts);  // empty: the seed policies
sim::Depth depth_of(const std::string& text);
void check_terminal_options(const TerminalOptions& options);
bool truncates_at_events(const std::string& text);  // lazy | eager
sim::ExperimentSettings experiment_settings(const RunTexts& texts);

// True, after printing them all with their options and defaults, if one of `policies` is "help".
bool printed_policy_help(const std::vector<std::string>& policies);

}  // namespace kvreplay::cli
