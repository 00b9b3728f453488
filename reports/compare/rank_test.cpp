#include "reports/compare/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/binomial.hpp>

namespace kvreplay::reports {
namespace {

// C(50, 25) and all sums below it are integers a double holds exactly.
constexpr std::size_t most_exact = 50;

struct Ranked {
  double rank_sum = 0;  // of the first sample, ties sharing the mean of their ranks
  double tie_term = 0;  // sum of t^3 - t over groups of t equal values
};

Ranked ranked(std::span<const double> first, std::span<const double> second) {
  std::vector<std::pair<double, bool>> all;
  all.reserve(first.size() + second.size());
  for (const double value : first) all.emplace_back(value, true);
  for (const double value : second) all.emplace_back(value, false);
  std::sort(all.begin(), all.end());
  Ranked result;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    std::size_t of_first = 0;
    for (; end < all.size() && all[end].first == all[begin].first; ++end) of_first += all[end].second ? 1 : 0;
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    const auto ties = static_cast<double>(end - begin);
    result.rank_sum += rank * static_cast<double>(of_first);
    result.tie_term += ties * ties * ties - ties;
    begin = end;
  }
  return result;
}

// Number of orderings of n and m values for each U: the coefficients of the Gaussian binomial C(n + m, n)_q.
std::vector<double> orderings_by_u(std::size_t n, std::size_t m) {
  const std::size_t largest = n * m;
  std::vector<double> count(largest + 1, 0);
  count[0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    const std::size_t factor = m + i;  // times (1 - q^factor), over (1 - q^i)
    for (std::size_t u = largest; u >= factor; --u) count[u] -= count[u - factor];
    for (std::size_t u = i; u <= largest; ++u) count[u] += count[u - i];
  }
  return count;
}

double exact_p(double u, std::size_t n, std::size_t m) {
  const std::vector<double> count = orderings_by_u(n, m);
  const double larger = std::max(u, static_cast<double>(n * m) - u);
  const auto from = static_cast<std::ptrdiff_t>(larger);
  const double tail = std::accumulate(count.begin() + from, count.end(), 0.0);
  return std::min(1.0, 2 * tail / std::accumulate(count.begin(), count.end(), 0.0));
}

double approximate_p(double u, double n, double m, double tie_term) {
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - tie_term / (total * (total - 1)));
  if (variance <= 0) return 1;
  const double larger = std::max(u, n * m - u);
  const double z = (larger - n * m / 2 - 0.5) / std::sqrt(variance);
  return std::min(1.0, 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), z)));
}

}  // namespace

RankTest mann_whitney(std::span<const double> first, std::span<const double> second) {
  if (first.empty() || second.empty()) return {};
  const Ranked ranks = ranked(first, second);
  const auto n = static_cast<double>(first.size()), m = static_cast<double>(second.size());
  RankTest test;
  test.u = ranks.rank_sum - n * (n + 1) / 2;
  test.exact = ranks.tie_term == 0 && first.size() + second.size() <= most_exact;
  test.p = test.exact ? exact_p(test.u, first.size(), second.size()) : approximate_p(test.u, n, m, ranks.tie_term);
  return test;
}

double smallest_p(std::size_t num_first, std::size_t num_second) {
  if (num_first == 0 || num_second == 0) return 1;
  // Far below any alpha, and C(n, k) would leave the range of a double.
  if (num_first + num_second > 1000) return 0;
  return std::min(1.0, 2 / boost::math::binomial_coefficient<double>(static_cast<unsigned>(num_first + num_second),
                                                                     static_cast<unsigned>(num_first)));
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&p](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace kvreplay::reports
