// A result flattened to metric, unit, value: what the long CSV and the Google Benchmark file are made of.
#pragma once

#include "reports/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::reports {

struct Measurement {
  std::string metric;  // name of metrics.hpp; counters and parts it does not know keep their own
  std::string unit;
  Number value;
};

// Exact counters, in the order of the record.
std::vector<Measurement> counted(const RunResult& result);
// What was measured over all repetitions; empty where nothing was timed.
std::vector<Measurement> measured(const RunResult& result);
// What was measured in one repetition.
std::vector<Measurement> measured(const RunResult& result, const Repetition& repetition);

// Shortest text that gives the number back, "" for monostate and what is not finite; independent of the locale.
std::string text_of(const Number& number);

}  // namespace kvreplay::reports
