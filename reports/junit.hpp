// Results as JUnit XML, which CI servers show as a list of passed and failed cases.
#pragma once

#include "reports/result.hpp"

#include <string>

namespace kvreplay::reports {

// A suite per workload, model and depth, in it a case "POLICY: outcome" per run and, where outputs were compared, a
// case "POLICY: verification". A failed verification is a failure. An incomplete run is skipped with the reason, and a
// failure where the run was asked to fail on it (config "fail_on"), so that failures and exit code agree; an
// interrupted one is an error. The outcome's case carries every number as a property and its time in seconds. Valid
// XML 1.0 whatever bytes the names hold.
std::string write_junit(const ResultFile& file);

}  // namespace kvreplay::reports
