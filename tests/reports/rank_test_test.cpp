// Mann-Whitney and Holm against published tables and SciPy.

#include "reports/compare/rank_test.hpp"
#include "tests/catch.hpp"
#include "tests/reports/outside.hpp"

#include <fmt/format.h>

#include <random>

namespace kvreplay::reports {
namespace {

std::vector<double> values_to(int first, int last) {
  std::vector<double> values;
  for (int value = first; value <= last; ++value) values.push_back(value);
  return values;
}

}  // namespace

TEST_CASE("separate samples give the least p there is, two over the number of orderings") {
  CHECK(mann_whitney(values_to(1, 5), values_to(6, 10)).p == Approx(2.0 / 252));
  CHECK(mann_whitney(values_to(10, 18), values_to(1, 9)).p == Approx(2.0 / 48620));
  CHECK(smallest_p(9, 9) == Approx(2.0 / 48620));
  CHECK(smallest_p(3, 3) == Approx(0.1));
  CHECK(smallest_p(1, 1) == 1);
  CHECK(smallest_p(0, 5) == 1);
}

TEST_CASE("the critical values of Mann and Whitney's table at two-sided 0.05 hold") {
  // n, m, largest U that is significant (Siegel, Nonparametric Statistics, table K): U below gives p <= 0.05, one more
  // does not.
  struct Row {
    std::size_t n, m;
    int critical;
  };
  for (const Row& row :
       {Row{5, 5, 2}, Row{8, 8, 13}, Row{9, 9, 17}, Row{10, 10, 23}, Row{20, 20, 127}, Row{5, 10, 8}}) {
    INFO(row.n << " and " << row.m);
    const auto p_of = [&row](int u) {
      // The first sample below all of the second, then one of its values moved up past u of them.
      std::vector<double> first, second;
      for (std::size_t i = 0; i < row.m; ++i) second.push_back(100.0 + static_cast<double>(i));
      int left = u;
      for (std::size_t i = 0; i < row.n; ++i) {
        const int passed = std::min(left, static_cast<int>(row.m));
        left -= passed;
        first.push_back(99.5 + passed - 0.01 * static_cast<double>(i));
      }
      const RankTest test = mann_whitney(first, second);
      CHECK(test.exact);
      CHECK(test.u == u);
      return test.p;
    };
    CHECK(p_of(row.critical) <= 0.05);
    CHECK(p_of(row.critical + 1) > 0.05);
  }
}

TEST_CASE("samples without anything to tell apart have p = 1") {
  CHECK(mann_whitney(std::vector<double>{3, 3, 3}, std::vector<double>{3, 3}).p == 1);
  CHECK(mann_whitney({}, std::vector<double>{1, 2}).p == 1);
  CHECK(mann_whitney(std::vector<double>{1}, std::vector<double>{2}).p == 1);
}

TEST_CASE("U and p are SciPy's, exact and approximate, with ties and without") {
  if (!tests::python_has("scipy", "python3-scipy")) return;
  std::mt19937 random(7);
  std::string script = "from scipy.stats import mannwhitneyu as test\nwrong = []\n";
  for (int round = 0; round < 60; ++round) {
    const auto sample = [&](bool ties) {
      std::vector<double> values(1 + random() % 30);
      for (double& value : values) value = static_cast<double>(random() % (ties ? 12 : 1'000'000'000));
      return values;
    };
    const std::vector<double> a = sample(round % 2 == 0), b = sample(round % 2 == 0);
    const RankTest ours = mann_whitney(a, b);
    const bool all_equal = ours.p == 1 && a.size() == 1 && b.size() == 1 && a == b;
    if (all_equal) continue;  // SciPy divides by zero
    script += fmt::format(
        "r = test([{}], [{}], method='{}')\nif abs(r.statistic - {}) > 1e-9 or abs(r.pvalue - {:.17g}) > 1e-9: "
        "wrong.append(({}, r.statistic, r.pvalue, {:.17g}))\n",
        fmt::join(a, ","), fmt::join(b, ","), ours.exact ? "exact" : "asymptotic", ours.u, ours.p, round, ours.p);
  }
  script += "print(wrong)\nraise SystemExit(1 if wrong else 0)\n";
  const tests::ProgramResult result = tests::run_python(script, {});
  INFO(result.output);
  CHECK(result.exit_code == 0);
}

TEST_CASE("Holm multiplies the least p by all, the next by one less, and never goes down") {
  // Holm 1979's procedure by hand: 0.01 * 4, 0.013 * 3, 0.02 * 2, 0.5.
  const std::vector<double> adjusted = holm(std::vector<double>{0.5, 0.01, 0.02, 0.013});
  REQUIRE(adjusted.size() == 4);
  CHECK(adjusted[1] == Approx(0.04));
  CHECK(adjusted[3] == Approx(0.04));  // 0.039 would be below the one before
  CHECK(adjusted[2] == Approx(0.04));
  CHECK(adjusted[0] == Approx(0.5));
  CHECK(holm(std::vector<double>{0.6, 0.7})[0] == 1);
  CHECK(holm({}).empty());
}

}  // namespace kvreplay::reports
