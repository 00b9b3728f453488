#include "reports/junit.hpp"

#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/outside.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;

// Python's parser reads the file: suites of cases with their verdicts and properties.
json read_back(const std::string& xml) {
  const tests::TemporaryFolder folder;
  const auto read = tests::run_python(R"(import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
def case(node):
    verdicts = [child.tag for child in node if child.tag != "properties"]
    return {"name": node.get("name"), "classname": node.get("classname"), "time": node.get("time"), "verdicts": verdicts,
            "message": "".join(child.get("message", "") for child in node),
            "properties": {p.get("name"): p.get("value") for p in node.iter("property")}}
print(json.dumps({"root": root.tag, "totals": dict(root.attrib), "suites": [
    {"name": s.get("name"), "totals": dict(s.attrib), "cases": [case(c) for c in s.findall("testcase")]}
    for s in root.findall("testsuite")]}))
)",
                                      {folder.file("a.junit.xml", xml)});
  INFO(read.output);
  REQUIRE(read.exit_code == 0);
  return json::parse(read.output);
}

}  // namespace

TEST_CASE("a JUnit parser finds a suite per workload and the verdicts of every run") {
  const json file = read_back(write_junit(tests::example_file()));
  CHECK(file["root"] == "testsuites");
  // fewshot at compute with two verified runs, at plan with an incomplete one, and a hostile name.
  REQUIRE(file["suites"].size() == 3);
  const json& cases = file["suites"][0]["cases"];
  REQUIRE(cases.size() == 4);
  CHECK(cases[0]["name"] == "crop: outcome");
  CHECK(cases[0]["verdicts"] == json::array());
  CHECK(cases[1]["name"] == "crop: verification");
  CHECK(cases[1]["verdicts"] == json::array());
  CHECK(cases[3]["name"] == "guidance-0.2+transformers-4.47: verification");
  CHECK(cases[3]["verdicts"] == json{"failure"});
  CHECK(cases[3]["message"].get<std::string>().find("first evaluation 11") != std::string::npos);
  CHECK(file["suites"][1]["cases"][0]["verdicts"] == json{"skipped"});
  CHECK(file["totals"]["tests"] == "6");
  CHECK(file["totals"]["failures"] == "1");
  CHECK(file["totals"]["skipped"] == "1");
  CHECK(file["totals"]["errors"] == "0");
}

TEST_CASE("numbers are properties, and the time is the median repetition's total in seconds") {
  const json file = read_back(write_junit(tests::example_file()));
  const json& outcome = file["suites"][0]["cases"][0];
  CHECK(outcome["properties"]["tokens_evaluated"] == "20");
  CHECK(outcome["properties"]["tokens_floor_single"] == "71");
  CHECK(outcome["time"] == "0.001033000");  // 1,001 + 11 + 21 us
}

TEST_CASE("a run that did not complete fails where the run was asked to, and an interrupted one is an error") {
  ResultFile file;
  file.results = {tests::incomplete_run("a", "fixed"), tests::incomplete_run("a", "crop")};
  file.results[1].outcome.kind = "interrupted";
  file.config = {{"fail_on", "verification outcome"}};
  const json cases = read_back(write_junit(file))["suites"][0]["cases"];
  CHECK(cases[0]["verdicts"] == json{"failure"});
  CHECK(cases[0]["message"].get<std::string>().find("capacity_exceeded at evaluation 12") != std::string::npos);
  CHECK(cases[1]["verdicts"] == json{"error"});
}

TEST_CASE("names that XML cannot hold become ones it can, and are not cut off") {
  ResultFile file;
  file.results = {
      tests::plan_run(tests::hostile_name(), tests::hostile_name() + "\xEF\xBF\xBF\xEF\xBF\xBE]]>&amp;", 1)};
  const json suites = read_back(write_junit(file))["suites"];
  const std::string name = suites[0]["cases"][0]["name"];
  CHECK(name.find("<script>alert('|`*_[a](b)@all\\')</script>") != std::string::npos);
  CHECK(name.find(std::string(10'000, 'n')) != std::string::npos);
  CHECK(name.find("]]>&amp;") != std::string::npos);
}

}  // namespace kvreplay::reports
