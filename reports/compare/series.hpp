// The numbers a time is judged by: one per repetition and side.
#pragma once

#include "reports/compare/comparison.hpp"
#include "reports/compare/matching.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kvreplay::reports {

struct TimeSeries {
  RowKind kind = RowKind::absolute_time;
  std::string metric, unit;
  std::size_t cell = 0;                     // ordinal of the matched cell
  std::vector<double> baseline, candidate;  // ns, or ratios; positive; adjusted for involuntary switches
  double candidate_ns = 0;                  // median time the ratios are of; the median itself for a time
  double busy_share = 1;                    // of an elapsed time: see busy_share below; 1 for CPU times
};

// Of every matched cell with times on both sides: the total over that of `reference` in the same file and repetition
// (not for the reference itself, nor where its workload lacks it), the total, the CPU time, and every part. One value a
// repetition, or with `counts_files` one a file, the median of its repetitions.
std::vector<TimeSeries> time_series(const std::vector<MatchedCell>& cells, const std::string& reference,
                                    bool counts_files);

// Largest relative change of the medians between the first and the second half of a side's repetitions, of the median
// run: a drift of the machine while it measured. 0 for fewer than 8 repetitions.
double drift_of(const std::vector<MatchedCell>& cells, bool of_candidate);

// Share of its elapsed time that a run computed: CPU time of all threads over it, the median over repetitions, of the
// two sides the smaller; from 0 to 1, and 1 where CPU times are not known. With several threads it says only that less
// than one of them was at work.
double busy_share(const MatchedCell& cell);

// Largest share of a run's time that it spent waiting behind other programs, from 0 to 1: what involuntary switches
// explain, or what no thread computed, whichever is more.
double waiting_share(const std::vector<MatchedCell>& cells);

}  // namespace kvreplay::reports
