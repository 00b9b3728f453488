// Judges times: gathers the repetitions of every matched run, tests each kind of time over the whole table, and says
// what is known of each (docs/comparing.md, "Times").
#pragma once

#include "reports/compare/compare.hpp"
#include "reports/compare/matching.hpp"

#include <string>
#include <vector>

namespace kvreplay::reports {

struct TimeRules {
  double alpha = 0.05, effect_floor = 0.05;
  Count absolute_floor_ns = 0;
  NoiseFloor noise;
  bool is_advice = false;     // other machine
  bool counts_files = false;  // one value a file instead of one a repetition
};

// Appends the rows of times to comparison.cells, which correspond to `cells` one by one, and the hints where one moved.
// `reference` is the policy spec relative times refer to; empty: none.
void add_times(Comparison& comparison, const std::vector<MatchedCell>& cells, const std::string& reference,
               const TimeRules& rules);

}  // namespace kvreplay::reports
