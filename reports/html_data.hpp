// What the HTML page shows, as JSON: the tables of overview.hpp and series short enough to draw.
// Only .cpp files include this.
#pragma once

#include "reports/json_values.hpp"
#include "reports/result.hpp"

namespace kvreplay::reports {

// How much of each run the page holds, so that the whole stays small.
struct PageBudget {
  std::size_t points;  // of a run's timeline
  std::size_t events;  // rows of its table of rewinds and reallocations
};
PageBudget page_budget(std::size_t num_runs);

// {"verdict", "workloads": [{"label", "columns", "rows", "runs": [...]}], "settings", "provenance"};
// reports/html/ reads it. Names are printable and at most 2,000 columns wide.
Json page_data(const ResultFile& file);

// One point per stretch of evaluations, the one that held the most: columns of equal length, bytes.
Json memory_series(const RunResult& result, std::size_t max_points);

// Rewinds, reallocations, refusals and recomputed tokens, {"columns", "rows", "left_out"}: in order; where there are
// more than max_events, those that recomputed and moved the most.
Json event_rows(const RunResult& result, std::size_t max_events);

// {"evaluation": [...], "ns": [...]}: the median over repetitions of each evaluation, the slowest of each stretch; null
// where nothing was timed.
Json latency_series(const RunResult& result, std::size_t max_points);

// 101 nearest-rank percentiles 0..100 of all timed evaluations, ns; null where single times were not stored.
Json latency_quantiles(const RunResult& result);

}  // namespace kvreplay::reports
