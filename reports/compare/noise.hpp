// The false-alarm floor of a machine: how far medians of the same build differ from run to run. Measured by comparing A
// with A (`compare --calibrate-noise`), stored as JSON, schema kvreplay.noise/1.
#pragma once

#include "reports/compare/comparison.hpp"
#include "reports/compare/side.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::reports {

inline constexpr std::string_view noise_schema = "kvreplay.noise/1";

struct NoiseFloor {
  double relative = 0, absolute = 0, cpu = 0,
         part = 0;       // largest |ratio of medians - 1| between runs of one build, by kind
  Count num_pairs = 0;   // comparisons behind it
  Count num_alarms = 0;  // of these, comparisons with a false alarm before it was known
  Fields machine;        // machine_fields
  std::string source;    // file it was read from
};

// What makes two machines the same one for absolute times. A key that a provenance lacks is absent from the list.
Fields machine_fields(const Fields& provenance);

// Compares every two runs with each other. Each needs times, and all must come from one build on one machine; otherwise
// throws NotComparable, as also for fewer than two.
NoiseFloor calibrated(const std::vector<NamedResult>& runs);

std::string write_noise(const NoiseFloor& floor);
// Throws ResultError.
NoiseFloor read_noise(std::string_view text, const std::string& name);

}  // namespace kvreplay::reports
