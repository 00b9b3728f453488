// What the two ways of `compare` share: its options as text, and reading its inputs.
#pragma once

#include "cli/options.hpp"
#include "reports/compare/compare.hpp"
#include "reports/compare/side.hpp"

#include <string>
#include <vector>

namespace kvreplay::cli {

struct CompareTexts {
  std::vector<std::string> files, baselines, candidates, thresholds, fail_on, outputs;
  std::string reference, noise, effect_floor = "5";
  bool only_common = false;
  bool calibrates = false;
  std::string runs = "5", repetitions = "30", threads = "auto";  // of a calibration that runs workloads
  TerminalOptions terminal;
  std::vector<std::string> given = {};  // given_options of the command
};

// Throws OptionError for an option that says how workloads are run, which goes with `what` only.
void refuse_run_options(const CompareTexts& texts, const std::string& what);

// The name of a calibration that `compare` looks for beside the baseline.
inline constexpr const char* noise_file_name = "kvreplay-noise.json";

std::vector<reports::NamedResult> read_results(const std::vector<std::string>& paths);

// compare --calibrate-noise: A against A, from results or by running workloads; stores the false-alarm floor.
int calibrate_noise(const CompareTexts& texts);

}  // namespace kvreplay::cli
