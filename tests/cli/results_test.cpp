// What the sub-commands print and write.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using testing::content_of;
using testing::kvreplay;
using testing::recording;
using testing::ScratchFolder;

const std::string folder_02 = "guidance-0.2.1_transformers-4.47.1/";
const std::string folder_03 = "guidance-0.3.1_transformers-4.57.6/";

}  // namespace

TEST_CASE("run writes the same counters at every depth") {
  const ScratchFolder scratch;
  json counters;
  for (const std::string depth : {"plan", "alloc", "compute"}) {
    INFO(depth);
    const std::string path = scratch.path(depth + ".json");
    const auto finished =
        kvreplay("run --depth " + depth + " --repetitions 2 -o " + path + " " + recording(folder_02 + "json_w64"));
    REQUIRE(finished.exit_code == 0);
    CHECK_THAT(finished.out, Contains("discard") && Contains("doubling"));
    const json file = json::parse(content_of(path));
    CHECK(file["schema"] == "kvreplay.result/1");
    REQUIRE(file["results"].size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      const json& result = file["results"][i];
      CHECK(result["depth"] == depth);
      CHECK(result["outcome"]["kind"] == "completed");
      CHECK(result["repetitions"].size() == 2);
      if (depth == "plan") {
        counters.push_back(result["counters"]);
      } else {
        CHECK(result["counters"] == counters[i]);
        CHECK(result["latency"]["total_ns"].get<std::int64_t>() > 0);
      }
    }
  }
}

TEST_CASE("explain lays a policy beside the engine's log and finds the first difference") {
  const std::string stem = folder_02 + "fewshot_w64";
  const std::string log = std::string(KVREPLAY_SOURCE_DIR "/workloads/recorded/") + stem + ".observed.csv";
  const auto equal = kvreplay("explain " + recording(stem) + " -p guidance-0.2+transformers-4.47 --against " + log);
  CHECK(equal.exit_code == 0);
  CHECK_THAT(equal.err, Contains("none differs"));

  const auto differs = kvreplay("explain " + recording(stem) + " -p doubling:keep=seed --against " + log);
  CHECK(differs.exit_code == 1);
  // Call 19 feeds 65 tokens through a window of 64: the engine believes to hold 64 of them.
  CHECK_THAT(differs.err, Contains("19") && Contains("held_after"));

  const auto csv = kvreplay("explain " + recording(stem) + " -p crop --evaluation 3 -o -");
  CHECK(csv.exit_code == 0);
  CHECK_THAT(csv.out, Contains("evaluation,sequence,"));
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 2);
}

TEST_CASE("verify passes the five policies and finds the engine's first wrong call") {
  const auto passes = kvreplay("verify " + recording(folder_02 + "plain_w64"));
  CHECK(passes.exit_code == 0);
  CHECK_THAT(passes.out, Contains("equal in all 150 evaluations"));
  const auto fails = kvreplay("verify -p guidance-0.2+transformers-4.47 " + recording(folder_02 + "plain_w64"));
  CHECK(fails.exit_code == 1);
  CHECK_THAT(fails.out,
             Contains("first at evaluation 11") && Contains("exactly those the policy itself says are wrong"));
}

TEST_CASE("a gate does not pass on a run that ended before it was verified") {
  const std::string path = recording(folder_02 + "json_w64");
  const auto nothing = kvreplay("verify -p fixed:capacity=4 " + path);
  CHECK(nothing.exit_code == 1);
  CHECK_THAT(nothing.out, Contains("NOTHING was compared"));
  CHECK(kvreplay("verify -p fixed:capacity=30 " + path).exit_code == 1);
}

TEST_CASE("an engine that raises is a row with its outcome, not a crash") {
  const auto finished =
      kvreplay("run --depth compute -p guidance-0.3+transformers-4.57 -o json:- " + recording(folder_03 + "fork_w64"));
  CHECK(finished.exit_code == 0);
  const json result = json::parse(finished.out)["results"][0];
  CHECK(result["outcome"]["kind"] == "rewind_refused");
  CHECK(result["outcome"]["evaluation"] == 63);
  CHECK(result["counters"]["tokens_evaluated"] == 127);
  CHECK(result["counters"]["rewinds_refused"] == 1);
  CHECK(result["counters"]["evaluations"] == 63);
}

TEST_CASE("a fixed capacity that is too small and a memory limit end a run by name") {
  const std::string path = recording(folder_02 + "json_w64");
  const json fixed = json::parse(kvreplay("run --depth plan -p fixed:capacity=30 -o - " + path).out)["results"][0];
  CHECK(fixed["outcome"]["kind"] == "capacity_exceeded");
  CHECK(fixed["outcome"]["available"] == 30);
  for (const std::string depth : {"plan", "alloc", "compute"}) {
    const json limited =
        json::parse(kvreplay("run --memory-limit 100KiB -p crop -o - --depth " + depth + " " + path).out)["results"][0];
    INFO(depth);
    CHECK(limited["outcome"]["kind"] == "out_of_memory");
    CHECK(limited["outcome"]["available"] == 102400);
    CHECK(limited["outcome"]["wanted"].get<std::int64_t>() > 102400);
    CHECK(limited["counters"]["transient_bytes_peak"].get<std::int64_t>() <= 102400);
  }
}

TEST_CASE("dumps hold the rows every evaluation asked for, whole, under names that do not collide") {
  const ScratchFolder scratch;
  const std::string dump = scratch.path("dump");
  const auto finished = kvreplay("run -p crop -p discard --dump " + dump + " --dump-hidden " +
                                 recording(folder_02 + "json_w64") + " " + recording(folder_03 + "json_w64"));
  REQUIRE(finished.exit_code == 0);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dump)) names.insert(entry.path().filename().string());
  CHECK(names.size() == 4);
}

TEST_CASE("an unwritable target fails with 3 and says why") {
  const auto finished = kvreplay("run --depth plan -o json:/dev/full " + recording(folder_02 + "json_w64"));
  CHECK(finished.exit_code == 3);
  CHECK_THAT(finished.err, Contains("/dev/full"));
  const auto full =
      kvreplay("run --depth plan -o - " + recording(folder_02 + "json_w64"), R"(sh -c '"$@" >/dev/full' sh)");
  CHECK(full.exit_code == 3);
}

TEST_CASE("check validates every file given and names every fault") {
  const ScratchFolder scratch;
  const std::string bad = scratch.file("bad.yaml", "format: kv-workload/1\nmeta: {id: a, title: b}\nevnts: []\n");
  const auto finished =
      kvreplay("check " + recording("examples/01_json_fast_forward") + " " + bad + " " + scratch.path("gone.yaml"));
  CHECK(finished.exit_code == 2);
  CHECK_THAT(finished.out, Contains("01_json_fast_forward.yaml: ok, 8 evaluations, longest list 175"));
  CHECK_THAT(finished.err, Contains("bad.yaml:3:1") && Contains("did you mean 'events'") && Contains("gone.yaml"));
}

TEST_CASE("check fills in what a workload expects of itself and keeps the rest") {
  const ScratchFolder scratch;
  const std::string text =
      "# mine\nformat: kv-workload/1\nmeta: {id: a, title: b}\ntokenizer: {name: t, vocab: 300}\nevents:\n"
      "  - new: s  # here\n  - append: \"1 2 3\"\n  - eval: 1\n  - decode: {n: 2, ids: \"4 5\"}\n";
  const std::string path = scratch.file("w.yaml", text);
  CHECK(kvreplay("check --write-expect " + path).exit_code == 0);
  const std::string filled = content_of(path);
  CHECK(filled.substr(0, text.size()) == text);
  CHECK_THAT(filled, Contains("evals: 3") && Contains("max_length: 5"));
  CHECK(kvreplay("check " + path).exit_code == 0);
  CHECK(scratch.num_entries() == 1);
}

TEST_CASE("a program that is interrupted writes what it has and says so") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("partial.json");
  const std::string endless =
      " --repetitions 1000000 --depth compute --yes -p discard -o " + path + " " + recording(folder_02 + "plain_w64");
  for (const std::string signal : {"INT", "TERM", "HUP"}) {  // a terminal's, a scheduler's, a lost connection's
    INFO(signal);
    const auto finished = kvreplay("run" + endless, "timeout --preserve-status --signal=" + signal + " 3");
    CHECK(finished.exit_code == 130);
    const json file = json::parse(content_of(path));
    CHECK(file["results"].size() == 1);
    CHECK(file["config"]["interrupted"] == "yes");
    std::filesystem::remove(path);
  }
}

}  // namespace kvreplay::cli
