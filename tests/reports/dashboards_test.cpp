#include "reports/bencher.hpp"
#include "reports/github_action.hpp"
#include "reports/key_numbers.hpp"

#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"

#include <set>

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;

// Three repetitions of 1,030 us and 0, 3 and 6 us more: three evaluations that take 0, 1 and 2 us more each.
ResultFile timed_file() {
  ResultFile file;
  file.results = {tests::timed_run("w", "crop", 3), tests::plan_run("w", "discard", 710),
                  tests::incomplete_run("w", "fixed:capacity=64")};
  return file;
}

}  // namespace

TEST_CASE("github-action-benchmark gets name, unit, value and range") {
  const json list = json::parse(write_github_action(timed_file()));
  REQUIRE(list.size() == 8 + 7);
  CHECK(list[0] == json{{"name", "w/crop: tokens_evaluated"},
                        {"unit", "tokens"},
                        {"value", 20},
                        {"extra", "tiny-gemma2, depth compute"}});
  CHECK(list[7]["name"] == "w/crop: latency.total_ns");
  CHECK(list[7]["unit"] == "ns");
  CHECK(list[7]["value"] == 1'033'000);
  CHECK(list[7]["range"] == "1030000 - 1036000");
  CHECK(list[8]["value"] == 710);
}

TEST_CASE("Bencher gets measures under slugs, with bounds where there are repetitions") {
  const json all = json::parse(write_bencher(timed_file()));
  REQUIRE(all.size() == 2);  // the incomplete run is left out
  CHECK(all["w/crop"]["tokens-evaluated"] == json{{"value", 20}});
  CHECK(all["w/crop"]["latency"] == json{{"value", 1'033'000}, {"lower_value", 1'030'000}, {"upper_value", 1'036'000}});
  CHECK_FALSE(all["w/discard"].contains("latency"));
  for (const auto& [slug, measure] : all["w/crop"].items()) {
    CHECK(slug.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos);
    CHECK(measure["value"].is_number());
  }
}

TEST_CASE("hostile and repeated names stay whole JSON, apart and short") {
  ResultFile file = tests::example_file();
  file.results.push_back(file.results.back());
  const std::vector<std::string> names = dashboard_names(file);
  CHECK(std::set(names.begin(), names.end()).size() == names.size());
  for (const std::string& name : names) CHECK(name.size() <= 1'000);
  CHECK(json::parse(write_bencher(file)).size() == 4);
  CHECK(json::parse(write_github_action(file)).size() == 8 + 8 + 7 + 7);
  CHECK(json::parse(write_github_action({})) == json::array());
  CHECK(json::parse(write_bencher({})) == json::object());
}

}  // namespace kvreplay::reports
