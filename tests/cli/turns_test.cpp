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

// The last argument of `run` is the result's path, after its format.
std::string copying(const std::string& result) { return "for last; do :; done\ncp '" + result + "' \"${last#json:}\""; }

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
  const std::string strange = scratch.file("strange", "#!/no/such/shell\n");
  for (const std::string& program : {odd, strange}) {
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  const auto failing = [&](const std::string& name, const std::string& lines) { return script(scratch, name, lines); };
  const std::vector<std::pair<std::string, std::string>> programs{
      {scratch.path("none"), "none: no such file"},
      {scratch.path(""), "is a folder; name the program in it"},
      {plain, "is no program (not executable)"},
      {odd, "cannot be started: Exec format error; it was built for another system, or is a script without '#!'"},
      {strange, "cannot be started: No such file or directory; the interpreter that it needs is missing"},
      {failing("silent", "exit 2"), "ended with exit code 2:\n(it wrote nothing)"},
      {failing("loud", "echo no file >&2; echo at all >&2; exit 2"), "ended with exit code 2:\nno file\nat all"},
      {failing("painting", R"(printf '\033[31mred\a\n' >&2; exit 2)"), "ended with exit code 2:\n\uFFFD[31mred\uFFFD"},
      {failing("other", "exit 0"), "made no result; is it a kvreplay?"},
      {failing("piping", "for last; do :; done\nmkfifo \"${last#json:}\""), "made no result; is it a kvreplay?"},
      {failing("endless", "for last; do :; done\nln -s /dev/zero \"${last#json:}\""), "made no result"},
      {failing("broken", copying(plain)), "made a result that cannot be read (--keep FOLDER keeps it)"},
      {failing("left", "sleep 600 & exit 2"), "ended with exit code 2"},  // does not wait for what it started
  };
  for (const auto& [program, problem] : programs) {
    std::string line = "compare --depth plan --baseline-program ";
    line.append(program).append(" ").append(workload);
    const Finished finished = kvreplay(line, "TMPDIR=" + temporary.path(""));
    INFO(program << "\n" << finished.err);
    CHECK(finished.exit_code == 2);
    CHECK_THAT(finished.err, Contains(problem));
    CHECK(finished.out.empty());
    CHECK(temporary.num_entries() == 0);
  }
}

TEST_CASE("a build that fails at run time fails the comparison in the same way") {
  const ScratchFolder scratch;
  for (const auto& [lines, problem] : {std::pair{"echo no disk >&2; exit 3", "ended with exit code 3:\nno disk"},
                                       std::pair{"kill -KILL $$", "ended with signal 9:\n(it wrote nothing)"}}) {
    const Finished finished = kvreplay("compare --depth plan --baseline-program " + script(scratch, "failing", lines) +
                                       " --keep " + scratch.path("kept") + " " + workload);
    INFO(finished.err);
    CHECK(finished.exit_code == 3);
    CHECK_THAT(finished.err, Contains(problem));
    CHECK_FALSE(std::filesystem::exists(scratch.path("kept")));  // nothing to keep
  }
}

TEST_CASE("results lie in the folder named, whatever its name, and where none can lie the cure is said") {
  const ScratchFolder scratch;
  const std::string options =
      "compare --runs 1 --repetitions 1 --depth plan -p crop --baseline-program "
      "'" KVREPLAY_PROGRAM "' '" +
      std::filesystem::absolute(workload).string() + "'";
  const Finished odd = shell("cd '" + scratch.path("") + "' && '" KVREPLAY_PROGRAM "' " + options + " --keep md:kept");
  INFO(odd.err);
  CHECK(odd.exit_code == 0);
  CHECK(std::filesystem::exists(scratch.path("md:kept/baseline-0001.json")));
  for (const std::string& folder : {scratch.path("none"), scratch.file("file", "")}) {
    const Finished finished = kvreplay(options, "TMPDIR=" + folder);
    CHECK(finished.exit_code == 2);
    CHECK_THAT(finished.err, Contains("no folder for results can be made in " + folder) &&
                                 Contains("set TMPDIR to another one, or use --keep FOLDER"));
  }
  CHECK(kvreplay(options, "TMPDIR=").exit_code == 0);  // as if it were not set
}

TEST_CASE("what no run can mend is said before the second run of a build") {
  const ScratchFolder scratch;
  const std::string log = scratch.path("log"), broken = scratch.file("kvreplay-noise.json", "{}");
  const std::string turns = "compare --runs 5 --repetitions 1 --depth plan -p crop --baseline-program " +
                            script(scratch, "old", noted(log, "old")) + " " +
                            std::filesystem::absolute(workload).string();
  CHECK(kvreplay(turns + " --noise " + broken).exit_code == 2);
  CHECK(shell("cd '" + scratch.path("") + "' && '" KVREPLAY_PROGRAM "' " + turns).exit_code == 2);
  CHECK(content_of(log).empty());
  const Finished unknown = kvreplay(turns + " --reference nope");
  CHECK(unknown.exit_code == 4);
  CHECK_THAT(unknown.err, Contains("--reference nope: both sides have no run of it; they have crop"));
  CHECK(content_of(log) == "old\n");
}

TEST_CASE("a comparison asked to fail on what is open does so where no time was taken") {
  const std::string turns =
      "compare --runs 1 --repetitions 1 --depth plan -p crop --baseline-program "
      "'" KVREPLAY_PROGRAM "' " +
      workload;
  const Finished finished = kvreplay(turns + " --fail-on regressed,inconclusive");
  CHECK(finished.exit_code == 5);
  CHECK_THAT(finished.out, Contains("no run has times on both sides"));
  CHECK(kvreplay(turns + " --fail-on regressed").exit_code == 0);
}

TEST_CASE("a build that does not heed an interruption is killed") {
  const ScratchFolder scratch, temporary;
  const std::string deaf = script(
      scratch, "deaf", "trap '' TERM\necho $$ > " + scratch.path("id") + "\nkill -TERM $PPID\nwhile :; do :; done");
  const Finished finished =
      kvreplay("compare --baseline-program " + deaf + " " + workload, "TMPDIR=" + temporary.path(""));
  CHECK(finished.exit_code == 130);
  CHECK(temporary.num_entries() == 0);
  CHECK(shell("kill -0 $(cat " + scratch.path("id") + ")").exit_code != 0);
}

TEST_CASE("a long run starts with --yes") {
  const ScratchFolder scratch;
  const std::string log = scratch.path("log");
  const std::string old_build = script(scratch, "old", "for word; do echo $word >> " + log + "; done\n" + this_build);
  CHECK(kvreplay("compare --runs 1 --repetitions 1 --depth plan --yes --baseline-program " + old_build + " " + workload)
            .exit_code == 0);
  CHECK_THAT(content_of(log), Contains("\n--yes\n"));
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
  const std::string result = scratch.file("result.json", "{}"), full = scratch.path(""), empty = scratch.path("empty");
  std::filesystem::create_directory(empty);
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
      {turns + workload + " -p help", "'kvreplay run --policy help' has it"},
      {turns + workload + " --keep " + empty + " -o " + empty + "/baseline-0001.json", "lies in the folder of --keep"},
      {"compare a.json b.json --candidate-program " + result, "--candidate-program goes with --baseline-program"},
      {"compare a.json b.json -p crop", "--policy goes with --baseline-program"},
      {"compare a.json b.json --keep x", "--keep goes with --baseline-program"},
      {"compare a.json b.json --yes", "--yes goes with --baseline-program"},
      {"compare --calibrate-noise a.yaml --depth plan", "--depth goes with --baseline-program"},
  });
  CHECK(content_of(log).empty());
}

}  // namespace kvreplay::cli
