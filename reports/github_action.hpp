// Input of benchmark-action/github-action-benchmark, tool customSmallerIsBetter.
#pragma once

#include "reports/result.hpp"

#include <string>

namespace kvreplay::reports {

// A JSON list of {name, unit, value, range, extra}: the key numbers of every completed run. `range` only where there
// were several repetitions.
std::string write_github_action(const ResultFile& file);

}  // namespace kvreplay::reports
