// Results with times drawn from a known distribution, for tests of comparisons.
#pragma once

#include "reports/compare/compare.hpp"
#include "reports/result.hpp"

#include <cstdint>
#include <vector>

namespace kvreplay::reports::tests {

struct Noisy {
  Count repetitions = advised_repetitions;
  std::uint64_t seed = 1;
  double spread = 0.02;         // times are uniform within +- sqrt(3) of these: its standard deviation
  double process_spread = 0;    // the same of a factor each policy of a file has for itself
  double factor = 1;            // of the second policy's times
  bool factor_of_all = false;   // of the first one's as well
  double slower_attention = 0;  // of the second policy: this share of its time more, all of it in attention
};

// Policies discard and crop on one workload at depth compute, of one machine and build; every repetition of a policy
// takes about 100 or 20 ms. Equal arguments give equal files.
ResultFile noisy_file(const Noisy& noisy);

// The comparison of two files with settings as they are without options.
Comparison compared(const ResultFile& baseline, const ResultFile& candidate);

// The same of several files a side, which tell of their seeds alone.
Comparison compared(const std::vector<Noisy>& baseline, const std::vector<Noisy>& candidate);

}  // namespace kvreplay::reports::tests
