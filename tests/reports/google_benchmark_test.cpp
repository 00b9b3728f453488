#include "reports/google_benchmark.hpp"

#include "reports/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/outside.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;

const std::string compare_script = "/usr/share/benchmark/compare.py";

// compare.py's table of two results.
std::string compared(const ResultFile& baseline, const ResultFile& candidate) {
  const tests::TemporaryFolder folder;
  const tests::ProgramResult result = tests::run_python_file(
      compare_script, {"--no-color", "benchmarks", folder.file("a.gbench.json", write_google_benchmark(baseline)),
                       folder.file("b.gbench.json", write_google_benchmark(candidate))});
  INFO(result.output);
  REQUIRE(result.exit_code == 0);
  CHECK(result.output.find("Traceback") == std::string::npos);
  CHECK(result.output.find("Warning") == std::string::npos);
  return result.output;
}

bool tools_are_here() {
  return tests::has_file(compare_script, "libbenchmark-tools") && tests::python_has("scipy", "python3-scipy") &&
         tests::python_has("numpy", "python3-numpy");
}

// The words of the line that begins with a name.
std::vector<std::string> words_of(const std::string& output, const std::string& name) {
  const std::size_t at = output.find("\n" + name + " ");
  if (at == std::string::npos) return {};
  const std::string line = output.substr(at + 1, output.find('\n', at + 1) - at - 1);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t end = std::min(line.find(' ', i), line.size());
    if (end > i) words.push_back(line.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

TEST_CASE("the context has all official keys, and what a machine does not tell is empty") {
  const json context = json::parse(write_google_benchmark(tests::example_file()))["context"];
  CHECK(context["date"] == "2026-01-02T03:04:05Z");
  CHECK(context["host_name"] == "builder");
  CHECK(context["num_cpus"] == 2);
  CHECK(context["mhz_per_cpu"] == 2400);
  CHECK(context["cpu_scaling_enabled"] == false);
  CHECK(context["caches"] == json::array());
  CHECK(context["load_avg"] == json{0.06, 0.02, 0.0});
  CHECK(context["library_version"] == "0.1.0");
  CHECK(context["library_build_type"] == "release");
  CHECK(context["json_schema_version"] == 1);
  const json unknown = json::parse(write_google_benchmark({}))["context"];
  for (const char* key : {"date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "caches",
                          "load_avg", "library_version", "library_build_type", "json_schema_version"}) {
    CHECK(unknown.contains(key));
  }
  CHECK(unknown["num_cpus"] == 0);
  CHECK(unknown["cpu_scaling_enabled"] == false);
}

TEST_CASE("a timed run is one row per repetition with times, counters and the memory keys") {
  ResultFile file;
  file.results = {tests::timed_run("fewshot", "crop", 3)};
  tests::set_counter(file.results[0], "transient_bytes_peak", 516'096);
  tests::set_counter(file.results[0], "buffers_allocated", 36);
  const json rows = json::parse(write_google_benchmark(file))["benchmarks"];
  REQUIRE(rows.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const json& row = rows[i];
    CHECK(row["name"] == "fewshot/crop");
    CHECK(row["run_name"] == "fewshot/crop");
    CHECK(row["run_type"] == "iteration");
    CHECK(row["repetitions"] == 3);
    CHECK(row["repetition_index"] == i);
    CHECK(row["iterations"] == 1);
    CHECK(row["real_time"] == 1'030'000 + 3'000 * i);
    CHECK(row["cpu_time"] == 900'000);
    CHECK(row["time_unit"] == "ns");
    CHECK(row["max_bytes_used"] == 516'096);
    CHECK(row["allocs_per_iter"] == 36);
    CHECK(row.contains("total_allocated_bytes"));
    CHECK(row.contains("net_heap_growth"));
    for (const Metric& metric : exact_metrics()) CHECK(row[std::string(metric.name)].is_number_integer());
    for (const auto& [key, value] : row.items()) CHECK_FALSE(value.is_null());
  }
}

TEST_CASE("runs without comparable times are aggregates that no tool averages in") {
  const json rows = json::parse(write_google_benchmark(tests::example_file()))["benchmarks"];
  std::size_t seen = 0;
  for (const json& row : rows) {
    if (row["run_type"] == "iteration") continue;
    ++seen;
    CHECK(row["aggregate_name"] == "counters");
    CHECK(row["iterations"] == 0);
    CHECK(row["real_time"] == 0);
    const bool incomplete = row["name"] == "fewshot/fixed:capacity=64";
    CHECK(row.contains("error_occurred") == incomplete);
  }
  CHECK(seen == 2);
}

TEST_CASE("every row of every result has a name of its own") {
  ResultFile file;
  for (const char* id : {"a/b", "a_b", "a b", "A B"}) file.results.push_back(tests::plan_run(id, "crop", 100));
  file.results.push_back(file.results[0]);
  RunResult other_file = file.results[1];
  other_file.workload.path = "elsewhere/a_b.yaml";  // the same id in another file
  file.results.push_back(other_file);
  RunResult other_model = file.results[2];
  other_model.model.profile = "gemma2-2b";
  file.results.push_back(other_model);
  RunResult other_depth = file.results[3];
  other_depth.depth = "alloc";
  file.results.push_back(other_depth);
  std::set<std::string> names;
  const json rows = json::parse(write_google_benchmark(file))["benchmarks"];
  for (const json& row : rows) names.insert(row["name"].get<std::string>());
  CHECK(names.size() == file.results.size());
}

TEST_CASE("the file is plain ASCII whatever the names") {
  const std::string text = write_google_benchmark(tests::example_file());
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; }));
}

TEST_CASE("Google Benchmark's compare.py reads timed results and finds a doubled time") {
  if (!tools_are_here()) return;
  ResultFile baseline, candidate;
  baseline.results = {tests::timed_run("fewshot", "crop", 1)};
  candidate = baseline;
  candidate.results[0].repetitions[0].latency->total_ns *= 2;
  const std::vector<std::string> words = words_of(compared(baseline, candidate), "fewshot/crop");
  REQUIRE(words.size() == 7);
  CHECK(words[1] == "+1.0000");
  CHECK(words[2] == "+0.0000");
  CHECK(words[3] == "1030000");
  CHECK(words[4] == "2060000");
}

TEST_CASE("compare.py tests repetitions of a run against each other") {
  if (!tools_are_here()) return;
  ResultFile file;
  file.results = {tests::timed_run("fewshot", "crop", 9)};
  CHECK(compared(file, file).find("U Test, Repetitions: 9 vs 9") != std::string::npos);
}

TEST_CASE("compare.py reads results of depth plan, incomplete runs and hostile names without a complaint") {
  if (!tools_are_here()) return;
  ResultFile plan;
  plan.results = {tests::plan_run("fewshot", "crop", 71), tests::incomplete_run("fewshot", "fixed:capacity=64")};
  const std::string output = compared(plan, plan);
  CHECK(words_of(output, "fewshot/crop").size() == 7);
  CHECK(output.find("OVERALL_GEOMEAN") == std::string::npos);  // nothing was timed
  compared(tests::example_file(), tests::example_file());
}

}  // namespace
}  // namespace kvreplay::reports
