#include "reports/statistics.hpp"

#include "reports/metrics.hpp"

#include <algorithm>
#include <stdexcept>

namespace kvreplay::reports {
namespace {

constexpr double ns_per_second = 1e9;

std::optional<double> per_second(double amount, Count ns) {
  if (ns == 0) return std::nullopt;
  return amount / (static_cast<double>(ns) / ns_per_second);
}

std::optional<double> tokens_per_second(const RunResult& result, Count num_repetitions, Count total_ns) {
  const std::optional<Count> tokens = counter(result.counters, "tokens_evaluated");
  if (!tokens || result.outcome.kind == "interrupted") return std::nullopt;
  // Not integers: a file of others may hold any.
  return per_second(static_cast<double>(*tokens) * static_cast<double>(num_repetitions), total_ns);
}

// Timed repetitions in the order of their totals.
std::vector<const Repetition*> timed_by_total(const RunResult& result) {
  std::vector<const Repetition*> timed;
  for (const Repetition& repetition : result.repetitions) {
    if (repetition.latency) timed.push_back(&repetition);
  }
  std::sort(timed.begin(), timed.end(), [](const Repetition* a, const Repetition* b) {
    return std::pair(a->latency->total_ns, a->index) < std::pair(b->latency->total_ns, b->index);
  });
  return timed;
}

std::optional<Count> median_time_to_first_token(const std::vector<const Repetition*>& timed) {
  std::vector<Count> times;
  for (const Repetition* repetition : timed) {
    if (repetition->latency->time_to_first_token_ns) times.push_back(*repetition->latency->time_to_first_token_ns);
  }
  return percentiles_of(std::move(times)).p50;
}

// Single times of every timed repetition are there, and what each evaluation fed.
bool stores_single_times(const RunResult& result, const std::vector<const Repetition*>& timed) {
  return !result.evaluation_fed.empty() && std::all_of(timed.begin(), timed.end(), [&](const Repetition* repetition) {
    return repetition->evaluation_ns.size() == result.evaluation_fed.size();
  });
}

}  // namespace

std::optional<Count> nearest_rank(std::span<const Count> sorted, int percent) {
  if (percent < 1 || percent > 100) throw std::invalid_argument("a percentile lies in [1, 100]");
  if (sorted.empty()) return std::nullopt;
  // Integers: 0.07 * 100 is above 7 in binary and would give the next sample.
  const std::size_t rank = (sorted.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return sorted[rank - 1];
}

Percentiles percentiles_of(std::vector<Count> samples) {
  std::sort(samples.begin(), samples.end());
  Percentiles result;
  result.n = static_cast<Count>(samples.size());
  for (const Count sample : samples) result.sum += sample;
  if (samples.empty()) return result;
  result.min = samples.front();
  result.p50 = nearest_rank(samples, 50);
  result.p90 = nearest_rank(samples, 90);
  if (result.n >= min_samples_p99) result.p99 = nearest_rank(samples, 99);
  result.max = samples.back();
  return result;
}

std::optional<double> mean_of(const Percentiles& samples) { return ratio(samples.sum, samples.n); }

std::optional<double> ratio(Count a, Count b) {
  if (b == 0) return std::nullopt;
  return static_cast<double>(a) / static_cast<double>(b);
}

Latency latency_of(std::span<const Count> evaluation_ns, std::span<const Count> fed) {
  if (evaluation_ns.size() != fed.size()) throw std::logic_error("as many times as evaluations are needed");
  if (std::any_of(evaluation_ns.begin(), evaluation_ns.end(), [](Count ns) { return ns < 0; })) {
    throw std::logic_error("a measured time is negative: the clock went backwards");
  }
  std::vector<Count> single_token;
  for (std::size_t i = 0; i < fed.size(); ++i) {
    if (fed[i] == 1) single_token.push_back(evaluation_ns[i]);
  }
  Latency latency;
  latency.evaluation_ns = percentiles_of({evaluation_ns.begin(), evaluation_ns.end()});
  latency.total_ns = latency.evaluation_ns.sum;
  if (!evaluation_ns.empty()) latency.time_to_first_token_ns = evaluation_ns.front();
  latency.inter_token_ns = percentiles_of(std::move(single_token));
  return latency;
}

std::optional<Latency> pooled_latency(const RunResult& result) {
  const std::vector<const Repetition*> timed = timed_by_total(result);
  if (timed.empty()) return std::nullopt;
  const Latency& median = *timed[(timed.size() - 1) / 2]->latency;  // nearest rank of 50 %
  Latency pooled;
  if (stores_single_times(result, timed)) {
    std::vector<Count> times, fed;
    for (const Repetition* repetition : timed) {
      times.insert(times.end(), repetition->evaluation_ns.begin(), repetition->evaluation_ns.end());
      fed.insert(fed.end(), result.evaluation_fed.begin(), result.evaluation_fed.end());
    }
    pooled = latency_of(times, fed);
  } else {
    const auto first = std::find_if(result.repetitions.begin(), result.repetitions.end(),
                                    [](const Repetition& repetition) { return repetition.latency.has_value(); });
    pooled = *first->latency;
  }
  pooled.total_ns = median.total_ns;
  pooled.parts_ns = median.parts_ns;
  pooled.time_to_first_token_ns = median_time_to_first_token(timed);
  return pooled;
}

std::optional<double> tokens_per_second(const RunResult& result) {
  Count num_timed = 0, total_ns = 0;
  for (const Repetition& repetition : result.repetitions) {
    if (!repetition.latency) continue;
    ++num_timed;
    total_ns += repetition.latency->total_ns;
  }
  return tokens_per_second(result, num_timed, total_ns);
}

std::optional<double> tokens_per_second(const RunResult& result, const Repetition& repetition) {
  if (!repetition.latency) return std::nullopt;
  return tokens_per_second(result, 1, repetition.latency->total_ns);
}

std::optional<double> decode_tokens_per_second(const Latency& latency) {
  return per_second(static_cast<double>(latency.inter_token_ns.n), latency.inter_token_ns.sum);
}

}  // namespace kvreplay::reports
