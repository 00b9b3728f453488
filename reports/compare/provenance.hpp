// What the provenance of two sides allows to compare, and what a reader must know of it.
#pragma once

#include "reports/compare/comparison.hpp"
#include "reports/compare/matching.hpp"
#include "reports/compare/side.hpp"

#include <string>
#include <vector>

namespace kvreplay::reports {

struct TimeConditions {
  std::string withheld;       // depth, threads or build type differ: no times at all; empty where they may be compared
  std::string other_machine;  // the machine differs: times are advice; empty where it does not
  std::vector<std::string> notes;  // these, and what disturbed the measurements
};

TimeConditions time_conditions(const Side& baseline, const Side& candidate, const std::vector<MatchedCell>& cells);

SideSummary summary_of(const Side& side);

}  // namespace kvreplay::reports
