// Whether two samples differ: Mann-Whitney's U, and Holm's correction for asking so more than once.
//
// H. B. Mann, D. R. Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the
// Other", Ann. Math. Statist. 18 (1947); S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J.
// Statist. 6 (1979).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kvreplay::reports {

struct RankTest {
  double u = 0;  // of the first sample: pairs in which it is larger, ties counting half
  double p = 1;  // two-sided
  bool exact = false;
};

// Two-sided test of two samples in any order. Exact up to 50 values without ties; else the normal approximation with
// corrections for ties and continuity. p = 1 where a sample is empty or all values are equal.
RankTest mann_whitney(std::span<const double> first, std::span<const double> second);

// The least p two samples of these sizes can give: 2 / C(n + m, n), or 1 where one is empty.
double smallest_p(std::size_t num_first, std::size_t num_second);

// Adjusted p-values in the order given: rejecting those below alpha keeps the probability of any false one below alpha.
std::vector<double> holm(std::span<const double> p);

}  // namespace kvreplay::reports
