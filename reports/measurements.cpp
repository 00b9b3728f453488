#include "reports/measurements.hpp"

#include "reports/metrics.hpp"
#include "reports/statistics.hpp"

#include <cmath>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

std::string unit_of(std::string_view name, std::string_view otherwise) {
  const Metric* metric = find_metric(name);
  return std::string(metric != nullptr ? metric->unit : otherwise);
}

Number number(const std::optional<Count>& value) { return value ? Number(*value) : Number(); }
Number number(const std::optional<double>& value) { return value ? Number(*value) : Number(); }

void add(std::vector<Measurement>& to, std::string name, Number value) {
  std::string unit = unit_of(name, "ns");
  to.push_back({std::move(name), std::move(unit), value});
}

void add_percentiles(std::vector<Measurement>& to, const std::string& prefix, const Percentiles& values) {
  add(to, prefix + ".n", values.n);
  add(to, prefix + ".min", number(values.min));
  add(to, prefix + ".p50", number(values.p50));
  add(to, prefix + ".p90", number(values.p90));
  add(to, prefix + ".p99", number(values.p99));
  add(to, prefix + ".max", number(values.max));
}

std::vector<Measurement> flat(const Latency& latency, std::optional<double> rate) {
  std::vector<Measurement> values;
  add(values, "latency.total_ns", latency.total_ns);
  add(values, "latency.time_to_first_token_ns", number(latency.time_to_first_token_ns));
  add_percentiles(values, "latency.evaluation_ns", latency.evaluation_ns);
  add_percentiles(values, "latency.inter_token_ns", latency.inter_token_ns);
  for (const auto& [part, ns] : latency.parts_ns) add(values, "latency.parts_ns." + part, ns);
  add(values, "latency.tokens_per_second", number(rate));
  add(values, "latency.decode_tokens_per_second", number(decode_tokens_per_second(latency)));
  return values;
}

void add_process(std::vector<Measurement>& to, const ProcessUse& use) {
  add(to, "process.cpu_ns", number(use.cpu_ns));
  add(to, "process.rss_start_bytes", number(use.rss_start_bytes));
  add(to, "process.rss_end_bytes", number(use.rss_end_bytes));
  add(to, "process.rss_peak_bytes", number(use.rss_peak_bytes));
  add(to, "process.workspace_bytes", number(use.workspace_bytes));
  add(to, "process.minor_faults", number(use.minor_faults));
  add(to, "process.major_faults", number(use.major_faults));
  add(to, "process.voluntary_switches", number(use.voluntary_switches));
  add(to, "process.involuntary_switches", number(use.involuntary_switches));
}

}  // namespace

std::vector<Measurement> counted(const RunResult& result) {
  std::vector<Measurement> values;
  for (const auto& [name, value] : result.counters) values.push_back({name, unit_of(name, ""), value});
  return values;
}

std::vector<Measurement> measured(const RunResult& result) {
  const std::optional<Latency> latency = pooled_latency(result);
  if (!latency) return {};
  return flat(*latency, tokens_per_second(result));
}

std::vector<Measurement> measured(const RunResult& result, const Repetition& repetition) {
  std::vector<Measurement> values;
  if (repetition.latency) values = flat(*repetition.latency, tokens_per_second(result, repetition));
  if (repetition.process) add_process(values, *repetition.process);
  return values;
}

std::string text_of(const Number& number) {
  if (const Count* count = std::get_if<Count>(&number)) return fmt::format("{}", *count);
  const double* real = std::get_if<double>(&number);
  return real != nullptr && std::isfinite(*real) ? fmt::format("{}", *real) : std::string();
}

}  // namespace kvreplay::reports
