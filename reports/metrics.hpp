// The table of everything that is counted or measured: `list metrics`, the writers and the comparisons read it.
//
// An exact metric bears the name of its key in a result's "counters" and is the same integer on every machine, thread
// count and depth. A measured one bears the path of its value inside a result ("latency.evaluation_ns.p50").
#pragma once

#include "reports/result.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kvreplay::reports {

enum class MetricKind : std::uint8_t { exact, measured };
enum class Better : std::uint8_t { lower, higher, neutral };  // neutral: a fact of the workload, or neither

struct Metric {
  std::string_view name;
  std::string_view unit;  // tokens, evaluations, events, tensors, bytes, rows, pairs, byte-steps, ns, tokens/s, ...
  MetricKind kind;
  Better better;
  std::string_view meaning;  // one line
};

// All rows: the exact ones first, in the order RunResult::counters keeps.
std::span<const Metric> metric_table();
std::span<const Metric> exact_metrics();
std::span<const Metric> measured_metrics();

// Null for a name nobody has.
const Metric* find_metric(std::string_view name);

std::string_view name_of(MetricKind kind);
std::string_view name_of(Better better);

// Value of a counter; absent where the record lacks it.
std::optional<Count> counter(const Counters& counters, std::string_view name);

// Exact metrics the record lacks, in the order of the table: empty for a complete record.
std::vector<std::string_view> missing_metrics(const Counters& counters);

}  // namespace kvreplay::reports
