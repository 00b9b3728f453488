// Bencher Metric Format, for bencher.dev: `bencher run --adapter json`.
#pragma once

#include "reports/result.hpp"

#include <string>

namespace kvreplay::reports {

// {"workload/policy": {"tokens-evaluated": {"value": 149}, "latency": {"value", "lower_value", "upper_value"}, ...}}:
// the key numbers of every completed run under measures named as Bencher's slugs; its own `latency`, in ns, is the
// total time.
std::string write_bencher(const ResultFile& file);

}  // namespace kvreplay::reports
