// compare --baseline-program: two builds run in turns. The builds are shell scripts around this one.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/wrong_lines.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using testing::check_refused;
using testing::content_of;
using testing::Finished;
using testing::kvreplay;
using testing::recording;
using testing::ScratchFolder;
using testing::shell;

const std::string workload = recording("guidance-0.2.1_transformers-4.47.1/json_w64");

// A program of a shell's `lines`; gives its path.
std::string script(const ScratchFolder& scratch, const std::string& name, const std::string& lines) {
  const std::string path = scratch.file(name, "#!/bin/sh\n" + lines + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

const std::string this_build = "exec '" KVREPLAY_PROGRAM "' \"$@\"";

// One that writes down `word` whenever it is run.
std::string noted(const std::string& log, const std::string& word) {
  return "echo " + word + " >> '" + log + "'\n" + this_build;
}

// The last argument of `run` is the result's path.
std::string copying(const std::string& result) { return "for last; do :; done\ncp '" + result + "' \"$last\""; }

}  // namespace

TEST_CASE("two builds are run in turns, and the one that goes first alternates") {
  const ScratchFolder scratch;
  const std::string log = scratch.path("log"), kept = scratch.path("kept"), made = scratch.path("made.json");
  const std::string old_build = script(scratch, "old", noted(log, "old"));
  const std::string new_build = script(scratch, "new", noted(log, "new"));
  const Finished finished =
      kvreplay("compare --baseline-program " + old_build + " --candidate-program " + new_build +
               " --runs 3 --repetitions 2 --depth plan -p crop --keep " + kept + " -o " + made + " " + workload);
  INFO(finished.err);
  CHECK(finished.exit_code == 0);
  CHECK(content_of(log) == "old\nnew\nnew\nold\nold\nnew\n");
  CHECK_THAT(finished.out, Contains("No counter changed") && Contains("1 run compared"));
  const json comparison = json::parse(content_of(made));
  CHECK(comparison["baseline"]["files"].size() == 3);
  CHECK(comparison["candidate"]["files"].size() == 3);
  std::size_t num_kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kept)) {
    const json result = json::parse(content_of(entry.path()));
    CHECK(result["results"].size() == 1);
    CHECK(result["results"][0]["repetitions"].size() == 2);
    ++num_kept;
  }
  CHECK(num_kept == 6);
}

TEST_CASE("the candidate is this program unless named, and nothing stays behind") {
  const ScratchFolder scratch, temporary;
  const std::string log = scratch.path("log"), summary = scratch.path("summary.md"), made = scratch.path("made.md");
  const std::string old_build = script(scratch, "old", noted(log, "old"));
  const Finished finished = kvreplay("compare --baseline-program " + old_build +
                                         " --runs 2 --repetitions 1 --depth alloc -p crop -o " + made + " " + workload,
                                     "TMPDIR=" + temporary.path("") + " GITHUB_STEP_SUMMARY=" + summary);
  INFO(finished.err);
  CHECK(finished.exit_code == 0);
  CHECK(content_of(log) == "old\nold\n");
  CHECK(temporary.num_entries() == 0);
  CHECK(content_of(summary) == content_of(made));  // the comparison alone: the runs add no summary of their own
}

TEST_CASE("a build that counts otherwise fails the comparison, one that keeps no budget is compared") {
  const ScratchFolder scratch;
  const std::string result = scratch.path("result.json");
  REQUIRE(kvreplay("run --depth plan -p crop -o " + result + " " + workload).exit_code == 0);
  json file = json::parse(content_of(result));
  file["results"][0]["counters"]["reallocations"] = file["results"][0]["counters"]["reallocations"].get<int>() + 1;
  const std::string changed = scratch.file("changed.json", file.dump());
  const std::string options = " --runs 2 --repetitions 1 --depth plan -p crop " + workload;
  const std::string worse = script(scratch, "worse", copying(changed));
  const Finished finished =
      kvreplay("compare --baseline-program " KVREPLAY_PROGRAM " --candidate-program " + worse + options);
  INFO(finished.err);
  CHECK(finished.exit_code == 1);
  CHECK_THAT(finished.out, Contains("1 counter regressed"));
  const std::string gate = script(scratch, "gate", copying(result) + "\nexit 1");
  CHECK(kvreplay("compare --baseline-program " + gate + options).exit_code == 0);
}

TEST_CASE("a build that cannot be run is named, with what it said") {
  const ScratchFolder scratch, temporary;
  const std::string plain = scratch.file("plain", "no program"), odd = scratch.file("odd", "\177ELF odd");
  std::filesystem::permissions(odd, std::filesystem::perms::owner_all);
  const auto failing = [&](const std::string& name, const std::string& lines) { return script(scratch, name, lines); };
  const std::vector<std::pair<std::string, std::string>> programs{
      {scratch.path("none"), "none: no such file"},
      {scratch.path(""), "no such file"},
      {plain, "is no program (not executable)"},
      {odd, "cannot be started: Exec format error"},
      {failing("silent", "exit 3"), "ended with exit code 3:\n(it wrote nothing)"},
      {failing("loud", "echo no disk >&2; exit 3"), "ended with exit code 3:\nno disk"},
      {failing("killed", "kill -KILL $$"), "ended with exit code 137"},
      {failing("other", "exit 0"), "made no result; is it a kvreplay?"},
      {failing("broken", copying(plain)), "baseline-0001.json"},
      {failing("left", "sleep 600 & exit 3"), "ended with exit code 3"},  // does not wait for what it started
  };
  for (const auto& [program, problem] : programs) {
    const Finished finished =
        kvreplay("compare --depth plan --baseline-program " + program + " " + workload, "TMPDIR=" + temporary.path(""));
    INFO(program << "\n" << finished.err);
    CHECK(finished.exit_code == 2);
    CHECK_THAT(finished.err, Contains(problem));
    CHECK(finished.out.empty());
    CHECK(temporary.num_entries() == 0);
  }
}

TEST_CASE("an interruption ends the build that is running and leaves nothing") {
  const std::string first = GENERATE(as<std::string>{}, "", "exec 2>&-\nsleep 0.2\n");  // one whose stderr says no more
  const ScratchFolder scratch, temporary;
  const std::string log = scratch.path("log");
  const std::string slow = script(
      scratch, "slow",
      first + "trap 'echo ended >> " + log + "; exit 0' TERM\nkill -TERM $PPID\n" + "while :; do sleep 0.05; done");
  const Finished finished =
      kvreplay("compare --baseline-program " + slow + " " + workload, "TMPDIR=" + temporary.path(""));
  CHECK(finished.exit_code == 130);
  CHECK(content_of(log) == "ended\n");
  CHECK(finished.out.empty());
  CHECK(temporary.num_entries() == 0);
}

TEST_CASE("a workload whose name looks like an option is run in turns") {
  const ScratchFolder scratch;
  scratch.file("-w.yaml", content_of(workload));
  const Finished finished = shell("cd '" + scratch.path("") +
                                  "' && '" KVREPLAY_PROGRAM "' compare --baseline-program '" KVREPLAY_PROGRAM
                                  "' --runs 1 --repetitions 1 --model gemma2-2b --depth plan -p crop -- -w.yaml");
  INFO(finished.err);
  CHECK(finished.exit_code == 0);
  CHECK_THAT(finished.out, Contains("1 run compared"));
}

TEST_CASE("options of builds run in turns are checked before anything runs") {
  const ScratchFolder scratch;
  const std::string log = scratch.path("log");
  const std::string turns = "compare --baseline-program " + script(scratch, "old", noted(log, "old")) + " ";
  const std::string result = scratch.file("result.json", "{}"), full = scratch.path("");
  check_refused({
      {turns, "FILE is required"},
      {turns + result, "--baseline-program runs workload or suite files (.yaml)"},
      {turns + workload + " " + workload, "given twice"},
      {turns + workload + " --baseline " + result, "--baseline goes with results that are there"},
      {turns + workload + " --candidate " + result, "--candidate goes with results that are there"},
      {turns + workload + " --calibrate-noise", "--baseline-program goes with a comparison"},
      {turns + workload + " --runs 0", "--runs"},
      {turns + workload + " --keep " + full, "is not empty; name a new folder"},
      {turns + workload + " --keep " + result, "--keep"},
      {turns + workload + " --candidate-program " + result, "is no program (not executable)"},
      {turns + workload + " -o md:" + workload, "would replace a file that is read"},
      {turns + "'' ", "is given an empty value"},
      {"compare a.json b.json --candidate-program " + result, "--candidate-program goes with --baseline-program"},
      {"compare a.json b.json -p crop", "--policy goes with --baseline-program"},
      {"compare a.json b.json --keep x", "--keep goes with --baseline-program"},
      {"compare --calibrate-noise a.yaml --depth plan", "--depth goes with --baseline-program"},
  });
  CHECK(content_of(log).empty());
}

}  // namespace kvreplay::cli
