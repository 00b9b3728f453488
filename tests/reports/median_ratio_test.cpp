// The bootstrap of a ratio of medians: worked by hand, and against simulated resampling.

#include "reports/compare/median_ratio.hpp"
#include "reports/compare/preemption.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace kvreplay::reports {

TEST_CASE("the median is the value at rank ceil(n / 2)") {
  CHECK(median_of({3, 1, 2}) == 2);
  CHECK(median_of({4, 1, 3, 2}) == 2);
  CHECK(median_of({7}) == 7);
  CHECK(median_of({}) == 0);
}

TEST_CASE("of three values a resample's median is the outer ones seven times in 27 each") {
  // Two or three of three draws must be the lowest: 3 * (1/9)(2/3) + 1/27 = 7/27.
  const std::vector<double> one{1}, three{1, 2, 4};
  const MedianRatio half = median_ratio(one, three, 1 - 2 * 8.0 / 27);  // 8/27 is above 7/27: the middle
  CHECK(half.ratio == 2);
  CHECK(half.low == Approx(2));
  CHECK(half.high == Approx(2));
  const MedianRatio wide = median_ratio(one, three, 1 - 2 * 6.0 / 27);  // 6/27 is below it: the outer ones
  CHECK(wide.low == Approx(1));
  CHECK(wide.high == Approx(4));
  // Var of log2 median: 2 * 7/27, in natural logarithms.
  CHECK(half.log_error == Approx(std::log(2.0) * std::sqrt(14.0 / 27)));
}

TEST_CASE("the interval is that of many simulated resamples") {
  std::mt19937_64 random(11);
  std::vector<double> a, b;
  for (int i = 0; i < 15; ++i) a.push_back(100 + static_cast<double>(random() % 1000) / 50);
  for (int i = 0; i < 12; ++i) b.push_back(105 + static_cast<double>(random() % 1000) / 40);
  const auto resampled = [&random](const std::vector<double>& values) {
    std::vector<double> draw(values.size());
    for (double& value : draw) value = values[random() % values.size()];
    return median_of(draw);
  };
  std::vector<double> ratios(200'000);
  for (double& ratio : ratios) ratio = resampled(b) / resampled(a);
  std::sort(ratios.begin(), ratios.end());
  const MedianRatio exact = median_ratio(a, b, 0.9);
  // The true quantile lies between simulated ones a little to either side: 5 standard errors of a share of 0.05.
  const auto at = [&ratios](double p) {
    return ratios[static_cast<std::size_t>(p * static_cast<double>(ratios.size()))];
  };
  constexpr double error = 0.0025, rounding = 1e-9;
  CHECK(exact.low >= at(0.05 - error) - rounding);
  CHECK(exact.low <= at(0.05 + error) + rounding);
  CHECK(exact.high >= at(0.95 - error) - rounding);
  CHECK(exact.high <= at(0.95 + error) + rounding);
  CHECK(exact.ratio == Approx(median_of(b) / median_of(a)));
}

TEST_CASE("a ratio of nothing, of zero or of infinity is refused") {
  const std::vector<double> good{1, 2}, zero{0, 1}, infinite{1, INFINITY};
  CHECK_THROWS_AS(median_ratio({}, good, 0.9), std::invalid_argument);
  CHECK_THROWS_AS(median_ratio(good, zero, 0.9), std::invalid_argument);
  CHECK_THROWS_AS(median_ratio(infinite, good, 0.9), std::invalid_argument);
  CHECK_THROWS_AS(median_ratio(good, good, 1), std::invalid_argument);
}

TEST_CASE("an outlier is flagged and stays") {
  const std::vector<double> values{10, 11, 10, 12, 11, 40};
  CHECK(outliers_of(values) == std::vector<bool>{false, false, false, false, false, true});
  CHECK(outliers_of(std::vector<double>{1, 100}) == std::vector<bool>{false, false});
  CHECK(outliers_of(std::vector<double>(8, 5.0)) == std::vector<bool>(8, false));
}

TEST_CASE("what interruptions cost is taken out and nothing else") {
  // 10 ms of work and 4 ms a switch; the candidate works 11 ms and is interrupted more.
  const auto side = [](double work, std::vector<double> switches) {
    DisturbedTimes times;
    for (const double number : switches) times.ns.push_back((work + 4 * number) * 1e6);
    times.switches = std::move(switches);
    return times;
  };
  DisturbedTimes before = side(10, {0, 1, 2, 1, 0}), now = side(11, {2, 3, 1, 3, 2});
  CHECK(cost_of_switch_ns(before, now) == Approx(4e6));
  adjust(before, now);
  for (const double ns : before.ns) CHECK(ns == Approx(14e6));  // as if interrupted once, the median of all
  for (const double ns : now.ns) CHECK(ns == Approx(15e6));
}

TEST_CASE("times whose interruptions are unknown, equal or free stay as they are") {
  DisturbedTimes unknown{{5, 6, 7}, {}}, known{{5, 6, 7}, {1, 2, 3}};
  CHECK(cost_of_switch_ns(unknown, known) == 0);
  adjust(unknown, known);
  CHECK(known.ns == std::vector<double>{5, 6, 7});
  CHECK(cost_of_switch_ns({{5, 6, 7}, {2, 2, 2}}, {{5, 6, 7}, {1, 1, 1}}) == 0);
  CHECK(cost_of_switch_ns({{7, 6, 5}, {1, 2, 3}}, {{7, 6, 5}, {1, 2, 3}}) == 0);  // never a gain
}

}  // namespace kvreplay::reports
