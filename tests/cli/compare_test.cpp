// compare as a user meets it: verdicts, refusals and their exit codes, outputs.

#include "tests/catch.hpp"
#include "tests/cli/made_results.hpp"
#include "tests/cli/program.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using testing::content_of;
using testing::Finished;
using testing::kvreplay;
using testing::result_with;
using testing::ScratchFolder;
using testing::steady;
using testing::unchanged;

}  // namespace

TEST_CASE("compare passes equal results and fails a counter that grew by one") {
  const ScratchFolder scratch;
  const std::string before = result_with(scratch, "before.json", unchanged);
  json file = json::parse(content_of(before));
  file["results"][0]["counters"]["reallocations"] = file["results"][0]["counters"]["reallocations"].get<int>() + 1;
  const std::string now = scratch.file("now.json", file.dump());
  CHECK(kvreplay("compare " + before + " " + before).exit_code == 0);
  const Finished worse = kvreplay("compare " + before + " " + now);
  CHECK(worse.exit_code == 1);
  CHECK_THAT(worse.out, Contains("1 counter regressed") && Contains("reallocations") && Contains("before.json"));
  CHECK(kvreplay("compare " + now + " " + before).exit_code == 0);  // an improvement
  CHECK(kvreplay("compare " + now + " " + before + " --fail-on changed").exit_code == 1);
  CHECK(kvreplay("compare " + before + " " + now + " --fail-on nothing").exit_code == 0);
  CHECK(kvreplay("compare --baseline " + before + " " + now).exit_code == 1);
  CHECK(kvreplay("compare --candidate " + now + " " + before).exit_code == 1);
}

TEST_CASE("times twice as long are reported, and fail where that was asked") {
  const ScratchFolder scratch;
  const std::string before = result_with(scratch, "before.json", steady);
  json file = json::parse(content_of(before));
  for (json& run : file["results"]) {
    for (json& repetition : run["repetitions"]) {
      repetition["latency"]["total_ns"] = 2 * repetition["latency"]["total_ns"].get<std::int64_t>();
    }
  }
  const std::string now = scratch.file("now.json", file.dump());
  const Finished finished = kvreplay("compare " + before + " " + now);
  CHECK(finished.exit_code == 0);
  CHECK_THAT(finished.out, Contains("2 times regressed") && Contains("no counter moved"));
  CHECK(kvreplay("compare " + before + " " + now + " --fail-on regressed").exit_code == 1);
  CHECK(kvreplay("compare " + before + " " + now + " --threshold latency.total_ns:median:10%").exit_code == 1);
  CHECK(kvreplay("compare " + before + " " + now + " --threshold latency.total_ns:max:30ms").exit_code == 0);
  file["provenance"]["threads"] = "77";
  const std::string other = scratch.file("other.json", file.dump());
  const Finished withheld = kvreplay("compare " + before + " " + other + " --fail-on regressed");
  CHECK(withheld.exit_code == 0);
  CHECK_THAT(withheld.out, Contains("times are not compared, counters only (threads"));
  CHECK(kvreplay("compare " + before + " " + other + " --fail-on inconclusive").exit_code == 5);
  CHECK(kvreplay("compare " + before + " " + other + " --fail-on regressed,inconclusive").exit_code == 5);
  CHECK(kvreplay("compare " + before + " " + other + " --fail-on inconclusive --fail-on regressed").exit_code == 5);
}

TEST_CASE("a threshold replaces the exact gate of its counter") {
  const ScratchFolder scratch;
  const std::string before = result_with(scratch, "before.json", unchanged);
  json file = json::parse(content_of(before));
  for (json& run : file["results"])
    run["counters"]["tokens_evaluated"] = run["counters"]["tokens_evaluated"].get<int>() + 2;
  const std::string now = scratch.file("now.json", file.dump());
  const std::string both = "compare " + before + " " + now;
  CHECK(kvreplay(both).exit_code == 1);
  CHECK(kvreplay(both + " --threshold tokens_evaluated:max:+2").exit_code == 0);
  CHECK(kvreplay(both + " --threshold tokens_evaluated:max:+1").exit_code == 1);
  CHECK(kvreplay(both + " --threshold tokens_evaluated:max:5x").exit_code == 0);
  const Finished typo = kvreplay(both + " --threshold tokens_evaluatd:max:1");
  CHECK(typo.exit_code == 2);
  CHECK_THAT(typo.err, Contains("did you mean 'tokens_evaluated'"));
  for (const std::string bad : {"tokens_evaluated", "tokens_evaluated:avg:1", "tokens_evaluated:max:", "a:b:c",
                                "tokens_evaluated:max:1ms", "tokens_evaluated:max:-1", "tokens_evaluated:max:nan",
                                "tokens_evaluated:max:0.5x", "latency.total_ns:max:1KiB"}) {
    INFO(bad);
    CHECK(kvreplay(both + " --threshold " + bad).exit_code == 2);
  }
  const Finished absent = kvreplay(both + " --threshold latency.parts_ns.mlp:max:5%");
  CHECK(absent.exit_code == 4);
  CHECK_THAT(absent.err, Contains("no run has latency.parts_ns.mlp on both sides"));
}

TEST_CASE("a missing or empty baseline never passes and says how to make one") {
  const ScratchFolder scratch;
  const std::string now = result_with(scratch, "now.json", unchanged);
  for (const std::string& baseline : {scratch.path("none.json"), scratch.file("empty.json", "")}) {
    const Finished finished = kvreplay("compare " + baseline + " " + now);
    INFO(finished.err);
    CHECK(finished.exit_code == 4);
    CHECK_THAT(finished.err, Contains("baseline " + baseline) && Contains("cp "));
  }
  json file = json::parse(content_of(now));
  file["results"] = json::array();
  const std::string no_runs = scratch.file("no_runs.json", file.dump());
  CHECK(kvreplay("compare " + no_runs + " " + now).exit_code == 4);
  CHECK(kvreplay("compare " + now + " " + no_runs).exit_code == 4);
  CHECK(kvreplay("compare " + now + " " + scratch.path("none.json")).exit_code == 2);
}

TEST_CASE("results that must not be compared are refused by the field") {
  const ScratchFolder scratch;
  const std::string before = result_with(scratch, "before.json", unchanged);
  const json file = json::parse(content_of(before));
  const auto refused = [&](const std::string& field, auto change) {
    INFO(field);
    json other = file;
    change(other);
    const Finished finished = kvreplay("compare " + before + " " + scratch.file("other.json", other.dump()));
    CHECK(finished.exit_code == 4);
    CHECK_THAT(finished.err, Contains(field));
  };
  refused("workload.sha256: ", [](json& f) { f["results"][0]["workload"]["sha256"] = std::string(64, 'b'); });
  refused("model.sliding_window: 64, now 65", [](json& f) { f["results"][0]["model"]["sliding_window"] = 65; });
  refused("model.weights", [](json& f) { f["results"][1]["model"]["weights"] = "others"; });
  refused("policy.options: capacity=512, now capacity=513", [](json& f) {
    f["results"][1]["policy"]["options"]["capacity"] = "513";
    f["results"][1]["policy"]["spec"] = "fixed:capacity=513";
  });
  refused("no run of this policy", [](json& f) { f["results"].erase(1); });
  refused("config.truncate", [](json& f) { f["config"]["truncate"] = "eager"; });
  json fewer = file;
  fewer["results"].erase(1);
  const std::string subset = scratch.file("subset.json", fewer.dump());
  const Finished common = kvreplay("compare --only-common " + before + " " + subset);
  CHECK(common.exit_code == 0);
  CHECK_THAT(common.out, Contains("left out"));
  json later = file;  // the reference is of the first run of the baseline that is there twice
  later["results"].erase(0);
  const Finished second =
      kvreplay("compare --only-common " + before + " " + scratch.file("l.json", later.dump()) + " -o -");
  CHECK(json::parse(second.out)["reference"] == "fixed:capacity=512");
  CHECK(kvreplay("compare " + subset + " " + before).exit_code == 0);  // a new policy is no reason to fail
}

TEST_CASE("files that are no results are refused and nothing is written") {
  const ScratchFolder scratch;
  const std::string good = result_with(scratch, "good.json", unchanged);
  const std::string text = content_of(good);
  std::string nan = text;
  nan.replace(nan.find("\"reallocations\":") + 16, 1, "NaN,\"x\":0");
  for (const std::string& bad :
       {scratch.file("cut.json", text.substr(0, text.size() / 2)), scratch.file("foreign.json", "{\"benchmarks\": []}"),
        scratch.file("newer.json", "{\"schema\": \"kvreplay.result/2\"}"), scratch.file("nan.json", nan),
        scratch.file("blank.json", " \n"), scratch.file("list.json", "[" + std::string(1 << 20, ' ') + "]"),
        scratch.path("")}) {
    INFO(bad);
    const std::string out = scratch.path("out.md");
    const Finished as_candidate = kvreplay("compare " + good + " " + bad + " -o " + out);
    CHECK(as_candidate.exit_code == 2);
    CHECK_THAT(as_candidate.err, Contains(bad));
    CHECK(kvreplay("compare " + bad + " " + good + " -o " + out).exit_code == 2);
    CHECK_FALSE(std::filesystem::exists(out));
  }
  json file = json::parse(text);
  file["results"][0]["latency"]["total_ns"] = -5;
  CHECK_THAT(kvreplay("compare " + good + " " + scratch.file("negative.json", file.dump())).err,
             Contains("negative.json: /results/0/latency/total_ns: must be at least 0, not -5"));
  CHECK(kvreplay("compare " + good).exit_code == 2);
  CHECK(kvreplay("compare " + good + " " + good + " " + good).exit_code == 2);
  CHECK(kvreplay("compare " + good + " " + good + " -o " + good).exit_code == 2);
  CHECK(kvreplay("compare " + good + " " + good + " -o page.html").exit_code == 2);
  CHECK(kvreplay("compare " + good + " " + good + " --fail-on regresed").exit_code == 2);
  CHECK(kvreplay("compare " + good + " " + good + " --fail-on regressed,").exit_code == 2);
  CHECK(kvreplay("compare " + good + " " + good + " --fail-on nothing,regressed").exit_code == 2);
  CHECK(kvreplay("compare " + good + " " + good + " --reference nobody").exit_code == 4);
  CHECK(kvreplay("compare " + good + " " + good + " -o md:/dev/full").exit_code == 3);
}

TEST_CASE("compare writes its formats and appends to the step summary") {
  const ScratchFolder scratch;
  const std::string good = result_with(scratch, "good.json", unchanged);
  const std::string summary = scratch.file("summary.md", "before\n");
  std::string outputs;
  for (const std::string end : {"json", "md", "csv", "junit.xml"}) outputs += " -o " + scratch.path("out." + end);
  const Finished finished = kvreplay("compare " + good + " " + good + outputs, "env GITHUB_STEP_SUMMARY=" + summary);
  REQUIRE(finished.exit_code == 0);
  CHECK(json::parse(content_of(scratch.path("out.json")))["schema"] == "kvreplay.comparison/1");
  CHECK(content_of(summary) == "before\n" + content_of(scratch.path("out.md")));
  CHECK_THAT(content_of(scratch.path("out.csv")), Contains("reallocations"));
  CHECK_THAT(content_of(scratch.path("out.junit.xml")), Contains("<testcase"));
  CHECK(kvreplay("compare " + good + " " + good + " -o md:-").out == content_of(scratch.path("out.md")));
  const Finished lost = kvreplay("compare " + good + " " + good, "env GITHUB_STEP_SUMMARY=/nowhere/summary.md");
  CHECK(lost.exit_code == 0);
  CHECK_THAT(lost.err, Contains("/nowhere/summary.md cannot be written"));
}

TEST_CASE("a counter that is gone is a finding") {
  const ScratchFolder scratch;
  const std::string a = result_with(scratch, "a.json", steady);
  json file = json::parse(content_of(a));
  file["results"][0]["counters"].erase("bytes_copied");
  const Finished finished = kvreplay("compare " + a + " " + scratch.file("b.json", file.dump()));
  CHECK(finished.exit_code == 1);
  CHECK_THAT(finished.out, Contains("bytes_copied"));
}

}  // namespace kvreplay::cli
