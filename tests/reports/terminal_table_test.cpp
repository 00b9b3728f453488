#include "reports/terminal_table.hpp"

#include "reports/explain_table.hpp"
#include "reports/text.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"

#include <algorithm>
#include <sstream>

namespace kvreplay::reports {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, display_width(line));
  return width;
}

TEST_CASE("columns are aligned: numbers right, names left") {
  ResultFile file;
  file.results = {tests::plan_run("w", "crop", 71), tests::plan_run("w", "discard", 710)};
  tests::set_counter(file.results[1], "transient_bytes_peak", 516'096);
  const auto lines = lines_of(terminal_table(file, {.legend = false}));
  const std::vector<std::string> expected{
      "w  (recorded/w.yaml)",
      "A test",
      "tiny-gemma2, 6 layers (3 sliding, window 64), fp32 cache, depth plan",
      "",
      "policy   outcome    evaluated  x floor  x tree  recomputed  realloc  copied  zeroed     peak  at end",
      "-------  ---------  ---------  -------  ------  ----------  -------  ------  ------  -------  ------",
      "crop     completed         71     1.00    1.01           0        0     0 B     0 B      0 B     0 B",
      "discard  completed        710    10.00   10.14           0        0     0 B     0 B  504 KiB     0 B",
      "",
      "2 of 2 runs completed."};
  CHECK(lines == expected);
}

TEST_CASE("where space is short the second floor goes first, then the table continues below") {
  ResultFile file;
  file.results = {tests::plan_run("w", "crop", 71), tests::plan_run("w", "doubling", 710)};
  for (const char* name : {"bytes_copied", "bytes_zeroed", "transient_bytes_peak", "bytes_at_end"}) {
    tests::set_counter(file.results[1], name, 1'047'000);  // 1022 KiB: as wide as it gets
  }
  const std::string fits = terminal_table(file, {.legend = false});
  CHECK(fits.find("x tree") == std::string::npos);
  CHECK(fits.find("at end") != std::string::npos);
  CHECK(lines_of(fits).size() == 4 + 4 + 2);
  const std::string below = terminal_table(file, {.columns = 80, .legend = false});
  CHECK(lines_of(below).size() == 4 + 4 + 1 + 4 + 2);
  CHECK(widest(below) <= 80);
}

TEST_CASE("several workloads are shown at a glance after their tables") {
  ResultFile file;
  file.results = {tests::plan_run("a", "crop", 71), tests::plan_run("a", "discard", 142),
                  tests::plan_run("b", "crop", 213)};
  const std::string text = terminal_table(file, {.legend = false});
  CHECK_THAT(text, Catch::EndsWith("All workloads\n"
                                   "\n"
                                   "x floor  crop  discard\n"
                                   "-------  ----  -------\n"
                                   "a        1.00     2.00\n"
                                   "b        3.00        -\n"
                                   "\n"
                                   "3 of 3 runs completed.\n"));
}

TEST_CASE("tables fit the width they are given, whatever the names") {
  const ResultFile file = tests::example_file();
  for (const std::size_t columns : {80, 100, 200}) {
    CHECK(widest(terminal_table(file, {.columns = columns})) <= columns);
  }
}

TEST_CASE("no output can steer the terminal unless colour is asked for") {
  const ResultFile file = tests::example_file();
  const std::string plain = terminal_table(file, {});
  for (const char c : plain) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  CHECK(terminal_table(file, {.color = true}).find("\x1b[1;31m") != std::string::npos);
}

TEST_CASE("colour changes nothing but colour") {
  const ResultFile file = tests::example_file();
  std::string colored = terminal_table(file, {.color = true});
  for (std::size_t at = 0; (at = colored.find('\x1b')) != std::string::npos;)
    colored.erase(at, colored.find('m', at) - at + 1);
  CHECK(colored == terminal_table(file, {}));
}

TEST_CASE("exact values are to be had instead of rounded units") {
  ResultFile file;
  file.results = {tests::timed_run("w", "crop", 1)};
  tests::set_counter(file.results[0], "transient_bytes_peak", 516'096);
  const std::string exact = terminal_table(file, {.units = Units::exact});
  CHECK(exact.find("516,096") != std::string::npos);
  CHECK(exact.find("1,030,000") != std::string::npos);
  CHECK(terminal_table(file, {}).find("504 KiB") != std::string::npos);
}

TEST_CASE("an incomplete run is flagged, has no ratio and cannot be best") {
  ResultFile file;
  file.results = {tests::plan_run("w", "crop", 71), tests::plan_run("w", "discard", 710),
                  tests::incomplete_run("w", "fixed")};
  const std::string text = terminal_table(file, {.color = true});
  CHECK(text.find("capacity_exceeded") != std::string::npos);
  CHECK(text.find("! fixed: incomplete, capacity_exceeded at evaluation 12") != std::string::npos);
  CHECK(text.find("\x1b[1;32m71\x1b[0m") != std::string::npos);
  CHECK(text.find("\x1b[1;32m1\x1b[0m") == std::string::npos);
  CHECK(text.find("1 of 3 runs incomplete") != std::string::npos);
}

TEST_CASE("a difference found by verification is told with its place") {
  const std::string text = terminal_table(tests::example_file(), {.columns = 400});
  CHECK(text.find("2 of 24 evaluations differ from a run without a cache, first evaluation 11 (line 40, position 17, "
                  "logits, by 0.013); 1 of them the policy claims exact") != std::string::npos);
  CHECK(text.find("by its own account 1 evaluations read rows a cold run has not") != std::string::npos);
}

TEST_CASE("the legend explains every column that needs it") {
  const std::string text = terminal_table(tests::example_file(), {.columns = 1000});
  for (const char* words : {"evaluated: tokens run through the model", "x floor: ", "peak: ", "verify: "}) {
    CHECK(text.find(words) != std::string::npos);
  }
}

TEST_CASE("a result without runs says so") { CHECK(terminal_table({}, {}) == "no runs.\n"); }

TEST_CASE("explain's table has one line per evaluation") {
  const std::vector<Sample> samples{tests::full_sample(), tests::blank_sample()};
  const auto lines = lines_of(explain_table(samples, false));
  REQUIRE(lines.size() == 4);
  for (const char* text : {"5 > 11", "9 > 10", "12 > 13", "overflow", "no", "main"})
    CHECK(lines[2].find(text) != std::string::npos);
  CHECK(lines[3].find("refused") != std::string::npos);
  CHECK(explain_table(samples, true).find("\x1b[1;31mno\x1b[0m") != std::string::npos);
}

TEST_CASE("columns that are blank throughout are left out of explain's table") {
  const std::vector<Sample> samples{tests::blank_sample()};
  const std::string text = explain_table(samples, false);
  CHECK(text.find("crop to") == std::string::npos);
  CHECK(text.find("action") != std::string::npos);
}

}  // namespace
}  // namespace kvreplay::reports
