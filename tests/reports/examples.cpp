#include "tests/reports/examples.hpp"

#include "reports/budgets.hpp"

#include "reports/metrics.hpp"
#include "reports/statistics.hpp"

#include <stdexcept>

namespace kvreplay::reports::tests {

void set_counter(RunResult& result, std::string_view name, Count value) {
  for (auto& [counter_name, counter_value] : result.counters) {
    if (counter_name == name) {
      counter_value = value;
      return;
    }
  }
  throw std::logic_error("no counter of that name");
}

RunResult plan_run(const std::string& workload, const std::string& policy, Count evaluated) {
  RunResult result;
  result.workload = {workload, "A test", "recorded/" + workload + ".yaml", std::string(64, 'a')};
  result.policy = {policy, policy, {}};
  result.model = {"tiny-gemma2", 6, 3, 128, 4, 2, 32, 512, 64, 1024, 2048, 512, "fp32", "random, seed 1"};
  result.depth = "plan";
  for (const Metric& metric : exact_metrics()) result.counters.emplace_back(std::string(metric.name), 0);
  set_counter(result, "evaluations", 24);
  set_counter(result, "tokens_requested", 1000);
  set_counter(result, "tokens_evaluated", evaluated);
  set_counter(result, "tokens_reused", 1000 - evaluated);
  set_counter(result, "tokens_floor_single", 71);
  set_counter(result, "tokens_floor_multi", 70);
  return result;
}

RunResult timed_run(const std::string& workload, const std::string& policy, Count repetitions) {
  RunResult result = plan_run(workload, policy, 20);
  result.depth = "compute";
  result.evaluation_fed = {18, 1, 1};
  for (Count index = 0; index < repetitions; ++index) {
    Repetition repetition;
    repetition.index = index;
    repetition.run_order = 2 * index;
    for (const Count us : {1000, 10, 20}) repetition.evaluation_ns.push_back((us + index) * 1000);
    repetition.latency = latency_of(repetition.evaluation_ns, result.evaluation_fed);
    repetition.latency->parts_ns = {{"admit", 1000 + index}, {"attention", 700'000}};
    ProcessUse use;
    use.cpu_ns = 900'000;
    use.rss_peak_bytes = 1 << 20;
    repetition.process = use;
    result.repetitions.push_back(repetition);
  }
  return result;
}

RunResult incomplete_run(const std::string& workload, const std::string& policy) {
  RunResult result = plan_run(workload, policy, 1);
  result.outcome.kind = "capacity_exceeded";
  result.outcome.evaluation = 12;
  result.outcome.line = 34;
  result.outcome.wanted = 65;
  result.outcome.available = 64;
  result.outcome.message = "65 tokens, and the capacity is 64";
  return result;
}

Sample full_sample() {
  Sample s;
  s.evaluation = 1;
  s.sequence = "main";
  s.line = 2;
  s.length = 3;
  s.common_prefix = 4;
  s.held_before = 5;
  s.kept = 6;
  s.fed = 7;
  s.first_position = 8;
  s.capacity_before = 9;
  s.capacity_after = 10;
  s.held_after = 11;
  s.bytes_before = 12;
  s.bytes_after = 13;
  s.new_storage = "yes";
  s.resets = 1;
  s.crop_to = 14;
  s.action = "grow";
  s.cause = "overflow";
  s.exact = false;
  s.tokens_recomputed = 15;
  s.bytes_copied = 16;
  s.bytes_zeroed = 17;
  s.transient_bytes = 18;
  s.live_global_bytes = 19;
  s.live_sliding_bytes = 20;
  s.reserved_global_bytes = 21;
  s.reserved_sliding_bytes = 22;
  s.latency_ns = 23;
  return s;
}

Sample blank_sample() {
  Sample s;
  s.evaluation = 2;
  s.action = "refused";
  return s;
}

std::string hostile_name() {
  return "=1+1,\"x\" <script>alert('|`*_[a](b)@all\\')</script>\n\t\x1b[31mred\x1b[0m\xff\xc3( \xE2\x80\xAE "
         "\xF0\x9F\x98\x80 " +
         std::string(10'000, 'n') + " end";
}

ResultFile example_file() {
  ResultFile file;
  file.config = {{"command", "run"}, {"policy", "crop"}, {"policy", "fixed:capacity=64"}, {"threads", "2"}};
  file.provenance.entries = {{"date", "2026-01-02T03:04:05Z"},
                             {"host_name", "builder"},
                             {"kvreplay_version", "0.1.0"},
                             {"build_type", "Release"},
                             {"num_cpus", "2"},
                             {"cpu_mhz", "2400.123"},
                             {"load_average", "0.06 0.02 0.00 1/123 4567"},
                             {"threads", "2"},
                             {"governor", "unknown"},
                             {"caches", "L1 48K, L2 2M"},
                             {"note", hostile_name()}};
  RunResult verified = timed_run("fewshot", "crop", 3);
  verified.verification = Verification{};
  verified.verification->evaluations_compared = 24;
  verified.verification->tolerance = 1e-4;
  verified.verification->max_difference_exact = 3e-6;
  verified.timeline = {full_sample(), blank_sample()};
  RunResult differing = timed_run("fewshot", "guidance-0.2+transformers-4.47", 3);
  differing.verification = verified.verification;
  differing.verification->evaluations_differing = 2;
  differing.verification->claimed_inexact = 1;
  differing.verification->first_difference = VerificationFailure{11, 40, 17, "logits", 0.013};
  differing.verification->differing = {11, 12};
  differing.verification->unexpected_differences = {12};
  set_counter(differing, "inexact_evaluations", 1);
  RunResult hostile = plan_run(hostile_name(), hostile_name(), 100);
  hostile.policy.options = {{"capacity", "64"}, {"note", hostile_name()}};
  hostile.outcome.message = hostile_name();
  file.results = {verified, differing, incomplete_run("fewshot", "fixed:capacity=64"), hostile};
  return file;
}

ResultFile suite_file() {
  ResultFile file = example_file();
  for (RunResult& run : file.results) run.suite = "suites/mine.yaml";
  BudgetLine budget;
  budget.suite = "suites/mine.yaml";
  budget.line = 7;
  budget.workload_path = "recorded/fewshot.yaml";
  budget.policy = "crop";
  budget.metric = "tokens_evaluated";
  budget.most = Count{20};  // 20 are evaluated
  file.budgets.push_back(budget);
  budget.line = 8;
  budget.over = "tokens_floor_single";  // 71
  budget.most = 0.25;
  file.budgets.push_back(budget);
  budget.line = 9;
  budget.policy = "discard";
  file.budgets.push_back(budget);
  budget.line = 10;
  budget.workload_path = "recorded/" + hostile_name() + ".yaml";
  budget.policy = hostile_name();
  file.budgets.push_back(budget);
  judge_budgets(file);
  return file;
}

}  // namespace kvreplay::reports::tests
