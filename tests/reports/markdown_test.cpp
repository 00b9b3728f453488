#include "reports/markdown.hpp"

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

// Lines of tables have as many cells as their header, wherever they are.
void check_tables(const std::string& text) {
  std::ptrdiff_t cells = 0;
  for (const std::string& line : lines_of(text)) {
    if (line.empty() || line.front() != '|') {
      cells = 0;
      continue;
    }
    const auto bars = std::count(line.begin(), line.end(), '|');
    if (cells == 0) cells = bars;
    CHECK(bars == cells);
  }
}

const std::string& line_with(const std::vector<std::string>& lines, const std::string& text) {
  const auto found =
      std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.find(text) != std::string::npos; });
  REQUIRE(found != lines.end());
  return *found;
}

TEST_CASE("the first line is the verdict") {
  CHECK_THAT(lines_of(write_markdown(tests::example_file())).front(),
             Catch::Contains("1 of 2 verified runs differ from a run without a cache; 1 of 4 runs incomplete"));
  ResultFile good;
  good.results = {tests::plan_run("w", "crop", 71), tests::plan_run("w", "discard", 710)};
  CHECK(lines_of(write_markdown(good)).front() == "**2 of 2 runs completed.**");
  CHECK(lines_of(write_markdown({})).front().find("no runs") != std::string::npos);
}

TEST_CASE("ratios to the floor stand beside the tokens, the best of completed runs is bold") {
  ResultFile file;
  file.results = {tests::plan_run("w", "crop", 71), tests::plan_run("w", "discard", 710),
                  tests::incomplete_run("w", "fixed")};
  const auto lines = lines_of(write_markdown(file));
  CHECK_THAT(line_with(lines, "<code>crop</code>"),
             Catch::StartsWith("| <code>crop</code> | completed | **71** | **1.00** | **1.01** |"));
  CHECK_THAT(line_with(lines, "<code>discard</code>"),
             Catch::StartsWith("| <code>discard</code> | completed | 710 | 10.00 | 10.14 |"));
  // 1 token evaluated is less than 71, but that run did not finish.
  CHECK_THAT(line_with(lines, "<code>fixed</code>"), Catch::Contains("capacity_exceeded | 1 | - | - |"));
  CHECK_THAT(line_with(lines, "- fixed"),
             Catch::Contains("incomplete") && Catch::Contains("evaluation 12, line 34, wanted 65, available 64"));
}

TEST_CASE("several workloads are shown at a glance, one is not") {
  ResultFile file;
  file.results = {tests::plan_run("a", "crop", 71), tests::plan_run("a", "discard", 142),
                  tests::plan_run("b", "crop", 213)};
  const std::string text = write_markdown(file);
  CHECK_THAT(text, Catch::Contains("### All workloads: x floor\n\n"
                                   "| workload | <code>crop</code> | <code>discard</code> |\n"
                                   "|---|---:|---:|\n"
                                   "| <code>a</code> | **1.00** | 2.00 |\n"
                                   "| <code>b</code> | 3.00 | - |\n\n"
                                   "### All workloads: peak\n"));
  file.results.pop_back();
  CHECK(write_markdown(file).find("All workloads") == std::string::npos);
}

TEST_CASE("hostile names stay names: no markup, no broken table") {
  const std::string text = write_markdown(tests::example_file());
  CHECK(text.find("<script") == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("@all") == std::string::npos);
  CHECK(text.find(std::string(600, 'n')) == std::string::npos);
  check_tables(text);
}

TEST_CASE("a name is inline code whatever it holds") {
  CHECK(markdown_name("crop") == "<code>crop</code>");
  CHECK(markdown_name("a|b`c") == "<code>a&#124;b&#96;c</code>");
  CHECK(markdown_name("<b>") == "<code>&#60;b&#62;</code>");
  CHECK(markdown_name("fixed:capacity=64,keep_x=_y_") == "<code>fixed:capacity=64,keep_x=&#95;y&#95;</code>");
  CHECK(markdown_name("https://x") == "<code>https&#58;//x</code>");
  CHECK(markdown_name("") == "<code> </code>");
}

TEST_CASE("thirty policies and ten workloads with long names stay under 1 MiB and show every workload") {
  ResultFile file;
  for (int workload = 0; workload < 10; ++workload) {
    for (int policy = 0; policy < 30; ++policy) {
      RunResult run =
          tests::timed_run("workload" + std::to_string(workload), std::to_string(policy) + tests::hostile_name(), 3);
      run.workload.title = tests::hostile_name();
      file.results.push_back(run);
    }
  }
  const std::string text = write_markdown(file);
  CHECK(text.size() < max_markdown_bytes);
  for (int workload = 0; workload < 10; ++workload)
    CHECK(text.find("workload" + std::to_string(workload) + "</code>") != std::string::npos);
  check_tables(text);
}

TEST_CASE("what does not fit into 1 MiB is left out and said so") {
  ResultFile file;
  for (int workload = 0; workload < 1500; ++workload) {
    file.results.push_back(tests::incomplete_run("workload" + std::to_string(workload), tests::hostile_name()));
  }
  const std::string text = write_markdown(file);
  CHECK(text.size() < max_markdown_bytes);
  CHECK(text.find("workloads and the full numbers of") != std::string::npos);
  CHECK(text.find("more workloads are not in this table.") != std::string::npos);
  check_tables(text);
}

TEST_CASE("a run that serves wrong rows is not called best") {
  ResultFile file;
  file.results = {tests::plan_run("w", "crop", 71), tests::plan_run("w", "ring", 70),
                  tests::plan_run("w", "discard", 80)};
  tests::set_counter(file.results[1], "inexact_evaluations", 3);
  const auto lines = lines_of(write_markdown(file));
  CHECK_THAT(line_with(lines, "<code>crop</code> | completed"), Catch::Contains("**71**"));
  CHECK_THAT(line_with(lines, "<code>ring</code> | completed"), Catch::Contains("| 70 |"));
}

TEST_CASE("long names that differ in the middle are shown apart") {
  ResultFile file;
  const std::string ends(150, 'x');
  file.results = {tests::plan_run("w", ends + "1" + ends, 71), tests::plan_run("w", ends + "2" + ends, 71)};
  const auto lines = lines_of(write_markdown(file));
  CHECK(std::count_if(lines.begin(), lines.end(),
                      [](const auto& line) { return line.find("(2)</code> | completed") != std::string::npos; }) == 1);
}

}  // namespace
}  // namespace kvreplay::reports
