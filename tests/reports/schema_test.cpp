#include "reports/metrics.hpp"
#include "reports/result_json.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/json_schema.hpp"
#include "tests/reports/outside.hpp"

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;

const std::string schema_path = KVREPLAY_SOURCE_DIR "/reports/schema/kvreplay.result-1.schema.json";

TEST_CASE("the schema demands every exact metric, in the order of the table") {
  const json schema = json::parse(tests::content_of(schema_path));
  std::vector<std::string> names;
  for (const Metric& metric : exact_metrics()) names.emplace_back(metric.name);
  CHECK(schema["$defs"]["counters"]["required"].get<std::vector<std::string>>() == names);
  CHECK(schema["properties"]["schema"]["const"] == std::string(result_schema));
}

TEST_CASE("written results are valid by the schema") {
  if (!tests::python_has("jsonschema", "python3-jsonschema")) return;
  ResultFile plan;
  plan.results = {tests::plan_run("w", "crop", 0)};
  ResultFile shard = plan;
  shard.shard = Shard{2, 3, 15};
  const auto verdicts = tests::validated(
      schema_path, {write_result_json(tests::example_file()), write_result_json({}), write_result_json(plan),
                    write_result_json(tests::suite_file()), write_result_json(shard)});
  for (const std::string& verdict : verdicts) CHECK(verdict == "ok");
}

TEST_CASE("the schema refuses what breaks a promise") {
  if (!tests::python_has("jsonschema", "python3-jsonschema")) return;
  const json good = json::parse(write_result_json(tests::example_file()));
  std::vector<std::string> broken;
  const auto with = [&](const std::string& pointer, const json& value) {
    json document = good;
    document[json::json_pointer(pointer)] = value;
    broken.push_back(document.dump());
  };
  const auto without = [&](const std::string& parent, const std::string& key) {
    json document = good;
    REQUIRE(document[json::json_pointer(parent)].erase(key) == 1);
    broken.push_back(document.dump());
  };
  with("/schema", "kvreplay.result/2");
  with("/results/0/counters/resets", "3");
  with("/results/0/counters/resets", 3.5);
  with("/results/0/counters/new_metric", nullptr);
  with("/results/0/outcome/kind", "fine");
  with("/results/0/depth", "deep");
  with("/results/0/latency/evaluation_ns/p50", nullptr);  // n is 9
  with("/results/0/timeline/0/exact", "no");
  with("/results/0/repetitions/0/evaluation_ns/0", -1);
  without("/results/0/counters", "tokens_evaluated");
  without("/results/0", "outcome");
  without("/results/0/workload", "sha256");
  without("", "provenance");
  for (const std::string& verdict : tests::validated(schema_path, broken)) CHECK(verdict != "ok");
  json extended = good;
  extended["results"][0]["counters"]["new_metric"] = 7;
  extended["results"][0]["new_field"] = "fields may be added";
  CHECK(tests::validated(schema_path, {extended.dump()}).front() == "ok");
}

}  // namespace
}  // namespace kvreplay::reports
