// Wrong command lines: exit code 2, a message that says what would have been right, nothing on stdout.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/wrong_lines.hpp"

#include <filesystem>
#include <vector>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using testing::check_refused;
using testing::kvreplay;
using testing::recording;
using testing::ScratchFolder;
using testing::Wrong;

const std::string json = recording("guidance-0.2.1_transformers-4.47.1/json_w64");

}  // namespace

TEST_CASE("wrong command lines end with 2 and name the cure") {
  const ScratchFolder scratch;
  const std::string plan = "run --depth plan " + json + " ";
  const std::vector<Wrong> lines{
      {"", "SUBCOMMAND"},
      {"rnu", "did you mean 'run'"},
      {"run", "FILE is required"},
      {plan + "--polcy crop", "did you mean '--policy'"},
      {plan + "-p crp", "did you mean 'crop'"},
      {plan + "-p crop:kep=seed", "did you mean 'keep'"},
      {plan + "-p crop:keep=sed", "did you mean 'seed'"},
      {plan + "-p doubling:capacity=5", "not valid for policy doubling"},
      {plan + "-p crop -p crop", "given twice"},
      {plan + "-p fixed:capacity=0", "capacity"},
      {plan + "-p fixed:capacity=010", "capacity"},
      {"run --depth plam " + json, "did you mean 'plan'"},
      {plan + "--repetitions 0", "--repetitions takes a whole number from 1"},
      {plan + "--repetitions 1e3", "not '1e3'"},
      {plan + "--threads 0", "--threads takes a whole number from 1"},
      {plan + "--threads -3", "--threads takes a whole number from 1"},
      {plan + "--memory-limit 5MB", "512MiB"},
      {plan + "--memory-limit 99999999999GiB", "--memory-limit takes 1GiB to 8589934591GiB, not '99999999999GiB'"},
      {plan + "--memory-limit 0MiB", "--memory-limit takes 1MiB to"},
      {plan + "--memory-limit 99999999999999999999", "--memory-limit takes 1B to 9223372036854775807B"},
      {plan + "--max-positions 0x40", "--max-positions"},
      {plan + "--at-limit halt", "error or stop"},
      {"verify " + json + " --tolerance nan", "--tolerance takes a positive number"},
      {plan + "--verify", "only --depth compute"},
      {plan + "--model gemma2-3b", "did you mean 'gemma2-"},
      {plan + "--model gemma2-2b:num_layer=4", "did you mean 'num_layers'"},
      {plan + "--model gemma2-2b:num_layers=0", "num_layers"},
      {plan + "--kv-dtype fp16", "fp32 or bf16"},
      {plan + "-o report.txt", ".json"},
      {plan + "-o /nowhere/at/all/report.json", "no folder /nowhere/at/all"},
      {plan + "-o " + scratch.path(""), "is a directory"},
      {plan + "-o xml:-", "no format is called 'xml'"},
      {plan + "-o a.json -o a.json", "given twice"},
      {plan + "--fail-on nothing", "--fail-on takes outcome"},
      {plan + "--color red", "auto or always or never"},
      {plan + "--memory-limit ''", "--memory-limit is given an empty value"},
      {plan + json, "given twice"},
      {plan + "-o json:" + json, "would replace a file that is read"},
      {plan + "-o a.json -o ./a.json", "given twice"},
      {"explain " + json + " -p crop -o x.txt", "name it .csv"},
      {"explain " + json + " -p crop --color red", "auto or always or never"},
      {"explain " + json, "takes one --policy"},
      {"explain " + json + " -p fixed:capacity=64,128", "fixed:capacity=64,128 stands for 2"},
      {"run " + json + " -p fixed:capacity=64-32*2", "does not grow"},
      {"explain " + json + " -p crop --from 3 --to 2", "behind"},
      {"explain " + json + " -p crop --evaluation 24", "this run has 24"},
      {"explain " + json + " -p crop --evaluation 1 --from 1", "one or the other"},
      {"explain " + json + " -p crop --against nowhere.csv", "nowhere.csv"},
      {"list polices", "did you mean 'policies'"},
      {"check nowhere.yaml", "nowhere.yaml"},
      {"run " + scratch.path(""), "directory"},
  };
  check_refused(lines);
  CHECK(scratch.num_entries() == 0);
}

TEST_CASE("a place nothing can be written to is refused before anything runs") {
  const ScratchFolder scratch;
  std::filesystem::create_symlink(scratch.path("gone/a.json"), scratch.path("link.json"));
  const std::string trace = KVREPLAY_SOURCE_DIR "/tests/golden/traces/azure_code_head40.csv";
  const std::string long_name = scratch.path(std::string(300, 'n') + ".json");
  const std::vector<Wrong> places{
      {scratch.path("link.json"), "gone does not exist: No such file or directory (make the folder first"},
      {long_name, "File name too long (choose a shorter name)"},
      {"/proc/x.json", "folder /proc takes no new files (choose another place"}};
  for (const Wrong& place : places) {
    for (const std::string& command : std::vector<std::string>{
             "run --depth plan " + json + " -o ", "compare a.json b.json -o ", "import lengths-csv " + trace + " -o ",
             "compare --calibrate-noise " + json + " --noise ", "explain -p crop " + json + " -o csv:"}) {
      INFO(command << place.arguments);
      const auto finished = kvreplay(command + place.arguments);
      CHECK(finished.exit_code == 2);
      CHECK_THAT(finished.err, Contains(place.says));
      CHECK(finished.out.empty());
    }
  }
  const auto dump = kvreplay("run -p crop --dump /proc " + json);
  CHECK(dump.exit_code == 2);
  CHECK_THAT(dump.err, Contains("--dump /proc/a.safetensors: folder /proc takes no new files"));
  CHECK(scratch.num_entries() == 1);
}

TEST_CASE("an option that would do nothing is refused with what it goes with") {
  const ScratchFolder scratch;
  const std::string plan = "run --depth plan " + json + " ", suite = KVREPLAY_SOURCE_DIR "/workloads/suite.yaml";
  const std::vector<Wrong> lines{
      {plan + "--tolerance 1e-4", "--tolerance goes with --verify"},
      {"run --dump " + scratch.path("") + " --tolerance 1e-4 " + json, "--tolerance goes with --verify"},
      {plan + "--dump-hidden", "--dump-hidden goes with --dump FOLDER"},
      {"explain -p crop --weights tiny-gemma2 " + json, "--weights goes with 'run' and 'verify'"},
      {"explain -p crop --dtype bf16 " + json, "--dtype goes with 'run' and 'verify'"},
      {"check --observed " + suite, "is a suite; --observed replays recordings"},
      {"compare a.json b.json --runs 3", "--runs goes with --calibrate-noise"},
      {"compare a.json b.json --repetitions 30", "--repetitions goes with --calibrate-noise"},
      {"compare a.json b.json --threads 1", "--threads goes with --calibrate-noise"},
      {"compare --calibrate-noise a.json b.json --runs 3", "--runs goes with workloads to run"},
      {"compare --calibrate-noise a.json b.json --reference crop", "--reference goes with a comparison"},
      {"compare --calibrate-noise a.json b.json --threshold resets:max:1", "--threshold goes with a comparison"},
      {"compare --calibrate-noise a.json b.json --fail-on nothing", "--fail-on goes with a comparison"},
      {"compare --calibrate-noise a.json --baseline b.json", "--baseline goes with a comparison"},
  };
  check_refused(lines);
  CHECK(kvreplay(plan + "-p crop --kernels plain --pages small --prefill-chunk 8 --threads 1").exit_code == 0);
  CHECK(kvreplay("verify --tolerance 1e-4 -p crop " + json).exit_code == 0);
}

TEST_CASE("the README's example is a workload") {
  const std::string readme = testing::content_of(KVREPLAY_SOURCE_DIR "/README.md");
  const std::string fence = "```yaml\n";
  const auto begin = readme.find(fence);
  REQUIRE(begin != std::string::npos);
  const ScratchFolder scratch;
  const std::string path = scratch.file(
      "hello.yaml",
      readme.substr(begin + fence.size(), readme.find("```", begin + fence.size()) - begin - fence.size()));
  CHECK(kvreplay("check " + path).exit_code == 0);
  CHECK(kvreplay("run --depth compute --verify " + path).exit_code == 0);
}

TEST_CASE("lost output is a failure and lost messages are nothing worse") {
  const std::string full = R"(sh -c '"$@" >/dev/full' sh)", deaf = R"(sh -c '"$@" 2>/dev/full' sh)";
  CHECK(kvreplay("run --depth plan -p crop " + json, full).exit_code == 3);
  CHECK(kvreplay("check " + json, full).exit_code == 3);
  CHECK(kvreplay("--help", full).exit_code == 3);
  CHECK(kvreplay("check nowhere.yaml", deaf).exit_code == 2);
  CHECK(kvreplay("run --depth plan -p crop " + json, R"(sh -c '"$@" 2>&-' sh)").exit_code == 0);
}

TEST_CASE("help and version are answers, not errors") {
  for (const char* arguments :
       {"--help", "run --help", "explain --help", "verify --help", "check --help", "list --help", "--version",
        "run --policy help", "list policies", "list models", "list metrics", "list formats", "list workloads"}) {
    INFO(arguments);
    const auto finished = kvreplay(arguments);
    CHECK(finished.exit_code == 0);
    CHECK(finished.out.size() > 40);
    CHECK(finished.err.empty());
  }
  CHECK_THAT(kvreplay("--version").out, Contains("commit"));
  CHECK_THAT(kvreplay("run --policy help").out, Contains("hold_old=true|false"));
}

TEST_CASE("a workload that is too long for its model is named before anything runs") {
  const ScratchFolder scratch;
  const std::string limit = " --max-positions 30 ";
  const auto refused = kvreplay("run --depth plan" + limit + json);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("json_w64.yaml:") && Contains("30 positions") && Contains("--at-limit stop"));
  const auto stopped = kvreplay("run --depth plan --at-limit stop -p crop -o csv:-" + limit + json);
  CHECK(stopped.exit_code == 0);
  CHECK_THAT(stopped.out, Contains("limit_reached"));
  CHECK(kvreplay("run --depth plan --at-limit stop --fail-on outcome -p crop" + limit + json).exit_code == 1);
}

TEST_CASE("a run of days does not start by accident, whether it computes or copies") {
  const auto finished = kvreplay("run " + recording("examples/02_multi_turn_prefix_reuse") + " --threads 1");
  CHECK(finished.exit_code == 2);
  CHECK_THAT(finished.err, Contains("--depth plan") && Contains("--yes") && Contains("is expected to take about"));
  CHECK(finished.out.empty());
  const ScratchFolder scratch;
  const std::string growing =
      scratch.file("growing.yaml",
                   "format: kv-workload/1\nmeta: {id: growing, title: t}\ntokenizer: {name: s, vocab: 2048}\n"
                   "model: {profile: tiny-gemma2, max_positions: 1000000}\nstreams: {a: {seed: 1}}\n"
                   "events:\n  - new: m\n  - append: a:10\n  - decode: a:300000\n");
  for (const std::string depth : {"compute", "alloc"}) {  // 126 TiB to copy, and the arithmetic of minutes
    const auto copying = kvreplay("run -p crop --threads 1 --depth " + depth + " " + growing);
    CHECK(copying.exit_code == 2);
    CHECK_THAT(copying.err, Contains("--yes"));
  }
}

}  // namespace kvreplay::cli
