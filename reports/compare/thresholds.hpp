// Limits a user sets on single numbers: METRIC:STAT:LIMIT.
#pragma once

#include "reports/compare/comparison.hpp"
#include "reports/compare/matching.hpp"
#include "reports/metrics.hpp"

#include <stdexcept>
#include <string>

namespace kvreplay::reports {

enum class Statistic : std::uint8_t { median, mean, min, max };
enum class LimitKind : std::uint8_t { percent, factor, increase, value };

struct Threshold {
  std::string text;  // as given
  const Metric* metric = nullptr;
  Statistic statistic = Statistic::median;  // over repetitions
  LimitKind kind = LimitKind::percent;
  double limit = 0;  // percent, factor, or the metric's unit
};

// "latency.total_ns:median:5%": names the part that is wrong, what was given for it, and what is known.
struct ThresholdError : std::invalid_argument {
  ThresholdError(const std::string& message, std::string given_text, std::vector<std::string> known)
      : std::invalid_argument(message), given(std::move(given_text)), candidates(std::move(known)) {}
  std::string given;
  std::vector<std::string> candidates;
};

// METRIC of metrics.hpp; STAT median, mean, min or max over repetitions; LIMIT the most the number may get worse: "5%"
// and "1.05x" against the baseline, "+N" by N more, "N" to N, with a unit (ns us ms s, B KiB MiB GiB) where the metric
// has one. For metrics of which more is better the limits hold downwards. Throws ThresholdError.
Threshold parse_threshold(const std::string& text);

// The row for one run; change is regressed if the limit is broken, inconclusive where `withheld` says why the
// baseline's times must not be used. Absent where either side lacks the number.
std::optional<ComparisonRow> threshold_row(const Threshold& threshold, const MatchedCell& cell,
                                           const std::string& withheld);

}  // namespace kvreplay::reports
