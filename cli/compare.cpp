// compare: a candidate's results against a baseline's; says what got worse and fails only for a reason.

#include "cli/commands.hpp"
#include "cli/comparing.hpp"
#include "cli/exit_codes.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/step_summary.hpp"
#include "policies/option_error.hpp"
#include "reports/compare/comparable_text.hpp"
#include "reports/compare/writers.hpp"
#include "reports/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

namespace kvreplay::cli {
namespace {

struct Inputs {
  std::vector<std::string> baselines, candidates;
};

// BASELINE CANDIDATE; or one side by options and the other bare.
Inputs named_inputs(const CompareTexts& texts) {
  Inputs inputs{texts.baselines, texts.candidates};
  if (inputs.baselines.empty() && inputs.candidates.empty()) {
    if (texts.files.size() != 2) {
      throw policies::OptionError(fmt::format(
          "compare takes BASELINE and CANDIDATE, not {} files; for several files a side give --baseline and "
          "--candidate",
          texts.files.size()));
    }
    return {{texts.files[0]}, {texts.files[1]}};
  }
  std::vector<std::string>& bare_side = inputs.baselines.empty() ? inputs.baselines : inputs.candidates;
  bare_side.insert(bare_side.end(), texts.files.begin(), texts.files.end());
  if (inputs.baselines.empty()) throw policies::OptionError("compare: there is a --candidate and no baseline");
  if (inputs.candidates.empty()) throw policies::OptionError("compare: there is a --baseline and no candidate");
  return inputs;
}

// A baseline that is not there must not look like a comparison that passed, nor like a broken program.
void need_baselines(const Inputs& inputs) {
  for (const std::string& path : inputs.baselines) {
    std::error_code error;
    const bool missing = !std::filesystem::exists(path, error);
    if (!missing && (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > 0)) {
      continue;
    }
    throw reports::NotComparable(fmt::format(
        "{} baseline {}: nothing was compared. To make one, run the version to compare with ('kvreplay run ... -o {}')"
        ", or keep this candidate ('cp {} {}')",
        missing ? "there is no" : "empty", path, path, inputs.candidates.front(), path));
  }
}

bool has(const std::vector<std::string>& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> fail_on_of(const CompareTexts& texts) {
  const std::vector<std::string> words =
      words_of("--fail-on", texts.fail_on, {"counters", "regressed", "changed", "inconclusive", "nothing"});
  if (words.size() > 1 && has(words, "nothing")) {
    throw policies::OptionError("--fail-on nothing stands alone; leave it out, or the other words");
  }
  return words;
}

// The results to compare; `outputs` are not to replace any of them.
Inputs inputs_of(const CompareTexts& texts, const OutputFiles& outputs) {
  refuse_run_options(texts, "--calibrate-noise or --baseline-program, which run workloads");
  refuse_turn_options(texts);
  Inputs inputs = named_inputs(texts);
  check_inputs(inputs.baselines, outputs);
  check_inputs(inputs.candidates, outputs);
  need_baselines(inputs);
  return inputs;
}

// Whether builds can be run in turns as the options say; `outputs` are not to replace anything that is read.
void check_turns(const CompareTexts& texts, const OutputFiles& outputs) {
  namespace fs = std::filesystem;
  refuse_idle(texts.given, {"--baseline", "--candidate"}, "results that are there, not with --baseline-program");
  require_files(texts.files);
  check_inputs(texts.files, outputs);
  for (const std::string& path : texts.files) {
    if (is_workload(path)) continue;
    throw policies::OptionError(path + ": --baseline-program runs workload or suite files (.yaml)");
  }
  if (has(texts.policies, "help")) throw policies::OptionError("--policy help: 'kvreplay run --policy help' has it");
  for (const std::string& path : outputs.paths()) {
    std::error_code error;
    if (texts.keep.empty() || !fs::equivalent(fs::absolute(path).parent_path(), texts.keep, error)) continue;
    throw policies::OptionError(fmt::format(
        "-o {}: lies in the folder of --keep, where it could replace a result; choose another folder", path));
  }
}

Sides read_sides(const Inputs& inputs) {
  Sides sides;
  sides.candidates = read_results(inputs.candidates);
  sides.baselines = read_results(inputs.baselines);
  return sides;
}

// The calibration named, or one of the usual name in `folder`.
std::optional<reports::NoiseFloor> noise_of(const CompareTexts& texts, const std::filesystem::path& folder) {
  const bool asked = !texts.noise.empty();
  const std::string path = asked ? texts.noise : (folder / noise_file_name).string();
  std::error_code error;
  if (!asked && !std::filesystem::exists(path, error)) return std::nullopt;
  return reports::read_noise(reports::whole_file(path), path);
}

// Compares with the calibration in `settings` if it is of this machine; one that was asked for must be.
reports::Comparison comparison_of(const Sides& sides, reports::ComparisonSettings settings, bool noise_asked) {
  const reports::Side candidate = reports::side_of(sides.candidates, "candidate");
  const reports::Side baseline = reports::side_of(sides.baselines, "baseline");
  std::vector<std::string> other;
  if (settings.noise) {
    other = reports::differences(settings.noise->machine, reports::machine_fields(candidate.provenances.front()));
  }
  if (other.empty()) return reports::compare(baseline, candidate, settings);
  const std::string problem =
      fmt::format("{} was measured on another machine ({})", settings.noise->source, fmt::join(other, "; "));
  if (noise_asked) throw reports::NotComparable("--noise " + problem);
  settings.noise.reset();
  reports::Comparison comparison = reports::compare(baseline, candidate, settings);
  comparison.notes.insert(comparison.notes.begin(), problem + " and is not used");
  return comparison;
}

// Parts of a time do not count as open: where they are, the whole is, or it is decided without them.
bool is_open(const reports::Comparison& comparison) {
  if (!comparison.times_withheld.empty()) return true;
  for (const reports::CellComparison& cell : comparison.cells) {
    for (const reports::ComparisonRow& row : cell.rows) {
      if (row.change == reports::Change::inconclusive && row.kind != reports::RowKind::part_time) return true;
    }
  }
  return false;
}

int exit_code_of(const reports::Comparison& comparison, const std::vector<std::string>& fail_on) {
  using reports::Among;
  using reports::Change;
  if (has(fail_on, "nothing")) return exit_ok;
  const auto number = [&comparison](Change change, Among among) { return num_rows(comparison, change, among); };
  bool failed = number(Change::regressed, Among::counters) + number(Change::regressed, Among::thresholds) > 0;
  if (has(fail_on, "regressed")) failed = failed || number(Change::regressed, Among::times) > 0;
  if (has(fail_on, "changed")) {
    failed = failed || number(Change::changed, Among::counters) + number(Change::improved, Among::counters) > 0;
  }
  if (failed) return exit_gate_failed;
  return has(fail_on, "inconclusive") && is_open(comparison) ? exit_inconclusive : exit_ok;
}

int compare(const CompareTexts& texts) {
  if (texts.calibrates) return calibrate_noise(texts);
  check_terminal_options(texts.terminal);
  const std::vector<std::string> fail_on = fail_on_of(texts);
  reports::ComparisonSettings settings;
  settings.reference = texts.reference;
  settings.effect_floor = parse_positive("--effect-floor", texts.effect_floor) / 100;
  settings.only_common = texts.only_common;
  for (const std::string& text : texts.thresholds) settings.thresholds.push_back(reports::parse_threshold(text));
  const OutputFiles outputs(texts.outputs, OutputKind::comparison);
  // Everything is read and checked before builds are run.
  const bool runs = is_given(texts.given, "--baseline-program");
  Inputs inputs;
  if (runs) {
    check_turns(texts, outputs);
    settings.noise = noise_of(texts, "");
  } else {
    inputs = inputs_of(texts, outputs);
    settings.noise = noise_of(texts, std::filesystem::path(inputs.baselines.front()).parent_path());
  }
  const auto judged = [&](const Sides& sides) { return comparison_of(sides, settings, !texts.noise.empty()); };
  const Sides sides = runs ? run_in_turns(texts, judged) : read_sides(inputs);
  if (interrupted) return exit_interrupted;
  const reports::Comparison comparison = judged(sides);
  if (!outputs.uses_stdout()) {
    fmt::print("{}", reports::comparison_table(comparison, terminal_width(), wants_color(texts.terminal)));
  }
  std::fflush(stdout);
  outputs.write(comparison);
  append_step_summary(reports::write_comparison_markdown(comparison));
  for (const std::string& path : outputs.paths()) say("wrote " + path);
  return exit_code_of(comparison, fail_on);
}

CLI::Option* add_list(CLI::App& command, const char* name, std::vector<std::string>& values, const char* meaning) {
  return command.add_option(name, values, meaning)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void refuse_run_options(const CompareTexts& texts, const std::string& what) {
  refuse_idle(texts.given, {"--runs", "--repetitions", "--threads"}, what);
}

void refuse_turn_options(const CompareTexts& texts) {
  refuse_idle(texts.given, {"--candidate-program", "--policy", "--model", "--depth", "--keep", "--yes"},
              "--baseline-program");
}

bool is_workload(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

std::vector<reports::NamedResult> read_results(const std::vector<std::string>& paths) {
  std::vector<reports::NamedResult> results;
  for (const std::string& path : paths) results.push_back({path, reports::read_comparable_file(path)});
  return results;
}

void add_compare(CLI::App& program, Command& chosen) {
  auto texts = std::make_shared<CompareTexts>();
  CLI::App* command = program.add_subcommand(
      "compare", "Compare results with a baseline: counters exactly, times by their repetitions");
  command->add_option("FILE", texts->files,
                      "BASELINE and CANDIDATE: result files (run -o FILE.json); or workloads to run, with\n"
                      "--baseline-program or --calibrate-noise");
  add_list(*command, "--baseline", texts->baselines, "A result file of the baseline; repeatable, runs are joined");
  add_list(*command, "--candidate", texts->candidates, "The same of the candidate");
  command->add_option(
      "--reference", texts->reference,
      "Policy that relative times refer to (default: that of the baseline's first run both sides have)");
  add_list(*command, "--threshold", texts->thresholds,
           "METRIC:STAT:LIMIT, a limit of your own: STAT median, mean, min or max over repetitions;\n"
           "LIMIT 5% or 1.05x of the baseline, +N more than it, or N (latency.total_ns:median:10%)");
  add_list(*command, "--fail-on", texts->fail_on,
           "counters (default: exit 1 if a counter, outcome or threshold got worse), regressed (times\n"
           "too), changed (any other counter), inconclusive (exit 5), nothing; several: a,b or repeated");
  command->add_option("--effect-floor", texts->effect_floor, "Percent; smaller changes of a time do not matter")
      ->capture_default_str();
  command->add_option("--noise", texts->noise,
                      "Calibration of this machine (default: kvreplay-noise.json beside the baseline, if there; with\n"
                      "--baseline-program in the current folder)");
  command->add_flag("--only-common", texts->only_common, "Leave out runs the candidate does not have");
  command->add_flag("--calibrate-noise", texts->calibrates,
                    "Compare A with A and store how far runs of one build differ: FILE are results of one\n"
                    "build, or workloads to run; writes --noise");
  command->add_option("--baseline-program", texts->baseline_program,
                      "Another build's kvreplay: run FILE with both builds in turns and compare, which finds the\n"
                      "smallest changes of a time");
  command->add_option("--candidate-program", texts->candidate_program,
                      "With --baseline-program: the build to judge (default: this program)");
  command->add_option("--runs", texts->runs,
                      fmt::format("Of each build or workload (default: {} with --baseline-program, {} with\n"
                                  "--calibrate-noise)",
                                  turn_runs, calibration_runs));
  command->add_option("--repetitions", texts->repetitions,
                      fmt::format("Of each run (default: {}, or {})", turn_repetitions, calibration_repetitions));
  command->add_option("--threads", texts->threads, "Of each run")->capture_default_str();
  add_list(*command, "-p,--policy", texts->policies, "With --baseline-program: as of 'run', repeatable");
  command->add_option("--model", texts->model, "With --baseline-program: as of 'run'");
  command->add_option("--depth", texts->depth, "With --baseline-program: as of 'run'");
  command->add_flag("--yes", texts->yes, "With --baseline-program: as of 'run'");
  command->add_option("--keep", texts->keep, "With --baseline-program: keep the results in this new folder");
  add_output_option(*command, texts->outputs);
  add_terminal_options(*command, texts->terminal);
  command->callback([texts, command, &chosen] {
    texts->given = given_options(*command);
    chosen = [texts] { return compare(*texts); };
  });
}

}  // namespace kvreplay::cli
