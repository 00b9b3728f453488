#include "sim/observed.hpp"

#include "policies/option_error.hpp"
#include "reports/metrics.hpp"
#include "sim/timeline.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace kvreplay::sim {
namespace {

// Keys of expect.observed with the counters they stand for.
struct Total {
  std::string_view key;
  std::optional<Count> workloads::Observed::* observed;
  std::string_view counter;
};
constexpr Total totals[] = {
    {"fed", &workloads::Observed::fed, "tokens_evaluated"},
    {"allocations", &workloads::Observed::allocations, "allocations"},
    {"reallocations", &workloads::Observed::reallocations, "reallocations"},
    {"resets", &workloads::Observed::resets, "resets"},
    {"crops", &workloads::Observed::crops, "crops"},
    {"peak_bytes", &workloads::Observed::peak_bytes, "transient_bytes_peak"},
    {"bytes_at_end", &workloads::Observed::bytes_at_end, "bytes_at_end"},
};

class Comparer {
 public:
  void compare(std::string_view what, const std::string& observed, const std::string& ours) {
    ++result.totals_compared;
    if (observed != ours) result.differences.push_back({std::string(what), observed, ours});
  }
  void compare(std::string_view what, Count observed, Count ours) {
    compare(what, fmt::format("{}", observed), fmt::format("{}", ours));
  }

  ObservedComparison result;
};

constexpr std::string_view ended_by_policy = "ended by the policy at the last evaluation";

std::string end_text(const reports::Outcome& outcome, Count num_evaluations) {
  if (outcome.completed()) return outcome.kind;
  const bool by_policy = outcome.kind == "rewind_refused" || outcome.kind == "capacity_exceeded";
  if (by_policy && outcome.evaluation == num_evaluations - 1) return std::string(ended_by_policy);
  return fmt::format("{} at evaluation {}", outcome.kind, outcome.evaluation.value_or(-1));
}

void compare_end(const workloads::Observed& observed, const ReplayRecord& record,
                 const std::vector<reports::Sample>& samples, Count num_evaluations, Comparer& comparer) {
  comparer.compare("then", observed.then ? std::string(ended_by_policy) : "completed",
                   end_text(record.outcome, num_evaluations));
  if (!observed.then_keep || samples.empty()) return;
  comparer.compare("then_wanted.keep", *observed.then_keep, samples.back().common_prefix);
  comparer.compare("then_wanted.length", *observed.then_length, samples.back().length);
}

}  // namespace

std::optional<policies::PolicySpec> known_policy(const workloads::Observed& observed) {
  try {
    return policies::parse_policy(observed.policy);
  } catch (const policies::OptionError&) {
    return std::nullopt;
  }
}

std::string engine_log_beside(const std::string& workload_path) {
  const std::filesystem::path log = std::filesystem::path(workload_path).replace_extension(".observed.csv");
  std::error_code error;
  return std::filesystem::exists(log, error) ? log.string() : std::string();
}

ObservedComparison compare_with_observed(const LoadedWorkload& loaded, const workloads::Observed& observed,
                                         const policies::PolicySpec& policy, const std::string& log_path) {
  Comparer comparer;
  if (!log_path.empty()) comparer.result.log = reports::read_engine_log(log_path);
  AllSamples all;
  ReplayListener* listener = &all;
  const ReplayRecord record =
      replay(loaded.workload, loaded.facts, loaded.model, policy, nullptr, {}, std::span(&listener, 1));
  for (const Total& total : totals) {
    const std::optional<Count>& given = observed.*total.observed;
    if (given) comparer.compare(total.key, *given, reports::counter(record.counters, total.counter).value());
  }
  compare_end(observed, record, all.samples, loaded.facts.evaluations, comparer);
  if (comparer.result.log) comparer.result.calls = reports::compare_with_log(all.samples, *comparer.result.log);
  return std::move(comparer.result);
}

}  // namespace kvreplay::sim
