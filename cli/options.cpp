#include "cli/options.hpp"

#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "policies/option_error.hpp"
#include "policies/registry.hpp"
#include "policies/sweep.hpp"
#include "sim/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace kvreplay::cli {
namespace {

int threads_of(const std::string& text) {
  const int available = sim::available_cpus();
  if (text == "auto") return available;
  constexpr int most_threads = 1024;
  const auto threads = static_cast<int>(parse_count("--threads", text, 1, most_threads));
  if (threads > available) {
    say(fmt::format("warning: {} threads on {} available CPU{}: they will wait for each other", threads, available,
                    available == 1 ? "" : "s"));
  }
  return threads;
}

policies::PageChoice pages_of(const std::string& text) {
  check_one_of("--pages", text, {"small", "huge", "populate"});
  if (text == "small") return policies::PageChoice::small;
  return text == "huge" ? policies::PageChoice::huge : policies::PageChoice::populate;
}

// A preset's masks are those of an engine that feeds each call whole.
void check_chunkable(const std::vector<policies::PolicySpec>& specs) {
  for (const policies::PolicySpec& spec : specs) {
    for (const policies::PolicyEntry& entry : policies::policy_table()) {
      if (entry.name != spec.name || !entry.faithful) continue;
      throw policies::OptionError(
          fmt::format("--prefill-chunk: {} imitates an engine that feeds every call whole; leave the option out for it",
                      spec.name));
    }
  }
}

void print_options(const policies::PolicyEntry& entry) {
  for (const policies::PolicyOption& option : entry.options) {
    const std::string values = option.choices.empty() ? "N" : fmt::format("{}", fmt::join(option.choices, "|"));
    fmt::print("    {:<36} {} (default {})\n", fmt::format("{}={}", option.key, values), option.meaning,
               option.default_value.empty() ? "none" : option.default_value);
  }
}

}  // namespace

void add_model_options(CLI::App& command, ModelTexts& texts) {
  command.add_option("--model", texts.model,
                     "Model: a profile, a shipped model or a checkpoint folder, with overrides\n"
                     "(gemma2-2b, tiny-gemma2:sliding_window=1024); :key=value alone overrides the\n"
                     "workload's model. Default: the workload's own. 'kvreplay list models' names all");
  command.add_option("--weights", texts.weights,
                     "Checkpoint folder or shipped model: its weights, the workload's dimensions");
  command.add_option("--dtype", texts.dtype,
                     "Element type of the weights: fp32 (default) or bf16, half the memory to read; bf16\n"
                     "checkpoints lose nothing by it");
  command.add_option("--kv-dtype", texts.kv_dtype,
                     "Element type of the cache: fp32 or bf16 (default: the model's dtype)");
  command.add_option("--max-positions", texts.max_positions, "Longest list allowed, instead of the model's");
  command.add_option("--at-limit", texts.at_limit, "A longer list: error, or stop (the run ends there)")
      ->capture_default_str();
}

void add_policy_option(CLI::App& command, std::vector<std::string>& policies, const std::string& default_text) {
  command
      .add_option("--policy,-p", policies,
                  "Cache policy NAME or NAME:key=value,key=value; may repeat; 'help' explains all. Lists\n"
                  "(capacity=512,1024) and ranges (capacity=512-4096*2, 512-2048+512) stand for several.\n"
                  "Default: " +
                      default_text)
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_output_option(CLI::App& command, std::vector<std::string>& outputs) {
  command
      .add_option("-o,--output", outputs,
                  "Write results to a file; the extension picks the format ('kvreplay list formats');\n"
                  "may repeat; - is stdout (JSON); FORMAT:FILE and FORMAT:- name it (md:-, csv:-)")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_terminal_options(CLI::App& command, TerminalOptions& options) {
  command.add_option("--progress", options.progress, "Progress on stderr: auto, bar, plain or none")
      ->capture_default_str();
  command.add_option("--color", options.color, "Colours: auto, always or never (NO_COLOR is honoured)")
      ->capture_default_str();
}

void add_compute_options(CLI::App& command, RunTexts& texts) {
  command.add_option("--threads", texts.threads, "Threads of the stack: a number, or auto (CPUs this process may use)")
      ->capture_default_str();
  command.add_option("--kernels", texts.kernels, "Kernels of the stack: fast, or plain (their reference)")
      ->capture_default_str();
  command.add_option("--prefill-chunk", texts.prefill_chunk,
                     "Most tokens that pass through the layers at once (n_ubatch of llama.cpp); default: all");
  command
      .add_option("--pages", texts.pages,
                  "Pages of large cache buffers: small (4 KiB), huge (2 MiB where the system gives them) or\n"
                  "populate (huge, and mapped when allocated)")
      ->capture_default_str();
  command.add_option("--memory-limit", texts.memory_limit,
                     "End a run with out_of_memory when the cache would hold more (bytes, KiB, MiB, GiB)");
  command.add_option(
      "--tolerance", texts.tolerance,
      "Verification: allowed difference over 1 + |reference| (default 1e-4 for fp32 caches, 2e-2 for bf16)");
  command
      .add_option("--truncate", texts.truncate,
                  "When a list is cut back the cache sees it lazy (at the next evaluation) or eager (at once)")
      ->capture_default_str();
  command.add_flag("--yes", texts.yes, "Start a compute run however long it is expected to take");
}

sim::ModelOptions model_options(const ModelTexts& texts) {
  sim::ModelOptions options{.model = texts.model,
                            .weights = texts.weights,
                            .kv_dtype = texts.kv_dtype,
                            .max_positions = {},
                            .dtype = texts.dtype};
  if (!texts.dtype.empty()) check_one_of("--dtype", texts.dtype, {"fp32", "bf16"});
  if (!texts.kv_dtype.empty()) check_one_of("--kv-dtype", texts.kv_dtype, {"fp32", "bf16"});
  constexpr std::int64_t most_positions = std::int64_t{1} << 40;
  if (!texts.max_positions.empty())
    options.max_positions = parse_count("--max-positions", texts.max_positions, 1, most_positions);
  return options;
}

bool stops_at_limit(const ModelTexts& texts) {
  check_one_of("--at-limit", texts.at_limit, {"error", "stop"});
  return texts.at_limit == "stop";
}

std::vector<policies::PolicySpec> policy_specs(const std::vector<std::string>& texts) {
  std::vector<policies::PolicySpec> specs;
  for (const std::string& text : texts.empty() ? policies::seed_policies() : texts) {
    for (const std::string& one : policies::sweep(text)) {
      specs.push_back(policies::parse_policy(one));
      const auto same = [&one](const policies::PolicySpec& spec) { return spec.text == one; };
      if (std::count_if(specs.begin(), specs.end(), same) > 1) {
        throw policies::OptionError(fmt::format("--policy {} is given twice", one));
      }
    }
  }
  return specs;
}

std::vector<std::string> given_options(const CLI::App& command) {
  std::vector<std::string> given;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    for (const std::string& name : option->get_lnames()) given.push_back("--" + name);
  }
  return given;
}

bool is_given(const std::vector<std::string>& given, const std::string& name) {
  return std::find(given.begin(), given.end(), name) != given.end();
}

void refuse_idle(const std::vector<std::string>& given, const std::vector<std::string>& names,
                 const std::string& what) {
  for (const std::string& name : names) {
    if (is_given(given, name)) throw policies::OptionError(fmt::format("{} goes with {}; leave it out", name, what));
  }
}

void check_one_of(const std::string& option, const std::string& text, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return;
  throw policies::OptionError(fmt::format("{} takes {}, not '{}'", option, fmt::join(choices, " or "), text), text,
                              choices);
}

std::vector<std::string> words_of(const std::string& option, const std::vector<std::string>& texts,
                                  const std::vector<std::string>& choices) {
  std::vector<std::string> words;
  for (const std::string& text : texts) {
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = text.find(',', begin);
      words.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
      check_one_of(option, words.back(), choices);
    }
  }
  return words;
}

sim::Depth depth_of(const std::string& text) {
  check_one_of("--depth", text, {"plan", "alloc", "compute"});
  return text == "plan" ? sim::Depth::plan : text == "alloc" ? sim::Depth::alloc : sim::Depth::compute;
}

void check_terminal_options(const TerminalOptions& options) {
  check_one_of("--progress", options.progress, {"auto", "bar", "plain", "none"});
  check_one_of("--color", options.color, {"auto", "always", "never"});
}

bool truncates_at_events(const std::string& text) {
  check_one_of("--truncate", text, {"lazy", "eager"});
  return text == "eager";
}

sim::ExperimentSettings experiment_settings(const RunTexts& texts) {
  check_terminal_options(texts.terminal);
  for (const std::string& reason : texts.fail_on) check_one_of("--fail-on", reason, {"outcome"});
  sim::ExperimentSettings settings;
  settings.workload_paths = texts.files;
  settings.policies = policy_specs(texts.policies);
  settings.model = model_options(texts.model);
  settings.depth = depth_of(texts.depth);
  settings.repetitions = parse_count("--repetitions", texts.repetitions, 1, 1'000'000);
  settings.threads = threads_of(texts.threads);
  check_one_of("--kernels", texts.kernels, {"fast", "plain"});
  settings.kernels = texts.kernels == "fast" ? sim::KernelChoice::fast : sim::KernelChoice::plain;
  settings.pages = pages_of(texts.pages);
  if (!texts.prefill_chunk.empty()) {
    settings.prefill_chunk = parse_count("--prefill-chunk", texts.prefill_chunk, 1, std::int64_t{1} << 40);
    check_chunkable(settings.policies);
  }
  if (!texts.memory_limit.empty()) settings.memory_limit_bytes = parse_bytes("--memory-limit", texts.memory_limit);
  settings.stop_at_limit = stops_at_limit(texts.model);
  settings.truncate_at_events = truncates_at_events(texts.truncate);
  settings.verify = texts.verify;
  if (!texts.verify) refuse_idle(texts.given, {"--tolerance"}, "--verify");
  if (!texts.tolerance.empty()) settings.tolerance = parse_positive("--tolerance", texts.tolerance);
  settings.accept_long_run = texts.yes;
  settings.dump_folder = texts.dump_folder;
  settings.dump_hidden = texts.dump_hidden;
  if (settings.depth != sim::Depth::compute && (settings.verify || !settings.dump_folder.empty())) {
    throw policies::OptionError("--verify and --dump look at outputs, which only --depth compute has");
  }
  if (settings.dump_hidden && settings.dump_folder.empty()) {
    throw policies::OptionError("--dump-hidden goes with --dump FOLDER");
  }
  std::error_code error;
  if (!settings.dump_folder.empty()) std::filesystem::create_directories(settings.dump_folder, error);
  if (error) {
    throw policies::OptionError(fmt::format("--dump {}: cannot be made: {}", settings.dump_folder, error.message()));
  }
  if (!settings.dump_folder.empty()) {
    check_place("--dump", (std::filesystem::path(settings.dump_folder) / "a.safetensors").string());
  }
  return settings;
}

bool printed_policy_help(const std::vector<std::string>& policies) {
  if (std::find(policies.begin(), policies.end(), "help") == policies.end()) return false;
  for (const policies::PolicyEntry& entry : policies::policy_table()) {
    fmt::print("{}{}\n    {}\n", entry.name, entry.faithful ? "  (imitates an engine, faults included)" : "",
               entry.summary);
    print_options(entry);
  }
  return true;
}

}  // namespace kvreplay::cli
