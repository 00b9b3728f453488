// What the ways of `compare` share: its options as text, its inputs and its sides.
#pragma once

#include "cli/options.hpp"
#include "reports/compare/compare.hpp"
#include "reports/compare/side.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kvreplay::cli {

struct CompareTexts {
  std::vector<std::string> files, baselines, candidates, thresholds, fail_on, outputs;
  std::string reference, noise, effect_floor = "5";
  bool only_common = false;
  bool calibrates = false;
  bool yes = false;                                 // builds run in turns may take long
  std::string baseline_program, candidate_program;  // builds to run in turns
  std::string keep;                                 // folder for the results of the turns
  std::string runs, repetitions, threads = "auto";  // of workloads that are run; empty: as the way of comparing has it
  std::vector<std::string> policies;                // these three of builds run in turns
  std::string model, depth;
  TerminalOptions terminal;
  std::vector<std::string> given = {};  // given_options of the command
};

// Throws OptionError for an option that says how workloads are run, which goes with `what` only.
void refuse_run_options(const CompareTexts& texts, const std::string& what);
// The same for an option of builds run in turns.
void refuse_turn_options(const CompareTexts& texts);

// The name of a calibration that `compare` looks for beside the baseline.
inline constexpr const char* noise_file_name = "kvreplay-noise.json";

bool is_workload(const std::string& path);

std::vector<reports::NamedResult> read_results(const std::vector<std::string>& paths);

inline constexpr const char* calibration_runs = "5";
inline constexpr const char* calibration_repetitions = "30";

// compare --calibrate-noise: A against A, from results or by running workloads; stores the false-alarm floor.
int calibrate_noise(const CompareTexts& texts);

struct Sides {
  std::vector<reports::NamedResult> baselines, candidates;
};

// What suffices to find 5 % on a machine with other work to do (docs/comparing.md, "How well it works").
inline constexpr const char* turn_runs = "40";
inline constexpr const char* turn_repetitions = "3";

// compare --baseline-program: runs two builds in turns. Cut short where the program is interrupted. Throws OptionError
// where a build cannot be run or makes no result, with what it said, and ChildFailed where one fails. Hands the first
// result of each to `look_at_first`, which throws where more of them are of no use.
Sides run_in_turns(const CompareTexts& texts, const std::function<void(const Sides&)>& look_at_first);

}  // namespace kvreplay::cli
