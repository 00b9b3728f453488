// compare --calibrate-noise: how far results of one build differ on this machine.

#include "cli/commands.hpp"
#include "cli/comparing.hpp"
#include "cli/exit_codes.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "policies/option_error.hpp"
#include "reports/atomic_file.hpp"
#include "reports/compare/noise.hpp"
#include "reports/result_json.hpp"
#include "reports/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace kvreplay::cli {
namespace {

std::vector<reports::NamedResult> run_workloads(const CompareTexts& texts) {
  RunTexts run;
  run.files = texts.files;
  run.repetitions = texts.repetitions.empty() ? calibration_repetitions : texts.repetitions;
  run.threads = texts.threads;
  run.terminal = texts.terminal;
  const std::int64_t num_runs = parse_count("--runs", texts.runs.empty() ? calibration_runs : texts.runs, 2, 1000);
  ProgressReporter progress(texts.terminal);
  std::vector<reports::NamedResult> results;
  for (std::int64_t i = 1; i <= num_runs && !interrupted; ++i) {
    sim::ExperimentSettings settings = experiment_settings(run);
    settings.interrupted = &interrupted;
    try {
      results.push_back({fmt::format("run {}", i), sim::run_experiment(settings, progress)});
    } catch (const sim::RunTooLong& error) {
      throw policies::OptionError(error.problem +
                                  "; fewer --repetitions or a shorter workload take less, or calibrate with files of "
                                  "'kvreplay run ... --yes -o FILE.json'");
    }
  }
  return results;
}

std::string noise_path(const CompareTexts& texts, bool runs) {
  if (!texts.noise.empty()) return texts.noise;
  if (runs) return noise_file_name;
  return (std::filesystem::path(texts.files.front()).parent_path() / noise_file_name).string();
}

// A calibration may replace an older one and nothing else.
void check_target(const std::string& path, const std::vector<std::string>& inputs) {
  check_place("--noise", path);
  check_inputs(inputs, {path}, "--noise");
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return;
  try {
    (void)reports::read_noise(reports::whole_file(path), path);
  } catch (const reports::ResultError&) {
    throw policies::OptionError(
        fmt::format("--noise {}: is there and is no calibration, so it is not replaced; choose another name", path));
  }
}

}  // namespace

int calibrate_noise(const CompareTexts& texts) {
  check_terminal_options(texts.terminal);
  refuse_idle(texts.given,
              {"--baseline", "--candidate", "--baseline-program", "--reference", "--threshold", "--fail-on",
               "--effect-floor", "--only-common"},
              "a comparison, not with --calibrate-noise");
  refuse_turn_options(texts);
  if (texts.files.empty())
    throw policies::OptionError("--calibrate-noise takes results of one build, or workloads to run");
  const bool runs = std::all_of(texts.files.begin(), texts.files.end(), is_workload);
  if (!runs && std::any_of(texts.files.begin(), texts.files.end(), is_workload)) {
    throw policies::OptionError("--calibrate-noise takes results or workloads, not both");
  }
  if (!runs && texts.files.size() < 2) {
    throw policies::OptionError("--calibrate-noise compares results of one build with each other: name two at least");
  }
  if (!runs) refuse_run_options(texts, "workloads to run, not with results");
  if (!texts.outputs.empty()) throw policies::OptionError("--calibrate-noise writes --noise FILE, not -o");
  const std::string path = noise_path(texts, runs);
  check_target(path, texts.files);
  const std::vector<reports::NamedResult> results = runs ? run_workloads(texts) : read_results(texts.files);
  if (interrupted) return exit_interrupted;
  const reports::NoiseFloor floor = reports::calibrated(results);
  reports::write_atomically(path, reports::write_noise(floor));
  fmt::print(
      "{} comparisons of this build with itself: medians differ by up to {:.1f} % (relative times), {:.1f} % (absolute "
      "times), {:.1f} % (parts).\n{} of them would have raised a false alarm without knowing that.\n",
      floor.num_pairs, floor.relative * 100, floor.absolute * 100, floor.part * 100, floor.num_alarms);
  say("wrote " + path);
  return exit_ok;
}

}  // namespace kvreplay::cli
