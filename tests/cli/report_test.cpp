// report: results of earlier runs, joined, written in every format; files that are none are refused by name.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using testing::content_of;
using testing::kvreplay;
using testing::recording;
using testing::ScratchFolder;

const std::string folder_02 = "guidance-0.2.1_transformers-4.47.1/";

// A result of two policies at depth plan; gives its path.
std::string result_of(const ScratchFolder& scratch, const std::string& name) {
  const std::string path = scratch.path(name + ".json");
  REQUIRE(kvreplay("run --depth plan -p crop -p doubling -o " + path + " " + recording(folder_02 + name)).exit_code ==
          0);
  return path;
}

}  // namespace

TEST_CASE("report writes what run would have written") {
  const ScratchFolder scratch;
  const std::string result = result_of(scratch, "json_w64");
  for (const std::string end :
       {"json", "md", "csv", "gbench.json", "html", "junit.xml", "trace.json", "action.json", "bencher.json"}) {
    INFO(end);
    const std::string again = scratch.path("again." + end);
    CHECK(kvreplay("report " + result + " -o " + again).exit_code == 0);
    CHECK(!content_of(again).empty());
  }
  CHECK(content_of(scratch.path("again.json")) == content_of(result));
  const auto printed = kvreplay("report " + result);
  CHECK(printed.exit_code == 0);
  CHECK_THAT(printed.out, Contains("doubling") && Contains("2 of 2 runs completed"));
}

TEST_CASE("report joins several results in the order given and keeps what they disagree on") {
  const ScratchFolder scratch;
  const std::string a = result_of(scratch, "json_w64"), b = result_of(scratch, "plain_w64");
  const auto finished = kvreplay("report " + b + " " + a + " -o -");
  REQUIRE(finished.exit_code == 0);
  const json file = json::parse(finished.out);
  REQUIRE(file["results"].size() == 4);
  CHECK_THAT(file["results"][0]["workload"]["path"].get<std::string>(), Contains("plain_w64"));
  CHECK_THAT(file["results"][3]["workload"]["path"].get<std::string>(), Contains("json_w64"));
  CHECK(file["config"]["depth"] == "plan");
  CHECK(file["config"]["workloads"].size() == 2);
}

TEST_CASE("a file that holds no result is refused by its name and nothing is written") {
  const ScratchFolder scratch;
  const std::string whole = content_of(result_of(scratch, "json_w64"));
  std::string newer = whole, negative = whole;
  newer.replace(newer.find("kvreplay.result/1"), 17, "kvreplay.result/2");
  negative.replace(negative.find("\"results\": ["), 12, "\"results\": [NaN,");
  const std::vector<std::pair<std::string, std::string>> files{
      {scratch.file("cut.json", whole.substr(0, whole.size() / 2)), "not JSON"},
      {scratch.file("empty.json", ""), "empty"},
      {scratch.file("foreign.json", R"({"context": {}, "benchmarks": []})"), "no result of kvreplay"},
      {scratch.file("newer.json", newer), "kvreplay.result/2"},
      {scratch.file("nan.json", negative), "not JSON"},
      {scratch.file("deep.json", std::string(100'000, '[')), "nested deeper than 64 levels"},
      {scratch.path("gone.json"), "No such file"}};
  const std::string target = scratch.file("old.html", "old");
  for (const auto& [path, says] : files) {
    INFO(path);
    const auto finished = kvreplay("report " + path + " -o " + target);
    CHECK(finished.exit_code == 2);
    CHECK_THAT(finished.err, Contains(path) && Contains(says));
    CHECK(finished.out.empty());
    CHECK(content_of(target) == "old");
  }
}

TEST_CASE("report refuses to count a file twice or to write over one it reads") {
  const ScratchFolder scratch;
  const std::string result = result_of(scratch, "json_w64"), before = content_of(result);
  const std::string link = scratch.path("link.json");
  std::filesystem::create_symlink(result, link);
  const auto twice = kvreplay("report " + result + " " + link);
  CHECK(twice.exit_code == 2);
  CHECK_THAT(twice.err, Contains("given twice"));
  const auto over = kvreplay("report " + result + " -o json:" + link);
  CHECK(over.exit_code == 2);
  CHECK_THAT(over.err, Contains("would replace"));
  CHECK(content_of(result) == before);
  CHECK(kvreplay("report " + result + " -o html:/dev/full").exit_code == 3);
}

}  // namespace kvreplay::cli
