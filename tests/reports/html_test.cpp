#include "reports/html.hpp"

#include "reports/html_data.hpp"
#include "reports/html_pieces.hpp"
#include "reports/statistics.hpp"

#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/outside.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;

// What lies between the data element's tags: cut off where a browser would.
std::string data_text(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = page.find("</script", begin + open.size());
  return page.substr(begin + open.size(), end - begin - open.size());
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) ++count;
  return count;
}

// 100,000 evaluations, the timeline as long as a result keeps it, one peak.
RunResult long_run(const std::string& policy) {
  constexpr Count evaluations = 100'000, points = 2'000;
  RunResult result = tests::plan_run("long", policy, 1000);
  tests::set_counter(result, "evaluations", evaluations);
  result.depth = "compute";
  for (Count point = 0; point < points; ++point) {
    Sample sample = tests::full_sample();
    sample.evaluation = point * 50 + 17;
    sample.transient_bytes = 123'456'789 + (point == 777 ? 1'000'000'000 : 0);
    result.timeline.push_back(sample);
  }
  Repetition repetition;
  for (Count i = 0; i < evaluations; ++i) repetition.evaluation_ns.push_back(1'234'567 + (i == 54'321 ? 9'000'000 : 0));
  result.evaluation_fed.assign(evaluations, 1);
  repetition.latency = latency_of(repetition.evaluation_ns, result.evaluation_fed);
  result.repetitions.push_back(repetition);
  return result;
}

}  // namespace

TEST_CASE("a page needs no network and nothing beside it") {
  const std::string page = write_html(tests::example_file());
  std::string own = page;
  // The library's licence and the home of a part of it are the only addresses.
  const std::size_t library = own.find(html_chart_library);
  REQUIRE((html_chart_library.empty() || library != std::string::npos));
  if (!html_chart_library.empty()) own.erase(library, html_chart_library.size());
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "<link rel=\"stylesheet", "fetch(",
                              "innerHTML", "document.write", "eval("}) {
    INFO(outside);
    CHECK(own.find(outside) == std::string::npos);
  }
  CHECK(count_of(html_chart_library, "http") <= 2);
  CHECK(page.find("default-src 'none'") != std::string::npos);
  for (const char* mark : {"{{style}}", "{{data}}", "{{script}}", "{{chart_library}}"}) {
    CHECK(page.find(mark) == std::string::npos);
  }
}

TEST_CASE("the page carries the chart library with its licence") {
  if (!tests::has_file("/usr/share/javascript/chart.js/chart.min.js", "libjs-chart.js")) return;
  CHECK(html_chart_library.find("Chart.js v3") != std::string_view::npos);
  CHECK(html_chart_library.find("Released under the MIT License") != std::string_view::npos);
  CHECK(html_chart_library.find("</script") == std::string_view::npos);
}

TEST_CASE("hostile names end no element and stay apart") {
  const std::string page = write_html(tests::example_file());
  const std::string text = data_text(page);
  CHECK(text.find('<') == std::string::npos);
  CHECK(count_of(page, "<script") == 3);
  CHECK(count_of(page, "</script>") == 3);
  const json data = json::parse(text);
  CHECK(data["workloads"].size() == 3);
  const std::string name = data["workloads"].back()["runs"][0]["full_name"];
  CHECK(name.find("<script>alert(") != std::string::npos);
  CHECK(name.find("\xF0\x9F\x98\x80") != std::string::npos);
  CHECK(name.find("\xE2\x80\xAE") == std::string::npos);
}

TEST_CASE("every policy is on the page, and two of the same name stay two") {
  ResultFile file;
  for (const char* policy : {"crop", "fixed:capacity=64", "crop"})
    file.results.push_back(tests::plan_run("a", policy, 100));
  const json data = json::parse(data_text(write_html(file)));
  REQUIRE(data["workloads"].size() == 1);
  std::vector<std::string> names;
  for (const json& row : data["workloads"][0]["rows"]) names.push_back(row[0][0]);
  CHECK(names == std::vector<std::string>{"crop", "fixed:capacity=64", "crop #2"});
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(data["workloads"][0]["runs"][i]["name"] == names[i]);
}

TEST_CASE("tokens are split into first and by cause, and rewinds into served and not") {
  RunResult result = tests::plan_run("a", "crop", 100);
  tests::set_counter(result, "tokens_recomputed", 30);
  tests::set_counter(result, "tokens_recomputed_rewind", 10);
  tests::set_counter(result, "tokens_recomputed_overflow", 20);
  Sample served;  // holds 10, is to keep 6 of a list of 8, keeps them
  served.held_before = 10;
  served.kept = 6;
  served.length = 8;
  served.fed = 2;
  Sample not_served = served;  // keeps nothing
  not_served.evaluation = 1;
  not_served.fed = 8;
  not_served.tokens_recomputed = 6;
  Sample plain;  // appends one token
  plain.evaluation = 2;
  plain.held_before = plain.kept = 8;
  plain.length = 9;
  plain.fed = 1;
  result.timeline = {served, not_served, plain, tests::blank_sample()};
  ResultFile file;
  file.results.push_back(result);
  const json run = json::parse(data_text(write_html(file)))["workloads"][0]["runs"][0];
  CHECK(run["tokens"]["first"] == 70);
  CHECK(run["tokens"]["rewind"] == 10);
  CHECK(run["tokens"]["overflow"] == 20);
  const json columns = run["events"]["columns"], rows = run["events"]["rows"];
  const auto at = std::find(columns.begin(), columns.end(), "served") - columns.begin();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0][at] == "yes");
  CHECK(rows[1][at] == "no");
  CHECK(rows[2][at] == "no");  // the engine refused
}

TEST_CASE("five policies over 100,000 evaluations stay under 5 MB and keep their peaks") {
  ResultFile file;
  for (const char* policy : {"a", "b", "c", "d", "e"}) file.results.push_back(long_run(policy));
  const std::string page = write_html(file);
  CHECK(page.size() < 5'000'000);
  const json run = json::parse(data_text(page))["workloads"][0]["runs"][4];
  const auto most = run["memory"]["most"].get<std::vector<Count>>();
  CHECK(*std::max_element(most.begin(), most.end()) == 1'123'456'789);
  const auto ns = run["latency"]["ns"].get<std::vector<Count>>();
  const auto slowest = std::max_element(ns.begin(), ns.end());
  CHECK(*slowest == 10'234'567);
  CHECK(run["latency"]["evaluation"][static_cast<std::size_t>(slowest - ns.begin())] == 54'321);
  CHECK(ns.size() <= 2'000);
  CHECK(run["quantiles"].size() == 101);
  CHECK(run["quantiles"][50] == 1'234'567);
  CHECK(run["quantiles"][100] == 10'234'567);
}

TEST_CASE("thirty policies over ten workloads stay under 5 MB") {
  ResultFile file;
  const RunResult run = long_run("p");
  for (int workload = 0; workload < 10; ++workload) {
    for (int policy = 0; policy < 30; ++policy) {
      RunResult copy = run;
      copy.workload.path += std::to_string(workload);
      copy.policy.spec += std::to_string(policy);
      copy.repetitions.front().evaluation_ns.clear();  // as a longer run
      file.results.push_back(std::move(copy));
    }
  }
  const std::string page = write_html(file);
  CHECK(page.size() < 5'000'000);
  CHECK(json::parse(data_text(page))["workloads"].size() == 10);
}

}  // namespace kvreplay::reports
