// compare --baseline-program: two builds measured in turns, so that whatever the machine does meets both alike.

#include "cli/child_program.hpp"
#include "cli/commands.hpp"
#include "cli/comparing.hpp"
#include "cli/exit_codes.hpp"
#include "cli/numbers.hpp"
#include "policies/option_error.hpp"
#include "reports/compare/comparable_text.hpp"
#include "reports/result_json.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace kvreplay::cli {
namespace {

namespace fs = std::filesystem;

// Where results lie until they are read: a new folder, removed with all in it, or the one named. A folder made for
// nothing is removed.
class ResultFolder {
 public:
  explicit ResultFolder(const std::string& kept) : keeps_(!kept.empty()), path_(kept) {
    std::error_code error;
    if (keeps_) {
      is_new_ = fs::create_directories(path_, error);
      if (error) throw policies::OptionError(fmt::format("--keep {}: {}", kept, error.message()));
      if (!fs::is_empty(path_, error) || error) {
        throw policies::OptionError(fmt::format("--keep {}: is not empty; name a new folder", kept));
      }
      return;
    }
    const char* const set = std::getenv("TMPDIR");
    const std::string parent = set != nullptr && *set != '\0' ? set : "/tmp";
    std::string pattern = (fs::path(parent) / "kvreplay-compare-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw policies::OptionError(
          fmt::format("no folder for results can be made in {}: {}; set TMPDIR to another one, or use --keep FOLDER",
                      parent, std::generic_category().message(errno)));
    }
    path_ = pattern;
  }
  ~ResultFolder() {
    std::error_code ignored;
    if (!keeps_) fs::remove_all(path_, ignored);
    if (is_new_) fs::remove(path_, ignored);  // where it is empty
  }
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  bool keeps_, is_new_ = false;
  fs::path path_;
};

std::string checked_program(const char* option, const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw policies::OptionError(fmt::format("{} {}: is a folder; name the program in it", option, path));
  }
  if (!fs::is_regular_file(path, error)) throw policies::OptionError(fmt::format("{} {}: no such file", option, path));
  if (access(path.c_str(), X_OK) != 0) {
    throw policies::OptionError(fmt::format("{} {}: is no program (not executable)", option, path));
  }
  return fs::absolute(path).string();
}

std::vector<std::string> run_line(const CompareTexts& texts, const std::string& program, const std::string& output) {
  std::vector<std::string> words{program, "run"};
  for (const std::string& file : texts.files) words.push_back(file.starts_with('-') ? "./" + file : file);  // no option
  const auto add = [&words](const char* name, const std::string& value) { words.insert(words.end(), {name, value}); };
  for (const std::string& policy : texts.policies) add("--policy", policy);
  if (!texts.model.empty()) add("--model", texts.model);
  if (!texts.depth.empty()) add("--depth", texts.depth);
  if (is_given(texts.given, "--threads")) add("--threads", texts.threads);
  add("--repetitions", texts.repetitions.empty() ? turn_repetitions : texts.repetitions);
  if (texts.yes) words.emplace_back("--yes");
  add("--progress", "none");
  add("-o", "json:" + output);  // whatever the folder is called
  return words;
}

// Throws what a build said that ended without a result.
[[noreturn]] void fail(const std::vector<std::string>& words, const ChildEnd& end) {
  const bool is_killed = end.exit_code > 128;
  const std::string problem =
      fmt::format("{} ended with {} {}:\n{}", fmt::join(words, " "), is_killed ? "signal" : "exit code",
                  is_killed ? end.exit_code - 128 : end.exit_code, end.err.empty() ? "(it wrote nothing)" : end.err);
  if (is_killed || end.exit_code == exit_failure) throw ChildFailed(problem);
  throw policies::OptionError(problem);
}

// Runs one build once; `words` write a result to `path`.
reports::NamedResult result_of(const std::vector<std::string>& words, const std::string& path,
                               const std::string& name) {
  const ChildEnd end = run_child(words);
  if (interrupted) return {name, {}};
  if (end.exit_code != exit_ok && end.exit_code != exit_gate_failed) fail(words, end);  // budgets are not judged here
  const auto refused = [&words](const std::string& problem) {
    throw policies::OptionError(fmt::format("{} {}", fmt::join(words, " "), problem));
  };
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error))) refused("made no result; is it a kvreplay?");
  try {
    return {name, reports::read_comparable_file(path)};
  } catch (const reports::ResultError& fault) {
    refused(fmt::format("made a result that cannot be read (--keep FOLDER keeps it):\n{}", fault.what()));
    throw;
  }
}

}  // namespace

Sides run_in_turns(const CompareTexts& texts, const std::function<void(const Sides&)>& look_at_first) {
  const std::string baseline = checked_program("--baseline-program", texts.baseline_program);
  const std::string candidate = texts.candidate_program.empty()
                                    ? this_program()
                                    : checked_program("--candidate-program", texts.candidate_program);
  const std::int64_t num_runs = parse_count("--runs", texts.runs.empty() ? turn_runs : texts.runs, 1, 1000);
  const ResultFolder folder(texts.keep);
  ProgressReporter progress(texts.terminal);
  Sides sides;
  std::int64_t num_done = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto take = [&](bool is_baseline, std::int64_t run) {
    if (interrupted) return;
    const std::string name = fmt::format("{}-{:04}", is_baseline ? "baseline" : "candidate", run);
    const std::string path = folder.file(name + ".json");
    progress.begin(++num_done, 2 * num_runs, name, 0);
    progress.progress(0);
    std::vector<reports::NamedResult>& side = is_baseline ? sides.baselines : sides.candidates;
    side.push_back(result_of(run_line(texts, is_baseline ? baseline : candidate, path), path, name));
    progress.end();
  };
  for (std::int64_t run = 1; run <= num_runs; ++run) {
    // Who goes first alternates: a machine that gets slower all the time is no difference between the two.
    const bool baseline_first = run % 2 == 1;
    take(baseline_first, run);
    take(!baseline_first, run);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (run > 1 || interrupted) continue;
    look_at_first(sides);
    progress.expectation(elapsed.count() * static_cast<double>(num_runs));
  }
  return sides;
}

}  // namespace kvreplay::cli
