// What a comparison of two results found: plain records that its writers read (docs/comparing.md).
#pragma once

#include "reports/measurements.hpp"
#include "reports/result.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::reports {

// changed: another number of which nobody can say that it is better or worse.
enum class Change : std::uint8_t { regressed, improved, changed, unchanged, inconclusive };
std::string_view name_of(Change change);

enum class RowKind : std::uint8_t { outcome, counter, relative_time, absolute_time, cpu_time, part_time, threshold };
std::string_view name_of(RowKind kind);
bool is_time(RowKind kind);

struct Interval {
  double low = 1, high = 1;
};

struct ComparisonRow {
  RowKind kind = RowKind::counter;
  std::string metric;  // of metrics.hpp; for a threshold its text
  std::string unit;
  Number baseline, candidate;   // counters: integers; times: medians over repetitions
  std::optional<double> ratio;  // candidate over baseline
  Change change = Change::unchanged;
  bool is_advice = false;  // said, but no reason to fail
  std::string note;
  // Times only.
  std::optional<Interval> interval;           // of the ratio, 99 %
  std::optional<double> p;                    // Mann-Whitney, two-sided, after Holm
  std::optional<double> smallest_detectable;  // relative change that would have been found in 4 of 5 cases
  Count num_baseline = 0, num_candidate = 0;  // repetitions
  Count num_outliers_baseline = 0, num_outliers_candidate = 0;  // kept all the same
};

struct CellComparison {
  std::string workload;  // label
  std::string path, policy, model, depth;
  std::vector<ComparisonRow> rows;
  std::string hint;  // why times moved, as far as the numbers say; empty where they did not
};

struct SideSummary {
  std::vector<std::string> files;
  std::vector<std::pair<std::string, std::string>> facts;  // commit, date, machine ...
};

struct Comparison {
  SideSummary baseline, candidate;
  std::string reference;  // policy the relative times refer to; empty where there are none
  double alpha = 0, effect_floor = 0, noise_floor_relative = 0, noise_floor_absolute = 0;
  double noise_floor_cpu = 0;
  Count absolute_floor_ns = 0;
  std::string noise_source;        // where the noise floors come from
  std::string times_withheld;      // why times are not compared; empty if they are or there are none
  std::vector<std::string> notes;  // everything a reader must know before believing a verdict
  std::vector<CellComparison> cells;
};

// Rows of all cells with this change, without advice. Kinds: all; times; thresholds; counters and outcomes.
enum class Among : std::uint8_t { all, times, thresholds, counters };
Count num_rows(const Comparison& comparison, Change change, Among among);

// The sentence a reader sees first.
std::string verdict_text(const Comparison& comparison);

// Two results that must not be compared, or a baseline that is not there: one line per reason.
class NotComparable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kvreplay::reports
