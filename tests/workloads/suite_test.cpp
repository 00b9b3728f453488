// Suites: what a file means, and how a wrong one is refused.
#include "workloads/suite.hpp"
#include "tests/catch.hpp"

#include <filesystem>

using namespace kvreplay::workloads;

namespace {

using Catch::Matchers::Contains;

// Seen as if it lay in workloads/.
const std::string place = std::string(KVREPLAY_SOURCE_DIR) + "/workloads/s.yaml";

// Line 5 is the first of `rest`.
std::string suite_with(const std::string& rest, const std::string& workload = "constructed/edge_cases.yaml") {
  return "format: kv-suite/1\ntitle: t\nworkloads:\n  - " + workload + "\n" + rest;
}

std::string refusal(const std::string& text) {
  try {
    read_suite_text(text, place);
  } catch (const InputError& error) {
    const std::string what = error.what();
    return what.starts_with(place) ? what.substr(place.size()) : what;
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a suite is read with all it says") {
  const Suite suite = read_suite_text(
      suite_with("policies: [crop, 'fixed:capacity=64']\nmodel: tiny-gemma2\ndepth: plan\nrepetitions: 3\nbudgets:\n"
                 "  - {workload: edge-cases, policy: crop, metric: resets, max: 0}\n"
                 "  - {metric: tokens_evaluated, over: tokens_floor_single, min: 1, max: 2.5}\n"),
      place);
  CHECK(suite.title == "t");
  REQUIRE(suite.workloads.size() == 1);
  CHECK(suite.workloads[0].relative == "constructed/edge_cases.yaml");
  CHECK(std::filesystem::exists(suite.workloads[0].path));
  CHECK(suite.policies.at(1).text == "fixed:capacity=64");
  CHECK(suite.repetitions == Count{3});
  REQUIRE(suite.budgets.size() == 2);
  CHECK(suite.budgets[0].mark == SourceMark{10, 5});
  CHECK((suite.budgets[0].most == Count{0} && !suite.budgets[0].least && !suite.budgets[0].is_ratio()));
  CHECK((suite.budgets[1].most_ratio == 2.5 && suite.budgets[1].least_ratio == 1.0 && !suite.budgets[1].workload));
}

TEST_CASE("globs give every file once, sorted, and stop at folders") {
  const Suite suite = read_suite_text(suite_with("  - constructed/*.yaml\n  - recorded/*/json_w64.yaml\n"), place);
  std::vector<std::string> names;
  for (const SuiteWorkload& workload : suite.workloads) names.push_back(workload.relative);
  CHECK(names == std::vector<std::string>{"constructed/edge_cases.yaml", "constructed/window_crossing.yaml",
                                          "recorded/guidance-0.2.1_transformers-4.47.1/json_w64.yaml",
                                          "recorded/guidance-0.3.1_transformers-4.57.6/json_w64.yaml"});
  CHECK(names_workload("recorded/*/json_*.yaml", suite.workloads[3], "json_w64"));
  CHECK_FALSE(names_workload("recorded/json_w64.yaml", suite.workloads[3], "json_w64"));
  CHECK(names_workload("json_w64", suite.workloads[3], "json_w64"));
}

TEST_CASE("a wrong suite is refused with its line, column, path and the cure") {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"", ": no suite in the file: it is empty"},
      {"# nothing\n", ": no suite in the file: it is empty"},
      {"format: kv-suite/2\n", ":1:9: format: expected the format kv-suite/1, found 'kv-suite/2'"},
      {"title: t\n", ":1:1: missing key 'format'"},
      {"format: kv-suite/1\ntitle: t\n", "missing key 'workloads'"},
      {"format: kv-suite/1\nworkloads: []\n", "missing key 'title'"},
      {"format: kv-suite/1\ntitle: t\nworkloads: []\n", ":3:12: workloads: expected at least one workload"},
      {suite_with("polcies: [crop]\n"), ":5:1: polcies: unknown key 'polcies'"},
      {suite_with("policies: crop\n"), ":5:11: policies: expected a list"},
      {suite_with("policies: []\n"), "expected at least one policy"},
      {suite_with("policies: [crop, crop]\n"), ":5:18: policies[1]: policy 'crop' is in the list twice"},
      {suite_with("repetitions: 0\n"), ":5:14: repetitions: expected a whole number from 1"},
      {suite_with("repetitions: 010\n"), "without leading zeros"},
      {suite_with("title: again\n"), "duplicate key 'title'"},
      {suite_with("  - constructed/edge_cases.yaml\n"),
       ":5:5: workloads[1]: 'constructed/edge_cases.yaml' is in the list twice"},
      {suite_with("", "gone.yaml"), ":4:5: workloads[0]: there is no file 'gone.yaml'"},
      {suite_with("", "constructed"), "there is no file 'constructed'"},
      {suite_with("", "gone/*.yaml"), "no file fits 'gone/*.yaml'"},
      {suite_with("", "\"a\\0b\""), ":4:5: workloads[0]: expected text without control characters"},
      {suite_with("budgets: {metric: resets}\n"), "expected a list of budgets"},
      {suite_with("budgets:\n  - {metric: resets}\n"), ":6:5: budgets[0]: expected a bound: max, min or both"},
      {suite_with("budgets:\n  - {max: 1}\n"), ":6:5: budgets[0]: missing key 'metric'"},
      {suite_with("budgets:\n  - {metric: resets, max: 1.5}\n"), ":6:27: budgets[0].max: expected a whole number"},
      {suite_with("budgets:\n  - {metric: resets, max: -1}\n"), "expected a whole number of at least 0"},
      {suite_with("budgets:\n  - {metric: resets, max: 99999999999999999999}\n"), "expected a whole number"},
      {suite_with("budgets:\n  - {metric: resets, over: x, max: .nan}\n"), "expected a decimal number"},
      {suite_with("budgets:\n  - {metric: resets, over: x, max: 1e999}\n"), "found '1e999' (too large"},
      {suite_with("budgets:\n  - {metric: resets, max: 99999999999999999999}\n"),
       "found '99999999999999999999' (too large: numbers have 63 bits)"},
      {suite_with("budgets:\n  - {metric: resets, min: 2, max: 1}\n"), "min is greater than max"},
      {suite_with("budgets:\n  - {metric: resets, over: a, against: b, max: 1}\n"), "exclude each other"},
      {suite_with("budgets:\n  - {metric: resets, maximum: 1}\n"), "unknown key 'maximum'"},
      {suite_with("x-a: &b {c: 1}\n"), "anchor"},
      {suite_with("---\nformat: kv-suite/1\n"), "document"},
      {std::string(100'000, '['), "nest"}};
  for (const auto& [text, says] : faults) {
    INFO(text.substr(0, 200));
    CHECK_THAT(refusal(text), Contains(says));
  }
}

TEST_CASE("suites are told from workloads by their format, wherever it stands") {
  CHECK(names_suite("title: t\nformat: kv-suite/1\n"));
  CHECK(names_suite("{title: t, format: 'kv-suite/9'}"));
  CHECK(names_suite("format: kv-suite/1\ntitle: [\n"));
  CHECK_FALSE(names_suite("format: kv-workload/1\nmeta: {title: 'for kv-suite/1'}\n"));
  CHECK_FALSE(names_suite("# format: kv-suite/1"));
  CHECK_FALSE(names_suite("kv-suite/1"));
  CHECK_FALSE(names_suite(""));
  CHECK_FALSE(is_suite_file("/nowhere/at/all"));
}
