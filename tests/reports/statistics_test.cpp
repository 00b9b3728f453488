#include "reports/statistics.hpp"

#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace kvreplay::reports {
namespace {

std::vector<Count> from_to(Count first, Count last) {
  std::vector<Count> values(static_cast<std::size_t>(last - first + 1));
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_CASE("percentiles are nearest rank, not interpolated and not one index too low") {
  const auto at = [](const std::vector<Count>& values, int percent) { return nearest_rank(values, percent).value(); };
  CHECK(at({10, 20, 30}, 50) == 20);
  CHECK(at({10, 20, 30}, 99) == 30);
  CHECK(at(from_to(0, 19), 50) == 9);
  CHECK(at(from_to(0, 19), 95) == 18);
  CHECK(at(from_to(1, 10), 50) == 5);
  CHECK(at(from_to(1, 10), 90) == 9);
  CHECK(at(from_to(1, 10), 95) == 10);
  CHECK(at(from_to(1, 10), 99) == 10);
  for (const int percent : {50, 90, 95, 99}) CHECK(at(from_to(1, 100), percent) == percent);
  for (const int percent : {1, 50, 99, 100}) CHECK(at({7}, percent) == 7);
}

TEST_CASE("a rank that is whole is not pushed up by binary fractions") {
  // 0.07 * 100 = 7.000000000000001 in doubles.
  for (int percent = 1; percent <= 100; ++percent) CHECK(nearest_rank(from_to(1, 100), percent) == percent);
}

TEST_CASE("no samples have no percentiles, and a percentage out of range is an error") {
  CHECK_FALSE(nearest_rank({}, 50).has_value());
  CHECK_THROWS_AS(nearest_rank(from_to(1, 3), 0), std::invalid_argument);
  CHECK_THROWS_AS(nearest_rank(from_to(1, 3), 101), std::invalid_argument);
}

TEST_CASE("samples in any order give the same percentiles") {
  const Percentiles values = percentiles_of({30, 10, 20});
  CHECK(values.n == 3);
  CHECK(values.sum == 60);
  CHECK(values.min == 10);
  CHECK(values.p50 == 20);
  CHECK(values.p90 == 30);
  CHECK(values.max == 30);
}

TEST_CASE("the 99th percentile needs 100 samples") {
  CHECK_FALSE(percentiles_of(from_to(1, 99)).p99.has_value());
  CHECK(percentiles_of(from_to(1, 100)).p99 == 99);
}

TEST_CASE("an empty summary has a count of zero and nothing else: no start value of an accumulator") {
  const Percentiles none = percentiles_of({});
  CHECK(none.n == 0);
  CHECK(none.sum == 0);
  for (const auto& value : {none.min, none.p50, none.p90, none.p99, none.max}) CHECK_FALSE(value.has_value());
  CHECK_FALSE(mean_of(none).has_value());
}

TEST_CASE("a mean lies between the smallest and the largest sample") {
  const Percentiles reallocations = percentiles_of({2, 2, 4});
  CHECK(mean_of(reallocations).value() == Approx(2.667).epsilon(0.001));
  CHECK(reallocations.min == 2);
  CHECK(reallocations.max == 4);
  CHECK(reallocations.n == 3);
}

TEST_CASE("percentiles of random samples are ordered and are samples") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Count> values(1 + random() % 300);
    for (Count& value : values) value = static_cast<Count>(random() % 1000);
    const Percentiles p = percentiles_of(values);
    CHECK((p.min <= p.p50 && p.p50 <= p.p90 && p.p90 <= p.max));
    if (p.p99) CHECK((p.p90 <= p.p99 && p.p99 <= p.max));
    // The definition, counted: at least half of the samples are at or below the median, fewer than half below it.
    const auto at_or_below = std::count_if(values.begin(), values.end(), [&](Count v) { return v <= *p.p50; });
    const auto below = std::count_if(values.begin(), values.end(), [&](Count v) { return v < *p.p50; });
    CHECK(2 * at_or_below >= p.n);
    CHECK(2 * below < p.n);
  }
}

TEST_CASE("a ratio to nothing is not defined") {
  CHECK(ratio(146, 71).value() == Approx(2.0563).epsilon(1e-4));
  CHECK_FALSE(ratio(1, 0).has_value());
  CHECK_FALSE(ratio(0, 0).has_value());
}

TEST_CASE("prefill does not count as decoding") {
  // 100 tokens in 1 s, then nine decodes of 0.1 s: 10 tokens/s, not 9 / 1.9.
  std::vector<Count> times(10, 100'000'000), fed(10, 1);
  times[0] = 1'000'000'000;
  fed[0] = 100;
  const Latency latency = latency_of(times, fed);
  CHECK(latency.time_to_first_token_ns == 1'000'000'000);
  CHECK(latency.total_ns == 1'900'000'000);
  CHECK(latency.inter_token_ns.n == 9);
  CHECK(decode_tokens_per_second(latency).value() == Approx(10));
}

TEST_CASE("a run with prefill only has no decode rate and no inter-token latency") {
  const Latency latency = latency_of(std::vector<Count>{5}, std::vector<Count>{100});
  CHECK(latency.inter_token_ns.n == 0);
  CHECK_FALSE(latency.inter_token_ns.p50.has_value());
  CHECK_FALSE(decode_tokens_per_second(latency).has_value());
}

TEST_CASE("a clock that went backwards is an internal error") {
  CHECK_THROWS_AS(latency_of(std::vector<Count>{1, -1}, std::vector<Count>{1, 1}), std::logic_error);
  CHECK_THROWS_AS(latency_of(std::vector<Count>{1}, std::vector<Count>{1, 1}), std::logic_error);
}

TEST_CASE("the rate of several repetitions is all tokens over all time") {
  RunResult result = tests::plan_run("w", "crop", 100);
  for (const Count seconds : {1, 4}) {
    Repetition repetition;
    repetition.latency = latency_of(std::vector<Count>{seconds * 1'000'000'000}, std::vector<Count>{100});
    result.repetitions.push_back(repetition);
  }
  CHECK(tokens_per_second(result).value() == Approx(40));  // not 62.5, the mean of 100 and 25
  CHECK(tokens_per_second(result, result.repetitions[1]).value() == Approx(25));
  result.outcome.kind = "interrupted";
  CHECK_FALSE(tokens_per_second(result).has_value());
}

TEST_CASE("repetitions are pooled: percentiles over all evaluations, total and parts of the median one") {
  const Latency pooled = pooled_latency(tests::timed_run("w", "crop", 3)).value();
  // us: 1000 10 20, 1001 11 21, 1002 12 22
  CHECK(pooled.evaluation_ns.n == 9);
  CHECK(pooled.evaluation_ns.min == 10'000);
  CHECK(pooled.evaluation_ns.p50 == 21'000);
  CHECK(pooled.evaluation_ns.max == 1'002'000);
  CHECK(pooled.inter_token_ns.n == 6);
  CHECK(pooled.inter_token_ns.p50 == 12'000);
  CHECK(pooled.total_ns == 1'033'000);
  CHECK(pooled.time_to_first_token_ns == 1'001'000);
  CHECK(pooled.parts_ns.front().second == 1001);
}

TEST_CASE("without single times the first repetition's percentiles stand") {
  RunResult result = tests::timed_run("w", "crop", 3);
  for (Repetition& repetition : result.repetitions) repetition.evaluation_ns.clear();
  result.evaluation_fed.clear();
  const Latency pooled = pooled_latency(result).value();
  CHECK(pooled.evaluation_ns.n == 3);
  CHECK(pooled.evaluation_ns.max == 1'000'000);
  CHECK(pooled.total_ns == 1'033'000);
}

TEST_CASE("a run that was not timed has no latency") {
  CHECK_FALSE(pooled_latency(tests::plan_run("w", "crop", 1)).has_value());
}

}  // namespace
}  // namespace kvreplay::reports
