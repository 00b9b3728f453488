#include "reports/metrics.hpp"

#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/outside.hpp"

#include <set>

namespace kvreplay::reports {
namespace {

TEST_CASE("every exact metric promised to scripts is in the table") {
  for (const char* name : {"evaluations",
                           "cached_answers",
                           "tokens_requested",
                           "tokens_reused",
                           "tokens_evaluated",
                           "tokens_recomputed",
                           "tokens_floor_single",
                           "tokens_floor_multi",
                           "reallocations",
                           "allocations",
                           "buffers_allocated",
                           "releases",
                           "bytes_allocated",
                           "bytes_copied",
                           "bytes_zeroed",
                           "rows_read",
                           "attention_pairs",
                           "crops",
                           "resets",
                           "discards",
                           "rewinds_asked",
                           "rewinds_served",
                           "rewinds_refused",
                           "live_bytes_peak",
                           "reserved_bytes_peak",
                           "transient_bytes_peak",
                           "bytes_at_end",
                           "slack_byte_steps"}) {
    INFO(name);
    REQUIRE(find_metric(name) != nullptr);
    CHECK(find_metric(name)->kind == MetricKind::exact);
  }
}

TEST_CASE("metrics have unique names, a unit and a meaning") {
  std::set<std::string_view> names;
  for (const Metric& metric : metric_table()) {
    INFO(metric.name);
    CHECK(names.insert(metric.name).second);
    CHECK_FALSE(metric.unit.empty());
    CHECK(metric.meaning.size() > 10);
    CHECK(metric.meaning.find('\n') == std::string_view::npos);
  }
  CHECK(exact_metrics().size() + measured_metrics().size() == metric_table().size());
}

TEST_CASE("counting less is better, serving more is better, facts of the workload are neither") {
  CHECK(find_metric("tokens_evaluated")->better == Better::lower);
  CHECK(find_metric("rewinds_served")->better == Better::higher);
  CHECK(find_metric("ledger_rewinds")->better == Better::neutral);
  CHECK(find_metric("latency.tokens_per_second")->better == Better::higher);
  CHECK(name_of(Better::lower) == "lower");
  CHECK(name_of(MetricKind::measured) == "measured");
}

TEST_CASE("a name nobody has finds nothing") {
  CHECK(find_metric("tokens_evaluate") == nullptr);
  CHECK(find_metric("") == nullptr);
  CHECK_FALSE(counter({{"a", 1}}, "b").has_value());
}

TEST_CASE("a record that lacks a metric is told so") {
  RunResult result = tests::plan_run("w", "crop", 1);
  CHECK(missing_metrics(result.counters).empty());
  std::erase_if(result.counters, [](const auto& entry) { return entry.first == "resets"; });
  CHECK(missing_metrics(result.counters) == std::vector<std::string_view>{"resets"});
}

TEST_CASE("the page on results names every metric") {
  const std::string page = tests::content_of(KVREPLAY_SOURCE_DIR "/docs/results.md");
  for (const Metric& metric : metric_table()) {
    INFO(metric.name);
    CHECK(page.find("`" + std::string(metric.name) + "`") != std::string::npos);
  }
}

}  // namespace
}  // namespace kvreplay::reports
