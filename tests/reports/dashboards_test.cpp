#include "reports/bencher.hpp"
#include "reports/github_action.hpp"
#include "reports/key_numbers.hpp"

#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/json_schema.hpp"
#include "tests/reports/outside.hpp"

#include <set>

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;

// Three repetitions of 1,030 us and 0, 3 and 6 us more: three evaluations that take 0, 1 and 2 us more each.
ResultFile timed_file() {
  ResultFile file;
  file.results = {tests::timed_run("w", "crop", 3), tests::plan_run("w", "discard", 710),
                  tests::incomplete_run("w", "fixed:capacity=64")};
  return file;
}

}  // namespace

TEST_CASE("github-action-benchmark gets name, unit, value and range") {
  const json list = json::parse(write_github_action(timed_file()));
  REQUIRE(list.size() == 8 + 7);
  CHECK(list[0] == json{{"name", "w/crop: tokens_evaluated"},
                        {"unit", "tokens"},
                        {"value", 20},
                        {"extra", "tiny-gemma2, depth compute"}});
  CHECK(list[7]["name"] == "w/crop: latency.total_ns");
  CHECK(list[7]["unit"] == "ns");
  CHECK(list[7]["value"] == 1'033'000);
  CHECK(list[7]["range"] == "1030000 - 1036000");
  CHECK(list[8]["value"] == 710);
}

TEST_CASE("Bencher gets measures under slugs, with bounds where there are repetitions") {
  const json all = json::parse(write_bencher(timed_file()));
  REQUIRE(all.size() == 2);  // the incomplete run is left out
  CHECK(all["w/crop"]["tokens-evaluated"] == json{{"value", 20}});
  CHECK(all["w/crop"]["latency"] == json{{"value", 1'033'000}, {"lower_value", 1'030'000}, {"upper_value", 1'036'000}});
  CHECK_FALSE(all["w/discard"].contains("latency"));
  for (const auto& [slug, measure] : all["w/crop"].items()) {
    CHECK(slug.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos);
    CHECK(measure["value"].is_number());
  }
}

TEST_CASE("hostile and repeated names stay whole JSON, apart and short") {
  ResultFile file = tests::example_file();
  file.results.push_back(file.results.back());
  const std::vector<std::string> names = dashboard_names(file);
  CHECK(std::set(names.begin(), names.end()).size() == names.size());
  for (const std::string& name : names) CHECK(name.size() <= 1'000);
  CHECK(json::parse(write_bencher(file)).size() == 4);
  CHECK(json::parse(write_github_action(file)).size() == 8 + 8 + 7 + 7);
  CHECK(json::parse(write_github_action({})) == json::array());
  CHECK(json::parse(write_bencher({})) == json::object());
}

// The two schemas are written from the documentation of their programs: Bencher's reference of its metric format (a
// slug and a name of a measure are at most 64 characters, a benchmark's name 1,024), and the type BenchmarkResult that
// github-action-benchmark reads with customSmallerIsBetter. Closed to unknown members, which neither asks for.
TEST_CASE("dashboard files are valid by schemas made from what their programs document") {
  if (!tests::python_has("jsonschema", "python3-jsonschema")) return;
  const tests::TemporaryFolder folder;
  const std::string action = folder.file("action.schema.json", R"({
    "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "array", "items": {
      "type": "object", "required": ["name", "value", "unit"], "additionalProperties": false, "properties": {
        "name": {"type": "string", "minLength": 1}, "value": {"type": "number"}, "unit": {"type": "string"},
        "range": {"type": "string"}, "extra": {"type": "string"}}}})");
  const std::string bencher = folder.file("bencher.schema.json", R"({
    "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
    "propertyNames": {"minLength": 1, "maxLength": 1024}, "additionalProperties": {
      "type": "object", "minProperties": 1, "propertyNames": {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
      "additionalProperties": {
        "type": "object", "required": ["value"], "additionalProperties": false, "properties": {
          "value": {"type": "number"}, "lower_value": {"type": "number"}, "upper_value": {"type": "number"}}}}})");
  std::vector<std::string> actions, benchers;
  for (const ResultFile& file : {timed_file(), tests::example_file(), tests::suite_file(), ResultFile{}}) {
    actions.push_back(write_github_action(file));
    benchers.push_back(write_bencher(file));
  }
  for (const std::string& verdict : tests::validated(action, actions)) CHECK(verdict == "ok");
  for (const std::string& verdict : tests::validated(bencher, benchers)) CHECK(verdict == "ok");
  const auto refused_action = tests::validated(
      action, {R"({})", R"([{"name": "a", "unit": "ns"}])", R"([{"name": "a", "unit": "ns", "value": "1"}])"});
  for (const std::string& verdict : refused_action) CHECK(verdict != "ok");
  const auto refused_bencher = tests::validated(
      bencher, {R"([])", R"({"a": {"Latency ns": {"value": 1}}})", R"({"a": {"latency": {"value": null}}})"});
  for (const std::string& verdict : refused_bencher) CHECK(verdict != "ok");
}

}  // namespace kvreplay::reports
