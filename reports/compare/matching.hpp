// Which run of the candidate belongs to which of the baseline, and what forbids comparing them.
#pragma once

#include "reports/compare/side.hpp"

#include <string>
#include <vector>

namespace kvreplay::reports {

struct MatchedCell {
  const SideCell* baseline = nullptr;
  const SideCell* candidate = nullptr;
};

struct Matching {
  std::vector<MatchedCell> cells;  // in the baseline's order
  std::vector<std::string> notes;  // runs only one side has
};

// Runs match by identity_fields; of several, the one of the same path and depth. Throws NotComparable naming, for every
// run of the baseline that has no counterpart, the fields in which the nearest run differs; with `only_common` such
// runs become notes, as long as one is left. Settings of the replay that counters depend on (truncate, at_limit,
// memory_limit) must be equal as well. The sides must outlive the result.
Matching matched(const Side& baseline, const Side& candidate, bool only_common);

}  // namespace kvreplay::reports
