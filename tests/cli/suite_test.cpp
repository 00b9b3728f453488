// Suites through the program: what is run, what a broken budget does, what is refused.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using testing::content_of;
using testing::kvreplay;
using testing::recording;
using testing::ScratchFolder;

const std::string json_w64 = recording("guidance-0.2.1_transformers-4.47.1/json_w64");
const std::string shipped = KVREPLAY_SOURCE_DIR "/workloads/suite.yaml";

// A suite over one recording, whose floor is 70 tokens; line 6 is the first of `budgets`. Gives its path.
std::string suite(const ScratchFolder& scratch, const std::string& budgets, const std::string& more = "") {
  return scratch.file("s.yaml", "format: kv-suite/1\ntitle: t\nworkloads: [" + json_w64 +
                                    "]\npolicies: [crop, discard]\nbudgets:\n" + budgets + more);
}

}  // namespace

TEST_CASE("the shipped suite keeps its budgets and every workload of it says where it comes from") {
  const ScratchFolder scratch;
  const auto finished = kvreplay("run " + shipped + " -o " + scratch.path("a.json"));
  INFO(finished.out);
  CHECK(finished.exit_code == 0);
  CHECK_THAT(finished.out, Contains("budgets kept"));
  const json file = json::parse(content_of(scratch.path("a.json")));
  CHECK(file["results"].size() == 115);
  CHECK(file["results"][0]["suite"] == shipped);
  CHECK(file["config"]["suite"] == shipped);
  CHECK(file["config"]["depth"] == "plan");
  for (const json& result : file["results"]) {
    const std::string text = content_of(result["workload"]["path"].get<std::string>());
    INFO(result["workload"]["path"].get<std::string>());
    CHECK_THAT(text, Contains("licence: ") && Contains("min_fed: ") && Contains("max_fed: "));
  }
}

TEST_CASE("a broken budget is told in every report, and then the exit code is 1") {
  const ScratchFolder scratch;
  const std::string path = suite(scratch,
                                 "  - {policy: crop, metric: tokens_evaluated, max: 70}\n"
                                 "  - {policy: discard, metric: tokens_evaluated, over: tokens_floor_single, max: 2}\n"
                                 "  - {policy: discard, metric: reallocations, max: 3}\n");
  const auto finished =
      kvreplay("run --depth plan " + path + " -o " + scratch.path("a.json") + " -o " + scratch.path("a.junit.xml"));
  CHECK(finished.exit_code == 1);
  // 1,249 tokens evaluated; 23 reallocations: both violations are listed.
  CHECK_THAT(finished.out,
             Contains("17.84") && Contains("reallocations 23, at most 3") && Contains("2 of 3 budgets broken"));
  const json file = json::parse(content_of(scratch.path("a.json")));
  CHECK(file["budgets"].size() == 3);
  CHECK(file["budgets"][0]["verdict"] == "passed");
  CHECK(file["budgets"][2]["value"] == 23);
  CHECK_THAT(content_of(scratch.path("a.junit.xml")),
             Contains("<testsuite name=\"budgets\" tests=\"3\" failures=\"2\""));
  CHECK(kvreplay("report " + scratch.path("a.json") + " -o " + scratch.path("b.md")).exit_code == 0);
  CHECK_THAT(content_of(scratch.path("b.md")), Contains("2 of 3 budgets broken"));
}

TEST_CASE("suites and workloads run together, and the command line wins over a suite") {
  const ScratchFolder scratch;
  const std::string path =
      suite(scratch, "  - {policy: discard, metric: resets, max: 0}\n", "depth: alloc\nrepetitions: 2\n");
  const std::string other = recording("guidance-0.2.1_transformers-4.47.1/plain_w64");
  const json mixed = json::parse(kvreplay("run --depth plan " + other + " " + path + " -o -").out);
  REQUIRE(mixed["results"].size() == 7);
  CHECK_FALSE(mixed["results"][0].contains("suite"));
  CHECK(mixed["results"][5]["suite"] == path);
  CHECK(mixed["results"][6]["repetitions"].size() == 2);
  CHECK(mixed["results"][6]["repetitions"][1]["run_order"] == 7);  // 5 runs, then crop discard, discard crop
  CHECK(mixed["results"][6]["depth"] == "plan");
  const json alloc = json::parse(kvreplay("run -p crop " + path + " -o -").out);
  REQUIRE(alloc["results"].size() == 1);
  CHECK(alloc["results"][0]["depth"] == "alloc");
  CHECK(alloc["config"]["policies"] == "crop");
  CHECK_FALSE(alloc.contains("budgets"));
}

TEST_CASE("a time can be bound against another policy, and is not judged where nothing was timed") {
  const ScratchFolder scratch;
  const std::string path =
      suite(scratch, "  - {policy: crop, metric: latency.total_ns, against: discard, max: 1000}\n");
  CHECK_THAT(kvreplay("run --depth alloc " + path).out, Contains("1 of 1 budgets kept"));
  const auto plan = kvreplay("run --depth plan " + path);
  CHECK(plan.exit_code == 0);
  CHECK_THAT(plan.out, Contains("not measured at depth plan") && Contains("0 of 1 budgets kept, 1 not judged"));
}

TEST_CASE("a suite that cannot be meant is refused at its place before anything runs") {
  const ScratchFolder scratch;
  const std::vector<std::pair<std::string, std::string>> faults{
      {"  - {policy: crpo, metric: resets, max: 0}\n", "s.yaml:6:14: budgets[0].policy: policy 'crpo' is none"},
      {"  - {policy: fixed, metric: resets, max: 0}\n", "none of the suite's (crop, discard)"},
      {"  - {workload: nobody, metric: resets, max: 0}\n", "s.yaml:6:16: budgets[0].workload: no workload"},
      {"  - {metric: reset, max: 0}\n",
       "there is no metric 'reset' ('kvreplay list metrics' names all) (did you mean 'resets'?)"},
      {"  - {metric: latency.total_ns, max: 5}\n", "against: POLICY"},
      {"  - {metric: process.cpu_ns, against: crop, max: 5}\n", "no budget can hold it"},
      {"  - {metric: resets, over: latency.total_ns, max: 5}\n", "only an exact metric"},
      {"  - {metric: resets, against: nobody, max: 5}\n", "policy 'nobody' is none of the suite's"},
      {"  - {policy: crop, metric: resets, against: crop, max: 5}\n",
       "s.yaml:6:45: budgets[0].against: nothing but crop is bounded, and that against itself"},
      {"  []\ndepth: deep\n", "s.yaml:7:8: depth: expected plan, alloc or compute"},
      {"  []\nmodel: gemma2-3b\n", "s.yaml:7:8: model: "}};
  const std::string target = scratch.file("old.json", "old");
  for (const auto& [text, says] : faults) {
    const std::string path = suite(scratch, text);
    for (const std::string& command : std::vector<std::string>{"check ", "run --depth plan -o " + target + " "}) {
      const auto finished = kvreplay(command + path);
      INFO(text);
      CHECK_THAT(finished.err, Contains(says));
      CHECK(finished.exit_code == 2);
      CHECK(finished.out.empty());
    }
  }
  CHECK(content_of(target) == "old");
  const std::string good = suite(scratch, "  []\n");
  CHECK_THAT(kvreplay("run " + good + " --depth plan --verify").err, Contains("only --depth compute"));
  CHECK_THAT(kvreplay("run -o json:" + json_w64 + " " + good).err, Contains("would replace a file that is read"));
  CHECK_THAT(kvreplay("check --write-expect " + good).err, Contains("--write-expect fills in workload files"));
  CHECK_THAT(kvreplay("explain -p crop " + good).err, Contains("'run' and 'check' take suites"));
  CHECK_THAT(kvreplay("check " + good).out, Contains("1 workloads through 2 policies, 2 cells, 0 budgets"));
}

TEST_CASE("a budget against the only policy of its suite is refused") {
  const ScratchFolder scratch;
  const std::string path = scratch.file(
      "s.yaml", "format: kv-suite/1\ntitle: t\nworkloads: [" + json_w64 +
                    "]\npolicies: [crop]\nbudgets:\n  - {metric: tokens_evaluated, against: crop, max: 1}\n");
  const auto finished = kvreplay("check " + path);
  CHECK(finished.exit_code == 2);
  CHECK_THAT(finished.err, Contains("s.yaml:6:41: budgets[0].against: nothing but crop"));
}

TEST_CASE("suites too large to be meant are refused in moments") {
  const ScratchFolder scratch;
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  const std::string budget = "  - {metric: resets, max: 0}\n";
  const auto budgets = kvreplay("check " + suite(scratch, repeated(budget, 200'000)));
  CHECK(budgets.exit_code == 2);
  CHECK_THAT(budgets.err, Contains("s.yaml:6:3: budgets: more than 10000 budgets; split the suite"));
  // Every recording through five policies, so some hundreds of numbers a budget.
  const std::string all = content_of(shipped);
  const std::string head = all.substr(0, all.find("\nworkloads:")), folder = KVREPLAY_SOURCE_DIR "/workloads/";
  const auto numbers =
      kvreplay("check " + scratch.file("n.yaml", head + "\nworkloads: ['" + folder + "recorded/*/*.yaml']\nbudgets:\n" +
                                                     repeated(budget, 10'000)));
  CHECK(numbers.exit_code == 2);
  CHECK_THAT(numbers.err, Contains("the budgets bound more than 200000 numbers"));
  const auto huge =
      kvreplay("check " + scratch.file("huge.yaml", "format: kv-suite/1\n" + repeated("# long\n", 3'000'000)));
  CHECK(huge.exit_code == 2);
  CHECK_THAT(huge.err, Contains("16"));
}

TEST_CASE("the example of the page on suites is a suite") {
  const ScratchFolder scratch;
  const std::string page = content_of(KVREPLAY_SOURCE_DIR "/docs/suites.md"), fence = "```yaml\n";
  const std::size_t begin = page.find(fence) + fence.size();
  const std::string path = scratch.file("s.yaml", page.substr(begin, page.find("```", begin) - begin));
  std::filesystem::create_directories(scratch.path("recorded/any"));
  scratch.file("recorded/chat.yaml",
               "format: kv-workload/1\nmeta: {id: chat, title: b}\ntokenizer: {name: t, vocab: 300}\n"
               "events: [{new: s}, {append: 1 2 3}, {eval: 1}, {rewind: {by: 1}}, {append: 4}, {eval: 1}]\n");
  std::filesystem::copy_file(scratch.path("recorded/chat.yaml"), scratch.path("recorded/any/json_1.yaml"));
  const auto finished = kvreplay("run " + path);
  INFO(finished.err);
  CHECK(finished.exit_code == 0);
  // The time is not measured at depth plan.
  CHECK_THAT(finished.out, Contains("6 of 6 runs completed; 4 of 6 budgets kept, 2 not judged"));
}

TEST_CASE("a summary is appended to GitHub's file, which may be unwritable or nearly full") {
  const ScratchFolder scratch;
  const std::string summary = scratch.file("summary.md", "before\n");
  const std::string run = "run --depth plan " + json_w64;
  CHECK(kvreplay(run, "GITHUB_STEP_SUMMARY=" + summary).exit_code == 0);
  CHECK_THAT(content_of(summary), Catch::Matchers::StartsWith("before\n") && Contains("5 of 5 runs completed"));
  const std::string full = scratch.file("full.md", std::string(1 << 20, 'x'));
  const auto left_out = kvreplay(run, "GITHUB_STEP_SUMMARY=" + full);
  CHECK(left_out.exit_code == 0);
  CHECK_THAT(left_out.err, Contains("would pass 1 MiB"));
  CHECK(content_of(full).size() == 1 << 20);
  const auto unwritable = kvreplay(run, "GITHUB_STEP_SUMMARY=" + scratch.path("no/such/folder"));
  CHECK(unwritable.exit_code == 0);
  CHECK_THAT(unwritable.err, Contains("cannot be written"));
}

TEST_CASE("a line of a suite's policies may stand for several, each once") {
  const ScratchFolder scratch;
  const std::string head = "format: kv-suite/1\ntitle: t\nworkloads: [" + json_w64 + "]\npolicies: ";
  const std::string swept =
      scratch.file("swept.yaml", head + "[\"fixed:capacity=128-512*2\"]\nbudgets:\n" +
                                     "  - {policy: \"fixed:capacity=256\", metric: tokens_evaluated, max: 70}\n");
  const auto finished = kvreplay("run " + swept + " --depth plan -o " + scratch.path("swept.json"));
  INFO(finished.err);
  CHECK(finished.exit_code == 0);
  const json file = json::parse(content_of(scratch.path("swept.json")));
  REQUIRE(file["results"].size() == 3);
  CHECK(file["results"][2]["policy"]["spec"] == "fixed:capacity=512");
  CHECK(file["budgets"].size() == 1);

  const std::string twice = scratch.file("twice.yaml", head + "[\"fixed:capacity=128,256\", \"fixed:capacity=256\"]\n");
  const auto refused = kvreplay("run " + twice);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("twice.yaml:4:38: policies[1]: policy fixed:capacity=256 is in the list already"));
}

}  // namespace kvreplay::cli
