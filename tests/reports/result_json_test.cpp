#include "reports/result_json.hpp"

#include "reports/metrics.hpp"
#include "reports/text.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;

json written(const ResultFile& file) { return json::parse(write_result_json(file)); }

TEST_CASE("the promised names are where they were promised") {
  const json file = written(tests::example_file());
  CHECK(file["schema"] == "kvreplay.result/1");
  CHECK(file["config"]["command"] == "run");
  CHECK(file["config"]["policy"] == json{"crop", "fixed:capacity=64"});
  CHECK(file["provenance"]["host_name"] == "builder");
  const json& run = file["results"][0];
  CHECK(run["workload"]["id"] == "fewshot");
  CHECK(run["workload"]["path"] == "recorded/fewshot.yaml");
  CHECK(run["workload"]["sha256"].get<std::string>().size() == 64);
  CHECK(run["policy"]["name"] == "crop");
  CHECK(run["policy"]["spec"] == "crop");
  CHECK(run["model"]["profile"] == "tiny-gemma2");
  CHECK(run["depth"] == "compute");
  CHECK(run["outcome"]["kind"] == "completed");
  CHECK(run["counters"]["tokens_evaluated"] == 20);
  CHECK(run["latency"]["total_ns"] == 1'033'000);
  CHECK(run["latency"]["evaluation_ns"]["p50"] == 21'000);
  CHECK(run["latency"]["evaluation_ns"]["p90"] == 1'002'000);  // rank ceil(9 * 0.9) = 9
  CHECK(run["latency"]["evaluation_ns"]["p99"].is_null());
  CHECK(run["repetitions"].size() == 3);
  CHECK(run["timeline"].size() == 2);
  CHECK(run["verification"]["passed"] == true);
}

TEST_CASE("all exact metrics are integers under counters") {
  const json file = written(tests::example_file());
  for (const json& run : file["results"]) {
    for (const Metric& metric : exact_metrics()) {
      INFO(metric.name);
      CHECK(run["counters"][std::string(metric.name)].is_number_integer());
    }
  }
}

TEST_CASE("an incomplete run says where and why") {
  const json outcome = written(tests::example_file())["results"][2]["outcome"];
  CHECK(outcome["kind"] == "capacity_exceeded");
  CHECK(outcome["evaluation"] == 12);
  CHECK(outcome["line"] == 34);
  CHECK(outcome["wanted"] == 65);
  CHECK(outcome["available"] == 64);
}

TEST_CASE("a file without runs, and a run without times, are valid and have no start values") {
  CHECK(written({})["results"].empty());
  ResultFile file;
  file.results = {tests::plan_run("w", "crop", 0)};
  CHECK(written(file)["results"][0]["latency"].is_null());
  // Prefill only: nothing was decoded.
  RunResult prefill = tests::timed_run("w", "crop", 1);
  prefill.evaluation_fed = {18, 2, 2};
  prefill.repetitions[0].latency->inter_token_ns = {};
  file.results = {prefill};
  const json decoded = written(file)["results"][0]["latency"]["inter_token_ns"];
  CHECK(decoded == json{{"n", 0},
                        {"sum", 0},
                        {"min", nullptr},
                        {"p50", nullptr},
                        {"p90", nullptr},
                        {"p99", nullptr},
                        {"max", nullptr}});
}

TEST_CASE("numbers that are none become null") {
  ResultFile file = tests::example_file();
  Verification& verification = *file.results[1].verification;
  verification.max_difference_exact = std::numeric_limits<double>::infinity();
  verification.first_difference->difference = std::numeric_limits<double>::quiet_NaN();
  const std::string text = write_result_json(file);
  for (const char* word : {"nan", "NaN", "inf", "Inf"}) CHECK(text.find(std::string(":") + word) == std::string::npos);
  const json read = json::parse(text)["results"][1]["verification"];
  CHECK(read["max_difference_exact"].is_null());
  CHECK(read["first_difference"]["difference"].is_null());
  CHECK(std::isinf(read_result_json(text, "x").results[1].verification->max_difference_exact));
}

TEST_CASE("the largest integers stay integers") {
  ResultFile file;
  file.results = {tests::plan_run("w", "crop", 1)};
  tests::set_counter(file.results[0], "slack_byte_steps", std::numeric_limits<Count>::max());
  CHECK(write_result_json(file).find("\"slack_byte_steps\":9223372036854775807") != std::string::npos);
  CHECK(counter(read_result_json(write_result_json(file), "x").results[0].counters, "slack_byte_steps") ==
        std::numeric_limits<Count>::max());
}

TEST_CASE("hostile names stay whole and valid") {
  const json run = written(tests::example_file())["results"][3];
  CHECK(run["workload"]["id"].get<std::string>() == valid_utf8(tests::hostile_name()));
  CHECK(run["policy"]["options"]["note"].get<std::string>() == valid_utf8(tests::hostile_name()));
  CHECK_THAT(run["workload"]["id"].get<std::string>(), Catch::EndsWith(" end"));
}

TEST_CASE("what is written is read back: writing it again gives the same bytes") {
  const std::string text = write_result_json(tests::example_file());
  CHECK(write_result_json(read_result_json(text, "x.json")) == text);
}

TEST_CASE("reading gives the records back") {
  const ResultFile file = read_result_json(write_result_json(tests::example_file()), "x.json");
  REQUIRE(file.results.size() == 4);
  CHECK(file.config.size() == 4);
  CHECK(file.config[2].second == "fixed:capacity=64");
  CHECK(file.results[2].outcome.line == 34);
  CHECK(file.results[0].repetitions[2].evaluation_ns == std::vector<Count>{1'002'000, 12'000, 22'000});
  CHECK(file.results[0].repetitions[1].process->cpu_ns == 900'000);
  CHECK(file.results[1].verification->first_difference->where == "logits");
  const Sample& sample = file.results[0].timeline[0];
  CHECK(sample.crop_to == 14);
  CHECK(sample.exact == false);
  CHECK(sample.reserved_sliding_bytes == 22);
  CHECK_FALSE(file.results[0].timeline[1].exact.has_value());
}

TEST_CASE("fields nobody knows yet are ignored") {
  json document = written(tests::example_file());
  document["new"] = {1, 2};
  document["results"][0]["latency"]["p999"] = 1.5;
  document["results"][0]["counters"]["new_metric"] = 7;
  const ResultFile file = read_result_json(document.dump(), "x.json");
  CHECK(counter(file.results[0].counters, "new_metric") == 7);
}

}  // namespace
}  // namespace kvreplay::reports
