// Shards and their merge: together they are the unsharded run, and nothing else is taken for it.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

#include <nlohmann/json.hpp>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using testing::content_of;
using testing::kvreplay;
using testing::recording;
using testing::ScratchFolder;

const std::string folder_02 = "guidance-0.2.1_transformers-4.47.1/";
// Two workloads through five policies, and a suite of two through two: 14 cells.
std::string grid(const ScratchFolder& scratch, const std::string& most = "70") {
  return recording(folder_02 + "json_w64") + " " + recording(folder_02 + "plain_w64") + " " +
         scratch.file("s.yaml", "format: kv-suite/1\ntitle: t\nworkloads:\n  - " + recording(folder_02 + "json_w64") +
                                    "\n  - " + recording(folder_02 + "stop_w64") +
                                    "\npolicies: [crop, discard]\ndepth: plan\nbudgets:\n"
                                    "  - {policy: crop, metric: tokens_evaluated, max: " +
                                    most +
                                    "}\n  - {policy: discard, metric: tokens_evaluated, against: crop, min: 1}\n");
}

std::string shards_of(const ScratchFolder& scratch, const std::string& arguments, int count, const std::string& stem) {
  std::string paths;
  for (int i = 1; i <= count; ++i) {
    const std::string path = scratch.path(stem + std::to_string(i) + ".json");
    const auto finished =
        kvreplay("run " + arguments + " --shard " + std::to_string(i) + "/" + std::to_string(count) + " -o " + path);
    INFO(finished.err);
    REQUIRE(finished.exit_code <= 1);
    paths = path + " " + paths;  // any order will do
  }
  return paths;
}

// The text with its provenance left out.
std::string without_provenance(const std::string& text) {
  const std::size_t begin = text.find("\n \"provenance\": "), end = text.find('\n', begin + 1);
  REQUIRE(begin != std::string::npos);
  return text.substr(0, begin) + text.substr(end);
}

}  // namespace

TEST_CASE("merged shards equal the unsharded run byte for byte, whatever their number") {
  const ScratchFolder scratch;
  const std::string arguments = "--depth plan --repetitions 2 " + grid(scratch);
  REQUIRE(kvreplay("run " + arguments + " -o " + scratch.path("whole.json")).exit_code == 0);
  const std::string whole = content_of(scratch.path("whole.json"));
  REQUIRE(json::parse(whole)["results"].size() == 14);
  for (const int count : {1, 3, 16}) {  // 16: two shards have no cell
    INFO(count);
    const std::string paths = shards_of(scratch, arguments, count, "part" + std::to_string(count) + "-");
    const auto finished = kvreplay("merge " + paths + " -o " + scratch.path("merged.json"));
    INFO(finished.err);
    CHECK(finished.exit_code == 0);
    const std::string merged = content_of(scratch.path("merged.json"));
    CHECK(without_provenance(merged) == without_provenance(whole));
    CHECK(json::parse(merged)["provenance"]["shards"] == std::to_string(count));
  }
}

TEST_CASE("a shard holds every n-th cell and says which, and leaves the other cells' budgets unjudged") {
  const ScratchFolder scratch;
  const auto finished = kvreplay("run --depth plan --shard 2/4 -o " + scratch.path("a.json") + " " + grid(scratch));
  CHECK(finished.exit_code == 0);
  CHECK_THAT(finished.err, Contains("shard 2 of 4: 4 of 14 cells"));
  const json file = json::parse(content_of(scratch.path("a.json")));
  CHECK(file["shard"] == json{{"index", 2}, {"count", 4}, {"cells", 14}});
  std::vector<std::string> specs;
  for (const json& result : file["results"]) specs.push_back(result["policy"]["spec"]);
  // Cells 1, 5, 9 and 13 of: discard crop reset doubling fixed, twice; crop discard, twice.
  CHECK(specs == std::vector<std::string>{"crop", "discard", "fixed", "discard"});
  CHECK(file["budgets"][0]["verdict"] == "not_judged");
  CHECK(file["budgets"][0]["reason"] == "not run here");
}

TEST_CASE("a budget broken across shards breaks the merge, which is written all the same") {
  const ScratchFolder scratch;
  const std::string paths = shards_of(scratch, "--depth plan " + grid(scratch, "69"), 2, "part");
  const auto finished = kvreplay("merge " + paths + " -o " + scratch.path("merged.json"));
  CHECK(finished.exit_code == 1);
  CHECK(json::parse(content_of(scratch.path("merged.json")))["budgets"][0]["verdict"] == "broken");
  CHECK_THAT(kvreplay("merge " + paths).out, Contains("1 of 4 budgets broken"));
}

TEST_CASE("gaps, overlaps and unfinished shards are refused by name with exit code 2") {
  const ScratchFolder scratch;
  const std::string arguments = "--depth plan " + grid(scratch);
  shards_of(scratch, arguments, 3, "p");
  const std::string one = scratch.path("p1.json"), two = scratch.path("p2.json"), three = scratch.path("p3.json");
  const std::string copy = scratch.file("copy.json", content_of(two));
  REQUIRE(kvreplay("run " + arguments + " -o " + scratch.path("whole.json")).exit_code == 0);
  json cut = json::parse(content_of(three)), odd = cut, huge = cut, stopped = cut;
  stopped["config"]["interrupted"] = "yes";
  cut["results"].erase(1);
  odd["shard"]["index"] = 4;
  huge["shard"]["count"] = 9'000'000'000'000'000'000;
  const std::vector<std::pair<std::string, std::string>> wrong{
      {one, "of 3 shards 2 are missing: 2, 3"},
      {one + " " + three, "of 3 shards 1 is missing: 2"},
      {one + " " + two + " " + three + " " + copy, "copy.json: is shard 2 of 3, as "},
      {one + " " + two + " " + scratch.file("cut.json", cut.dump()), "cut.json: holds 3 of its 4 cells"},
      {one + " " + two + " " + scratch.file("odd.json", odd.dump()),
       "odd.json: /shard/index: must be at most 3, the count, not 4"},
      {one + " " + two + " " + scratch.file("stopped.json", stopped.dump()), "stopped.json: was interrupted"},
      {scratch.file("huge.json", huge.dump()), "huge.json: /shard"},
      {one + " " + two + " " + scratch.path("whole.json"), "whole.json: is not the result of a shard"},
      {one + " " + one, "given twice"},
      {one + " " + scratch.file("empty.json", ""), "empty.json: empty"},
      {one + " " + scratch.path("gone.json"), "gone.json"},
      {"", "RESULT"}};
  const std::string target = scratch.file("old.json", "old");
  for (const auto& [files, says] : wrong) {
    const auto finished = kvreplay("merge " + files + " -o " + target);
    INFO(files);
    CHECK(finished.exit_code == 2);
    CHECK_THAT(finished.err, Contains(says));
    CHECK(content_of(target) == "old");
  }
  CHECK_THAT(kvreplay("merge " + one + " " + two + " " + three + " -o " + one).err, Contains("would replace"));
  CHECK_THAT(kvreplay("report " + one + " " + two).err, Contains("'kvreplay merge' joins shards"));
  CHECK(kvreplay("report " + one).exit_code == 0);
}

TEST_CASE("shards of different runs are refused with exit code 4 and the field that differs") {
  const ScratchFolder scratch;
  const std::string arguments = "--depth plan " + grid(scratch);
  shards_of(scratch, arguments, 2, "p");
  const std::string one = scratch.path("p1.json");
  const json two = json::parse(content_of(scratch.path("p2.json")));
  const auto changed = [&](const std::string& pointer, const json& value) {
    json document = two;
    document[json::json_pointer(pointer)] = value;
    return scratch.file("changed.json", document.dump());
  };
  std::vector<std::pair<std::string, std::string>> mixed{{"/config/threads", "config/threads"},
                                                         {"/config/new", "config/new"},
                                                         {"/provenance/git_commit", "provenance/git_commit"},
                                                         {"/results/0/workload/sha256", "workload/sha256 of"},
                                                         {"/results/0/model/weights", "model of"}};
  for (const auto& [pointer, says] : mixed) {
    const auto finished = kvreplay("merge " + one + " " + changed(pointer, "other"));
    INFO(pointer);
    CHECK(finished.exit_code == 4);
    CHECK_THAT(finished.err, Contains(says) && Contains("p1.json") && Contains("changed.json") && Contains("other"));
    CHECK(finished.out.empty());
  }
  CHECK_THAT(kvreplay("merge " + one + " " + changed("/budgets/0/max", 71)).err, Contains("budgets/0"));
  CHECK_THAT(kvreplay("merge " + one + " " + changed("/shard/count", 3)).err, Contains("shard/count"));
  CHECK_THAT(kvreplay("merge " + one + " " + changed("/results/0/workload/path", "x.yaml")).err,
             Contains("order of workloads"));
  // A repetition more is another configuration.
  shards_of(scratch, "--repetitions 2 " + arguments, 2, "q");
  const auto other = kvreplay("merge " + one + " " + scratch.path("q2.json"));
  CHECK(other.exit_code == 4);
  CHECK_THAT(other.err, Contains("config/repetitions"));
}

TEST_CASE("the shard is read from the engine around, said on stderr, and only when asked") {
  const std::string run = "run --depth plan " + recording(folder_02 + "json_w64") + " --shard ";
  const std::vector<std::tuple<std::string, std::string, std::string>> engines{
      {"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=4", "auto",
       "--shard 3/4 from SLURM_ARRAY_TASK_ID"},
      {"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=4", "auto", "--shard 1/4"},
      {"JOB_COMPLETION_INDEX=0", "auto/5", "--shard 1/5 from JOB_COMPLETION_INDEX"},
      {"PARALLEL_SEQ=5", "auto/5", "--shard 5/5 from PARALLEL_SEQ"},
      {"CI_NODE_INDEX=2 CI_NODE_TOTAL=3", "auto", "--shard 2/3 from CI_NODE_INDEX"}};
  for (const auto& [environment, shard, says] : engines) {
    const auto finished = kvreplay(run + shard, environment);
    INFO(environment);
    CHECK(finished.exit_code == 0);
    CHECK_THAT(finished.err, Contains(says));
  }
  const auto ambient =
      kvreplay("run --depth plan " + recording(folder_02 + "json_w64"), "CI_NODE_INDEX=2 CI_NODE_TOTAL=3");
  CHECK_THAT(ambient.out, Contains("5 of 5 runs"));
  CHECK_THAT(kvreplay(run + "1/2", "CI_NODE_INDEX=2 CI_NODE_TOTAL=3").err, Contains("shard 1 of 2"));
}

TEST_CASE("a shard that cannot be is refused") {
  const std::string run = "run --depth plan " + recording(folder_02 + "json_w64") + " --shard ";
  const std::vector<std::tuple<std::string, std::string, std::string>> wrong{
      {"", "0/3", "from 1"},
      {"", "4/3", "--shard"},
      {"", "1", "I/N, auto or auto/N"},
      {"", "1/0", "--shard"},
      {"", "1/2/3", "--shard"},
      {"", "a/3", "--shard"},
      {"", "1/99999999999999999999", "--shard"},
      {"", "auto", "none of SLURM_ARRAY_TASK_ID"},
      {"PARALLEL_SEQ=1", "auto", "say --shard auto/N"},
      {"PARALLEL_SEQ=6", "auto/5", "6 of 5"},
      {"PARALLEL_SEQ=1 CI_NODE_INDEX=1 CI_NODE_TOTAL=2", "auto", "both set"},
      {"CI_NODE_INDEX=1 CI_NODE_TOTAL=2", "auto/3", "CI_NODE_TOTAL says 2"},
      {"CI_NODE_INDEX=x CI_NODE_TOTAL=2", "auto", "CI_NODE_INDEX"},
      {"SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=3 SLURM_ARRAY_TASK_COUNT=2", "auto",
       "no whole number of steps"}};
  for (const auto& [environment, shard, says] : wrong) {
    const auto finished = kvreplay(run + shard, environment);
    INFO(shard);
    CHECK(finished.exit_code == 2);
    CHECK_THAT(finished.err, Contains(says));
  }
}

}  // namespace kvreplay::cli
