// Takes out of times what involuntary context switches explain: on a machine with other work each one costs a time
// slice, and which repetition it hits is chance.
//
// The number of switches is a covariate that the compared code does not decide, so adjusting for it removes noise and
// no effect (control variates; A. Deng et al., "Improving the Sensitivity of Online Controlled Experiments by Utilizing
// Pre-Experiment Data", WSDM 2013). The cost of one is the Theil-Sen slope, which a few wild repetitions do not move
// (P. K. Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau", J. Am. Stat. Assoc. 63 (1968)).
#pragma once

#include <span>
#include <vector>

namespace kvreplay::reports {

struct DisturbedTimes {
  std::vector<double> ns;
  std::vector<double> switches;  // one per time; empty: not known
};

// What one involuntary switch costs: the median slope between two repetitions of the same side, never negative. 0 where
// switches are not known of all, or never differ.
double cost_of_switch_ns(const DisturbedTimes& baseline, const DisturbedTimes& candidate);

// Both sides as if every repetition had been interrupted as often as the median one of both. At least 1 ns each.
void adjust(DisturbedTimes& baseline, DisturbedTimes& candidate);

}  // namespace kvreplay::reports
