#include "reports/perfetto.hpp"

#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;

std::vector<json> of_kind(const json& trace, const std::string& kind) {
  std::vector<json> found;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == kind) found.push_back(event);
  }
  return found;
}

Sample sample_at(Count evaluation) {
  Sample sample = tests::full_sample();
  sample.evaluation = evaluation;
  return sample;
}

}  // namespace

TEST_CASE("slices begin where the evaluations before them end") {
  ResultFile file;
  file.results = {tests::timed_run("a", "crop", 1)};  // 1,000, 10 and 20 us
  file.results[0].timeline = {sample_at(0), sample_at(2)};
  const json trace = json::parse(write_perfetto(file));
  const auto slices = of_kind(trace, "X");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0]["ts"] == 0.0);
  CHECK(slices[0]["dur"] == 1000.0);
  CHECK(slices[1]["ts"] == 1010.0);
  CHECK(slices[1]["dur"] == 20.0);
  CHECK(slices[1]["name"] == "grow");
  CHECK(slices[1]["cat"] == "overflow");
  CHECK(slices[1]["args"]["kept"] == 6);
  CHECK(slices[1]["args"]["exact"] == "no");
  CHECK(of_kind(trace, "M")[0]["args"]["name"] == "a/crop");
}

TEST_CASE("the counter splits what is held into live, slack and transient") {
  ResultFile file;
  file.results = {tests::timed_run("a", "crop", 1)};
  Sample sample = sample_at(1);
  sample.live_global_bytes = 10;
  sample.live_sliding_bytes = 20;
  sample.reserved_global_bytes = 30;
  sample.reserved_sliding_bytes = 40;
  sample.transient_bytes = 100;
  file.results[0].timeline = {sample};
  const auto counters = of_kind(json::parse(write_perfetto(file)), "C");
  REQUIRE(counters.size() == 2);
  CHECK(counters[0]["args"] == json{{"live", 30}, {"slack", 40}, {"transient", 30}});
  CHECK(counters[0]["ts"] == 1000.0);
  CHECK(counters[1]["args"] == json{{"live", 30}, {"slack", 40}, {"transient", 0}});
  CHECK(counters[1]["ts"] == 1010.0);
}

TEST_CASE("without times an evaluation is a millisecond and the process says so") {
  ResultFile file;
  file.results = {tests::plan_run("a", "crop", 1), tests::plan_run("a", "crop", 1)};
  file.results[0].timeline = {sample_at(7)};
  const json trace = json::parse(write_perfetto(file));
  const auto slices = of_kind(trace, "X");
  REQUIRE(slices.size() == 1);
  CHECK(slices[0]["ts"] == 7000.0);
  CHECK(slices[0]["dur"] == 1000.0);
  const std::string name = of_kind(trace, "M")[0]["args"]["name"];
  CHECK(name.find("1 ms is one evaluation") != std::string::npos);
  CHECK(of_kind(trace, "M")[2]["pid"] == 2);
}

TEST_CASE("a trace with hostile names is JSON of valid UTF-8") {
  const json trace = json::parse(write_perfetto(tests::example_file()));
  CHECK(of_kind(trace, "M").size() == 2 * tests::example_file().results.size());
}

}  // namespace kvreplay::reports
