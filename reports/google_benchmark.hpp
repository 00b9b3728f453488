// Results as Google Benchmark's JSON, schema version 1, for its compare.py and for CI actions that read it.
#pragma once

#include "reports/result.hpp"

#include <string>

namespace kvreplay::reports {

// One row per timed repetition of a completed run: one iteration is a whole replay, real_time its evaluations' sum,
// cpu_time the process's (0 where the system does not tell). A run without comparable times (depth plan, or incomplete)
// is one row of run_type "aggregate", aggregate_name "counters", iterations and times 0, so that no tool averages it
// in; an incomplete one also says error_occurred. Counters are extra numeric keys; the official memory keys speak of
// the KV cache. Pure ASCII: readers open it in any locale.
std::string write_google_benchmark(const ResultFile& file);

}  // namespace kvreplay::reports
