// How far two medians are apart, and how well that is known.
//
// The interval is Efron's bootstrap of the median. Resampling is not simulated: the median of a resample of n values is
// the k-th smallest of them with a probability that binomial tails give exactly (B. Efron, "Bootstrap Methods: Another
// Look at the Jackknife", Ann. Statist. 7 (1979), section 3), so the interval is that of infinitely many resamples and
// needs no seed.
#pragma once

#include <span>
#include <vector>

namespace kvreplay::reports {

// The value at rank ceil(n / 2), as nearest_rank gives it; 0 for no values.
double median_of(std::vector<double> values);

struct MedianRatio {
  double ratio = 1;          // median of the candidate over that of the baseline
  double low = 1, high = 1;  // bootstrap interval
  double log_error = 0;      // standard deviation of log(ratio) over resamples
};

// Both samples not empty and positive; 0 < confidence < 1. Throws std::invalid_argument otherwise.
MedianRatio median_ratio(std::span<const double> baseline, std::span<const double> candidate, double confidence);

// Flags of values outside median +- 5 normalised median absolute deviations (1.4826 times their median); none for fewer
// than 5 values. Flagged values stay in every statistic.
std::vector<bool> outliers_of(std::span<const double> values);

}  // namespace kvreplay::reports
