#include "reports/compare/median_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <boost/math/distributions/binomial.hpp>

namespace kvreplay::reports {
namespace {

struct Atom {
  double value;  // logarithm
  double weight;
};

// The bootstrap distribution of the median: P(median <= x_k) = P(Binomial(n, k / n) >= rank).
std::vector<Atom> resampled_median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  const double rank = std::ceil(n / 2);
  std::vector<Atom> atoms;
  double before = 0;
  for (std::size_t k = 1; k <= sorted.size(); ++k) {
    const boost::math::binomial draws(n, static_cast<double>(k) / n);
    const double reached = k == sorted.size() ? 1 : boost::math::cdf(boost::math::complement(draws, rank - 1));
    constexpr double negligible = 1e-9;
    if (reached - before > negligible) atoms.push_back({std::log(sorted[k - 1]), reached - before});
    before = reached;
  }
  return atoms;
}

double variance_of(const std::vector<Atom>& atoms) {
  double total = 0, mean = 0, square = 0;
  for (const Atom& atom : atoms) total += atom.weight;
  for (const Atom& atom : atoms) mean += atom.weight * atom.value / total;
  for (const Atom& atom : atoms) square += atom.weight * (atom.value - mean) * (atom.value - mean) / total;
  return square;
}

double quantile_of(const std::vector<Atom>& sorted, double total, double p) {
  double reached = 0;
  for (const Atom& atom : sorted) {
    reached += atom.weight;
    if (reached >= p * total) return atom.value;
  }
  return sorted.back().value;
}

void need_positive(std::span<const double> values) {
  const bool positive = std::all_of(values.begin(), values.end(), [](double v) { return v > 0 && std::isfinite(v); });
  if (values.empty() || !positive) throw std::invalid_argument("a ratio of medians needs positive values");
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

MedianRatio median_ratio(std::span<const double> baseline, std::span<const double> candidate, double confidence) {
  need_positive(baseline);
  need_positive(candidate);
  if (!(confidence > 0 && confidence < 1)) throw std::invalid_argument("a confidence lies between 0 and 1");
  const std::vector<Atom> old_medians = resampled_median(baseline), new_medians = resampled_median(candidate);
  std::vector<Atom> ratios;
  ratios.reserve(old_medians.size() * new_medians.size());
  double total = 0;
  for (const Atom& after : new_medians) {
    for (const Atom& before : old_medians) {
      ratios.push_back({after.value - before.value, after.weight * before.weight});
      total += ratios.back().weight;
    }
  }
  std::sort(ratios.begin(), ratios.end(), [](const Atom& a, const Atom& b) { return a.value < b.value; });
  MedianRatio result;
  result.ratio = median_of({candidate.begin(), candidate.end()}) / median_of({baseline.begin(), baseline.end()});
  result.low = std::exp(quantile_of(ratios, total, (1 - confidence) / 2));
  result.high = std::exp(quantile_of(ratios, total, (1 + confidence) / 2));
  result.log_error = std::sqrt(variance_of(old_medians) + variance_of(new_medians));
  return result;
}

std::vector<bool> outliers_of(std::span<const double> values) {
  constexpr std::size_t fewest = 5;
  std::vector<bool> flags(values.size(), false);
  if (values.size() < fewest) return flags;
  const double middle = median_of({values.begin(), values.end()});
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  constexpr double normal_scale = 1.4826, most_deviations = 5;
  const double limit = most_deviations * normal_scale * median_of(distances);
  for (std::size_t i = 0; i < values.size(); ++i) flags[i] = distances[i] > limit && limit > 0;
  return flags;
}

}  // namespace kvreplay::reports
