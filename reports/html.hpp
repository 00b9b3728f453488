// Results as one HTML page that people open: no network, light and dark, for screens, phones, paper and screen readers.
#pragma once

#include "reports/result.hpp"

#include <string>

namespace kvreplay::reports {

// A verdict, the table of policies, and per workload the memory, recomputed tokens, latency and rewinds. The page is
// reports/html/, Chart.js included; names and numbers are JSON in it, made into text and never into markup. Under 5 MB
// however long the runs and, up to a few hundred runs, however many: long series are thinned, their peaks kept.
std::string write_html(const ResultFile& file);

}  // namespace kvreplay::reports
