// How comparisons are shown: every format, many files, many changes, hostile names.

#include "reports/compare/compare.hpp"
#include "reports/compare/side.hpp"
#include "reports/compare/writers.hpp"
#include "reports/csv.hpp"
#include "reports/text.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/noisy.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kvreplay::reports {
namespace {

using Catch::Matchers::Contains;
using tests::compared;
using tests::noisy_file;

}  // namespace

TEST_CASE("what many files of a side met is one note, and a list of many files is short") {
  const auto with_load = [](const std::string& load) {
    ResultFile file = noisy_file({});
    auto& entries = file.provenance.entries;
    std::erase_if(entries, [](const auto& entry) { return entry.first == "load_average_start"; });
    entries.insert(entries.end(), {{"load_average_start", load}, {"num_cpus", "2"}, {"cgroup_throttled_periods", "3"}});
    return file;
  };
  std::vector<NamedResult> files;
  for (int i = 0; i < 6; ++i)
    files.push_back({fmt::format("file-{}", i), with_load(i == 0 ? "0.00" : fmt::format("2.{}", i))});
  const Side many = side_of(files, "baseline"), one = side_of({files.back()}, "candidate");
  const Comparison comparison = compare(many, one, {});
  const auto has = [&comparison](const std::string& note) {
    return std::find(comparison.notes.begin(), comparison.notes.end(), note) != comparison.notes.end();
  };
  CHECK(
      has("baseline, 5 of 6 files: up to 2 of 2 CPUs were busy with other work, earlier runs included, at the start "
          "(load average up to 2.50)"));
  CHECK(
      has("candidate file-5: 2 of 2 CPUs were busy with other work, earlier runs included, at the start (load "
          "average 2.50)"));
  CHECK(has("baseline, 6 of 6 files: throttled by the CPU quota in up to 3 periods"));
  CHECK(has("candidate file-5: throttled by the CPU quota in 3 periods"));
  const std::string table = comparison_table(comparison, 120, false);
  CHECK_THAT(table, Contains("baseline:  6 files, file-0 to file-5"));
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1)
    CHECK(display_width(table.substr(at, table.find('\n', at) - at)) <= 120);
}

TEST_CASE("every format names a regression, and none is broken by hostile names") {
  ResultFile before = noisy_file({});
  for (RunResult& run : before.results) run.workload.path = run.workload.id = tests::hostile_name();
  ResultFile now = before;
  tests::set_counter(now.results[1], "reallocations", 5);
  const Comparison comparison = compared(before, now);
  CHECK_THAT(comparison_table(comparison, 120, false), Contains("1 counter regressed"));
  CHECK(comparison_table(comparison, 120, false).find('\x1b') == std::string::npos);
  const std::string markdown = write_comparison_markdown(comparison);
  CHECK(markdown.starts_with("**\xE2\x9D\x8C 1 counter regressed"));
  CHECK(markdown.find("<script") == std::string::npos);
  const auto json = nlohmann::json::parse(write_comparison_json(comparison));
  CHECK(json["counts"]["regressed"]["counters"] == 1);
  CHECK(json["cells"][1]["rows"][0]["metric"] == "reallocations");
  const auto records = read_csv(write_comparison_csv(comparison));
  CHECK(records.size() > 2 * before.results[0].counters.size());
  CHECK_THAT(write_comparison_junit(comparison), Contains("failures=\"1\""));
}

TEST_CASE("no line of the table is wider than a narrow terminal, the verdict's neither") {
  ResultFile now = noisy_file({.factor = 2});
  tests::set_counter(now.results[1], "reallocations", 5);
  const std::string table = comparison_table(compared(noisy_file({}), now), 40, false);
  CHECK(table.find('\n') <= 40);
  CHECK_THAT(table.substr(0, 120), Contains("1 counter, ") && Contains("regressed"));
}

TEST_CASE("Markdown of many changes stays under a mebibyte and says what it left out") {
  ResultFile before = noisy_file({.repetitions = 0}), now;
  const RunResult model = before.results[0];
  before.results.clear();
  for (int i = 0; i < 300; ++i) {
    before.results.push_back(model);
    before.results.back().policy.spec = before.results.back().policy.name = fmt::format("policy{}", i);
  }
  now = before;
  for (RunResult& run : now.results) {
    for (auto& [name, value] : run.counters) value += 1;
  }
  const std::string markdown = write_comparison_markdown(compared(before, now));
  CHECK(markdown.size() < (1 << 20));
  CHECK_THAT(markdown, Contains("are left out to stay under 1 MiB"));
}

}  // namespace kvreplay::reports
