// Comparisons as JSON keep what their committed schema promises.

#include "reports/compare/compare.hpp"
#include "reports/compare/writers.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/json_schema.hpp"
#include "tests/reports/noisy.hpp"
#include "tests/reports/outside.hpp"

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;
using tests::compared;
using tests::noisy_file;

const std::string schema_path = KVREPLAY_SOURCE_DIR "/reports/schema/kvreplay.comparison-1.schema.json";

// Times moved, a counter moved, an outcome got worse, and a threshold is broken.
std::string eventful() {
  const ResultFile before = noisy_file({});
  ResultFile now = noisy_file({.seed = 2, .factor = 2});
  tests::set_counter(now.results[1], "reallocations", 5);
  now.results[0].outcome.kind = "rewind_refused";
  now.results[0].outcome.evaluation = 3;
  ComparisonSettings settings;
  settings.thresholds = {parse_threshold("latency.total_ns:median:10%")};
  return write_comparison_json(
      compare(side_of({{"before.json", before}}, "baseline"), side_of({{"now.json", now}}, "candidate"), settings));
}

}  // namespace

TEST_CASE("written comparisons are valid by their schema") {
  if (!tests::python_has("jsonschema", "python3-jsonschema")) return;
  const ResultFile timed = noisy_file({});
  ResultFile planned = noisy_file({.repetitions = 0}), hostile = timed, other_build = timed;
  for (RunResult& run : planned.results) run.depth = "plan";
  for (RunResult& run : hostile.results) run.workload.path = run.workload.id = tests::hostile_name();
  other_build.provenance.entries.emplace_back("git_dirty", tests::hostile_name());
  const auto text = [](const ResultFile& before, const ResultFile& now) {
    return write_comparison_json(compared(before, now));
  };
  const auto verdicts = tests::validated(
      schema_path, {eventful(), text(timed, timed), text(planned, planned), text(timed, planned),
                    text(hostile, hostile), text(timed, other_build), text(timed, noisy_file({.repetitions = 1})),
                    text(tests::example_file(), tests::example_file())});
  for (const std::string& verdict : verdicts) CHECK(verdict == "ok");
}

TEST_CASE("the schema of comparisons refuses what breaks a promise") {
  if (!tests::python_has("jsonschema", "python3-jsonschema")) return;
  const json good = json::parse(eventful());
  CHECK(good["schema"] == json::parse(tests::content_of(schema_path))["properties"]["schema"]["const"]);
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
  with("/schema", "kvreplay.comparison/2");
  with("/cells/0/rows/0/verdict", "fine");
  with("/cells/0/rows/0/kind", "guess");
  with("/cells/0/rows/0/baseline", "3");
  with("/counts/regressed/counters", -1);
  with("/counts/regressed/thresholds", -1);
  with("/baseline/files", json::array());
  with("/rules/alpha", 2);
  for (const char* key : {"verdict", "counts", "notes", "cells", "times_withheld"}) without("", key);
  without("/counts", "inconclusive");
  without("/cells/1/rows/0", "note");
  for (std::size_t i = 0; i < good["cells"][1]["rows"].size(); ++i) {
    if (!good["cells"][1]["rows"][i].contains("p")) continue;
    without("/cells/1/rows/" + std::to_string(i), "p");
    with("/cells/1/rows/" + std::to_string(i) + "/interval", json{1});
    break;
  }
  REQUIRE(broken.size() == 17);
  for (const std::string& verdict : tests::validated(schema_path, broken)) CHECK(verdict != "ok");
  json extended = good;
  extended["cells"][0]["new_field"] = "fields may be added";
  CHECK(tests::validated(schema_path, {extended.dump()}).front() == "ok");
}

}  // namespace kvreplay::reports
