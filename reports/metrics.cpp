#include "reports/metrics.hpp"

#include <algorithm>
#include <array>

namespace kvreplay::reports {
namespace {

using enum Better;
constexpr MetricKind exact = MetricKind::exact;
constexpr MetricKind measured = MetricKind::measured;

constexpr std::array exact_rows{
    Metric{"evaluations", "evaluations", exact, neutral, "forward calls the workload asked for"},
    Metric{"cached_answers", "evaluations", exact, higher, "calls answered from the stored logits, nothing evaluated"},
    Metric{"inexact_evaluations", "evaluations", exact, lower, "calls whose attention reads rows a cold run has not"},
    Metric{"tokens_requested", "tokens", exact, neutral, "sum of the token lists' lengths over all calls"},
    Metric{"tokens_reused", "tokens", exact, higher, "tokens served from the cache"},
    Metric{"tokens_evaluated", "tokens", exact, lower, "tokens run through the model; reused + evaluated = requested"},
    Metric{"tokens_recomputed", "tokens", exact, lower, "evaluated although this sequence had evaluated them before"},
    Metric{"tokens_recomputed_rewind", "tokens", exact, lower, "recomputed because the text was cut back"},
    Metric{"tokens_recomputed_overflow", "tokens", exact, lower, "recomputed because the text outgrew the capacity"},
    Metric{"tokens_recomputed_window_passed", "tokens", exact, lower,
           "recomputed because a sliding layer had overwritten rows that were needed again"},
    Metric{"tokens_recomputed_sequence_switch", "tokens", exact, lower,
           "recomputed because another sequence had used the cache in between"},
    Metric{"tokens_recomputed_policy", "tokens", exact, lower,
           "recomputed because of eviction or of a policy's granularity"},
    Metric{"tokens_floor_single", "tokens", exact, neutral, "least a perfect single slot evaluates"},
    Metric{"tokens_floor_multi", "tokens", exact, neutral, "least a perfect prefix tree over all lists evaluates"},
    Metric{"reallocations", "events", exact, lower, "admissions that replaced storage by new storage"},
    Metric{"allocations", "events", exact, lower, "reallocations and the first storage"},
    Metric{"buffers_allocated", "tensors", exact, lower, "single K or V tensors taken"},
    Metric{"releases", "tensors", exact, neutral, "single K or V tensors given back"},
    Metric{"bytes_allocated", "bytes", exact, lower, "bytes taken in all, as requested, never rounded to pages"},
    Metric{"bytes_allocated_global", "bytes", exact, lower, "of these, in global layers"},
    Metric{"bytes_allocated_sliding", "bytes", exact, lower, "of these, in sliding layers"},
    Metric{"bytes_copied", "bytes", exact, lower, "bytes moved from one storage to another"},
    Metric{"bytes_copied_global", "bytes", exact, lower, "of these, in global layers"},
    Metric{"bytes_copied_sliding", "bytes", exact, lower, "of these, in sliding layers"},
    Metric{"bytes_zeroed", "bytes", exact, lower, "bytes set to zero"},
    Metric{"bytes_zeroed_global", "bytes", exact, lower, "of these, in global layers"},
    Metric{"bytes_zeroed_sliding", "bytes", exact, lower, "of these, in sliding layers"},
    Metric{"rows_read", "rows", exact, lower, "K/V rows attention had to read, per layer, K and V being one row"},
    Metric{"rows_read_global", "rows", exact, lower, "of these, in global layers"},
    Metric{"rows_read_sliding", "rows", exact, lower, "of these, in sliding layers"},
    Metric{"attention_pairs", "pairs", exact, lower,
           "visible (query, key) pairs over all layers: attention's arithmetic"},
    Metric{"attention_pairs_global", "pairs", exact, lower, "of these, in global layers"},
    Metric{"attention_pairs_sliding", "pairs", exact, lower, "of these, in sliding layers"},
    Metric{"crops", "events", exact, neutral, "admissions that shortened the cache"},
    Metric{"resets", "events", exact, lower, "admissions that zeroed the whole cache in place"},
    Metric{"discards", "events", exact, lower, "admissions that threw the cache away"},
    Metric{"ledger_rewinds", "events", exact, neutral, "times the workload shortened a token list"},
    Metric{"rewinds_asked", "events", exact, neutral, "admissions of a list that parts from what the cache holds"},
    Metric{"rewinds_served", "events", exact, higher, "of these, served from the common prefix"},
    Metric{"rewinds_refused", "events", exact, lower, "of these, evaluated from further back or not at all"},
    Metric{"live_bytes_peak", "bytes", exact, lower, "most bytes that held valid rows at once"},
    Metric{"live_bytes_peak_global", "bytes", exact, lower, "of these, in global layers"},
    Metric{"live_bytes_peak_sliding", "bytes", exact, lower, "of these, in sliding layers"},
    Metric{"live_bytes_peak_k", "bytes", exact, lower, "of these, keys"},
    Metric{"live_bytes_peak_v", "bytes", exact, lower, "of these, values"},
    Metric{"reserved_bytes_peak", "bytes", exact, lower, "most bytes of current storage, used or not"},
    Metric{"reserved_bytes_peak_global", "bytes", exact, lower, "of these, in global layers"},
    Metric{"reserved_bytes_peak_sliding", "bytes", exact, lower, "of these, in sliding layers"},
    Metric{"reserved_bytes_peak_k", "bytes", exact, lower, "of these, keys"},
    Metric{"reserved_bytes_peak_v", "bytes", exact, lower, "of these, values"},
    Metric{"transient_bytes_peak", "bytes", exact, lower, "most bytes held at once: old and new storage together"},
    Metric{"transient_bytes_peak_global", "bytes", exact, lower, "of these, in global layers"},
    Metric{"transient_bytes_peak_sliding", "bytes", exact, lower, "of these, in sliding layers"},
    Metric{"transient_bytes_peak_k", "bytes", exact, lower, "of these, keys"},
    Metric{"transient_bytes_peak_v", "bytes", exact, lower, "of these, values"},
    Metric{"bytes_at_end", "bytes", exact, lower, "bytes of storage still held when the run ended"},
    Metric{"bytes_at_end_global", "bytes", exact, lower, "of these, in global layers"},
    Metric{"bytes_at_end_sliding", "bytes", exact, lower, "of these, in sliding layers"},
    Metric{"slack_byte_steps", "byte-steps", exact, lower, "reserved but unused bytes, summed over evaluations"},
    Metric{"slack_byte_steps_global", "byte-steps", exact, lower, "of these, in global layers"},
    Metric{"slack_byte_steps_sliding", "byte-steps", exact, lower, "of these, in sliding layers"},
};

constexpr std::array measured_rows{
    Metric{"latency.total_ns", "ns", measured, lower, "time of all evaluations of a repetition"},
    Metric{"latency.time_to_first_token_ns", "ns", measured, lower, "time of the first evaluation"},
    Metric{"latency.evaluation_ns.n", "evaluations", measured, neutral, "evaluations timed"},
    Metric{"latency.evaluation_ns.min", "ns", measured, lower, "fastest evaluation"},
    Metric{"latency.evaluation_ns.p50", "ns", measured, lower, "median evaluation (nearest rank)"},
    Metric{"latency.evaluation_ns.p90", "ns", measured, lower, "90th percentile of the evaluations (nearest rank)"},
    Metric{"latency.evaluation_ns.p99", "ns", measured, lower, "99th percentile, of 100 evaluations and more"},
    Metric{"latency.evaluation_ns.max", "ns", measured, lower, "slowest evaluation"},
    Metric{"latency.inter_token_ns.n", "evaluations", measured, neutral, "evaluations that fed exactly one token"},
    Metric{"latency.inter_token_ns.min", "ns", measured, lower, "fastest of these"},
    Metric{"latency.inter_token_ns.p50", "ns", measured, lower, "median of these (nearest rank)"},
    Metric{"latency.inter_token_ns.p90", "ns", measured, lower, "90th percentile of these (nearest rank)"},
    Metric{"latency.inter_token_ns.p99", "ns", measured, lower, "99th percentile, of 100 such evaluations and more"},
    Metric{"latency.inter_token_ns.max", "ns", measured, lower, "slowest of these"},
    Metric{"latency.parts_ns.admit", "ns", measured, lower, "time the policy took to decide and to make room"},
    Metric{"latency.parts_ns.projections", "ns", measured, lower, "time in the Q, K, V and output projections"},
    Metric{"latency.parts_ns.attention", "ns", measured, lower, "time in attention"},
    Metric{"latency.parts_ns.mlp", "ns", measured, lower, "time in the feed-forward blocks"},
    Metric{"latency.parts_ns.store", "ns", measured, lower, "time storing fresh rows"},
    Metric{"latency.parts_ns.head", "ns", measured, lower, "time computing logits"},
    Metric{"latency.tokens_per_second", "tokens/s", measured, higher, "tokens evaluated over total time"},
    Metric{"latency.decode_tokens_per_second", "tokens/s", measured, higher,
           "evaluations that fed one token over their total time"},
    Metric{"process.cpu_ns", "ns", measured, lower, "CPU time of all threads, user and system"},
    Metric{"process.rss_start_bytes", "bytes", measured, neutral, "resident memory before the repetition"},
    Metric{"process.rss_end_bytes", "bytes", measured, lower, "resident memory after it"},
    Metric{"process.rss_peak_bytes", "bytes", measured, lower, "high-water mark of resident memory, reset before it"},
    Metric{"process.workspace_bytes", "bytes", measured, lower, "activations and scratch memory of the stack"},
    Metric{"process.minor_faults", "events", measured, lower, "page faults served from memory"},
    Metric{"process.major_faults", "events", measured, lower, "page faults served from a disk"},
    Metric{"process.voluntary_switches", "events", measured, neutral, "times a thread waited"},
    Metric{"process.involuntary_switches", "events", measured, lower, "times a thread was interrupted"},
};

constexpr auto all_rows = [] {
  std::array<Metric, exact_rows.size() + measured_rows.size()> rows{};
  std::copy(exact_rows.begin(), exact_rows.end(), rows.begin());
  std::copy(measured_rows.begin(), measured_rows.end(), rows.begin() + exact_rows.size());
  return rows;
}();

}  // namespace

std::span<const Metric> metric_table() { return all_rows; }
std::span<const Metric> exact_metrics() { return metric_table().first(exact_rows.size()); }
std::span<const Metric> measured_metrics() { return metric_table().last(measured_rows.size()); }

const Metric* find_metric(std::string_view name) {
  const auto row = std::find_if(all_rows.begin(), all_rows.end(), [&](const Metric& m) { return m.name == name; });
  return row == all_rows.end() ? nullptr : &*row;
}

std::string_view name_of(MetricKind kind) { return kind == MetricKind::exact ? "exact" : "measured"; }

std::string_view name_of(Better better) {
  switch (better) {
    case Better::lower:
      return "lower";
    case Better::higher:
      return "higher";
    case Better::neutral:
      break;
  }
  return "neutral";
}

std::optional<Count> counter(const Counters& counters, std::string_view name) {
  const auto found =
      std::find_if(counters.begin(), counters.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == counters.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string_view> missing_metrics(const Counters& counters) {
  std::vector<std::string_view> missing;
  for (const Metric& metric : exact_metrics()) {
    if (!counter(counters, metric.name)) missing.push_back(metric.name);
  }
  return missing;
}

}  // namespace kvreplay::reports
