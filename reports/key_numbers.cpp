#include "reports/key_numbers.hpp"

#include "reports/labels.hpp"
#include "reports/metrics.hpp"
#include "reports/statistics.hpp"
#include "reports/text.hpp"

#include <algorithm>
#include <array>

namespace kvreplay::reports {
namespace {

constexpr std::array<std::string_view, 7> counters{"tokens_evaluated", "tokens_recomputed", "reallocations",
                                                   "bytes_copied",     "bytes_zeroed",      "transient_bytes_peak",
                                                   "bytes_at_end"};
constexpr std::string_view total_time = "latency.total_ns";
constexpr std::size_t most_columns = 250;  // a character has at most four bytes

std::string unit_of(std::string_view metric) { return std::string(find_metric(metric)->unit); }

}  // namespace

std::vector<KeyNumber> key_numbers(const RunResult& result) {
  std::vector<KeyNumber> numbers;
  if (!result.outcome.completed()) return numbers;
  for (const std::string_view name : counters) {
    if (const auto value = counter(result.counters, name)) {
      numbers.push_back({std::string(name), unit_of(name), *value, std::nullopt, std::nullopt});
    }
  }
  const std::optional<Latency> latency = pooled_latency(result);
  if (!latency) return numbers;
  KeyNumber time{std::string(total_time), unit_of(total_time), latency->total_ns, std::nullopt, std::nullopt};
  if (result.repetitions.size() > 1) {
    for (const Repetition& repetition : result.repetitions) {
      if (!repetition.latency) continue;
      const Count ns = repetition.latency->total_ns;
      time.lowest = std::min(time.lowest.value_or(ns), ns);
      time.highest = std::max(time.highest.value_or(ns), ns);
    }
  }
  numbers.push_back(std::move(time));
  return numbers;
}

std::vector<std::string> dashboard_names(const ResultFile& file) {
  return shortened_apart(run_labels(file.results), most_columns);
}

}  // namespace kvreplay::reports
