// Results as long CSV: one number a record.
#pragma once

#include "reports/result.hpp"

#include <string>

namespace kvreplay::reports {

// Columns workload, policy, repetition, metric, unit, value, model, depth. `workload` is the path (the id where there
// is none). `repetition` is blank for counters, which are the same in all, and for measurements over all repetitions.
// A record `outcome` says how each run ended. A value that is not defined is blank.
std::string write_result_csv(const ResultFile& file);

}  // namespace kvreplay::reports
