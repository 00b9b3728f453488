// Summaries of measured times: nearest-rank percentiles, latencies, rates and ratios.
//
// Percentiles are of latencies, never of rates; an average rate is total work over total time.
#pragma once

#include "reports/result.hpp"

#include <optional>
#include <span>
#include <vector>

namespace kvreplay::reports {

// Runs longer than this keep percentiles of a repetition instead of its single times.
inline constexpr Count max_stored_evaluations = 100'000;
// A 99th percentile of fewer samples would be their maximum under another name.
inline constexpr Count min_samples_p99 = 100;

// Smallest sample with at least `percent` % of all samples at or below it: the one at rank ceil(n * percent / 100).
// `sorted` ascending, 1 <= percent <= 100; absent for no samples.
std::optional<Count> nearest_rank(std::span<const Count> sorted, int percent);

// Percentiles of samples in any order.
Percentiles percentiles_of(std::vector<Count> samples);

// sum / n; absent for no samples.
std::optional<double> mean_of(const Percentiles& samples);

// a / b; absent where b is 0.
std::optional<double> ratio(Count a, Count b);

// Latency of one repetition without its parts: evaluation_ns and fed have one entry per evaluation, in order.
// Throws std::logic_error where the lengths differ or a time is negative: the clock or the caller is broken, and the
// number must not be written.
Latency latency_of(std::span<const Count> evaluation_ns, std::span<const Count> fed);

// All repetitions as one: percentiles over the pooled evaluations, total and parts of the repetition with the median
// total, median time to first token. Where single times were not stored, the percentiles are the first repetition's.
// Absent where nothing was timed.
std::optional<Latency> pooled_latency(const RunResult& result);

// Tokens evaluated in all timed repetitions over their total time; absent where nothing was timed or counted, and for
// an interrupted run, whose repetitions did not all evaluate the same tokens.
std::optional<double> tokens_per_second(const RunResult& result);
// The same of one of its repetitions.
std::optional<double> tokens_per_second(const RunResult& result, const Repetition& repetition);

// Evaluations that fed one token over their total time; absent where there is none.
std::optional<double> decode_tokens_per_second(const Latency& latency);

}  // namespace kvreplay::reports
