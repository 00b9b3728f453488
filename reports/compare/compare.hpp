// Compares two results: counters exactly, times by their repetitions (docs/comparing.md).
#pragma once

#include "reports/compare/comparison.hpp"
#include "reports/compare/noise.hpp"
#include "reports/compare/side.hpp"
#include "reports/compare/thresholds.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::reports {

struct ComparisonSettings {
  std::string reference;  // policy that relative times refer to; empty: the first policy both sides have
  double alpha = 0.05;
  double effect_floor = 0.05;        // relative changes that cannot reach this do not matter
  Count absolute_floor_ns = 10'000;  // nor do smaller differences of medians
  std::optional<NoiseFloor> noise;   // calibrated on this machine
  std::vector<Threshold> thresholds;
  bool only_common = false;
};

// Fewer repetitions say nothing reliable; these are what docs/comparing.md advises.
inline constexpr Count fewest_repetitions = 9, advised_repetitions = 30;

// The note of a time whose difference is too small to matter.
inline constexpr std::string_view below_absolute_floor = "below the absolute floor";

// Throws NotComparable, naming the field that differs; also where a threshold names a number no run has on both sides,
// or `reference` no policy.
Comparison compare(const Side& baseline, const Side& candidate, const ComparisonSettings& settings);

}  // namespace kvreplay::reports
