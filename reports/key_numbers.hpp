// The few numbers of a run that a dashboard follows over time: all of them better when lower.
#pragma once

#include "reports/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kvreplay::reports {

struct KeyNumber {
  std::string metric;  // of the table of metrics
  std::string unit;
  Count value = 0;
  std::optional<Count> lowest, highest;  // over repetitions, where there are several
};

// Counters, and the median repetition's total time where times were measured; none for a run that did not complete,
// whose numbers compare with nothing.
std::vector<KeyNumber> key_numbers(const RunResult& result);

// One name per result for a dashboard's key: "workload/policy", apart from each other, at most 1,000 bytes.
std::vector<std::string> dashboard_names(const ResultFile& file);

}  // namespace kvreplay::reports
