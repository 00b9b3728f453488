#include "reports/result_json.hpp"

#include "reports/json_values.hpp"
#include "reports/sample_columns.hpp"
#include "reports/statistics.hpp"

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

Json cell_json(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      cell);
}

Json sample_json(const Sample& sample) {
  Json point = Json::object();
  for (const SampleColumn& column : sample_columns())
    point.push_back({std::string(column.name), cell_json(column.cell(sample))});
  point.push_back({"live_global_bytes", sample.live_global_bytes});
  point.push_back({"live_sliding_bytes", sample.live_sliding_bytes});
  point.push_back({"reserved_global_bytes", sample.reserved_global_bytes});
  point.push_back({"reserved_sliding_bytes", sample.reserved_sliding_bytes});
  point.push_back({"latency_ns", optional_json(sample.latency_ns)});
  return point;
}

Json model_json(const ModelIdentity& model) {
  return {{"profile", model.profile},
          {"num_layers", model.num_layers},
          {"num_sliding_layers", model.num_sliding_layers},
          {"hidden_size", model.hidden_size},
          {"num_heads", model.num_heads},
          {"num_kv_heads", model.num_kv_heads},
          {"head_dim", model.head_dim},
          {"intermediate_size", model.intermediate_size},
          {"sliding_window", model.sliding_window},
          {"max_positions", model.max_positions},
          {"vocab_size", model.vocab_size},
          {"row_bytes", model.row_bytes},
          {"cache_dtype", model.cache_dtype},
          {"weights", model.weights}};
}

Json outcome_json(const Outcome& outcome) {
  return {{"kind", outcome.kind},
          {"evaluation", optional_json(outcome.evaluation)},
          {"line", outcome.line ? Json(*outcome.line) : Json()},
          {"wanted", optional_json(outcome.wanted)},
          {"available", optional_json(outcome.available)},
          {"message", outcome.message}};
}

Json process_json(const ProcessUse& use) {
  return {{"cpu_ns", optional_json(use.cpu_ns)},
          {"rss_start_bytes", optional_json(use.rss_start_bytes)},
          {"rss_end_bytes", optional_json(use.rss_end_bytes)},
          {"rss_peak_bytes", optional_json(use.rss_peak_bytes)},
          {"workspace_bytes", optional_json(use.workspace_bytes)},
          {"minor_faults", optional_json(use.minor_faults)},
          {"major_faults", optional_json(use.major_faults)},
          {"voluntary_switches", optional_json(use.voluntary_switches)},
          {"involuntary_switches", optional_json(use.involuntary_switches)}};
}

Json repetition_json(const RunResult& result, const Repetition& repetition) {
  return {{"index", repetition.index},
          {"run_order", repetition.run_order},
          {"latency",
           repetition.latency ? latency_json(*repetition.latency, tokens_per_second(result, repetition)) : Json()},
          {"process", repetition.process ? process_json(*repetition.process) : Json()},
          {"evaluation_ns", repetition.evaluation_ns}};
}

Json verification_json(const Verification& verification) {
  Json first;
  if (verification.first_difference) {
    const VerificationFailure& failure = *verification.first_difference;
    first = {{"evaluation", failure.evaluation},
             {"line", failure.line},
             {"position", failure.position},
             {"where", failure.where},
             {"difference", number_json(failure.difference)}};
  }
  return {{"passed", verification.passed()},
          {"evaluations_compared", verification.evaluations_compared},
          {"evaluations_differing", verification.evaluations_differing},
          {"tolerance", number_json(verification.tolerance)},
          {"max_difference_exact", number_json(verification.max_difference_exact)},
          {"first_difference", first},
          {"claimed_inexact", verification.claimed_inexact},
          {"unexpected_differences", verification.unexpected_differences},
          {"unexpected_equalities", verification.unexpected_equalities},
          {"differing", verification.differing}};
}

Json count_or_number_json(const Number& number) {
  if (const Count* count = std::get_if<Count>(&number)) return *count;
  const double* real = std::get_if<double>(&number);
  return number_json(real != nullptr ? std::optional(*real) : std::nullopt);
}

Json budget_json(const BudgetLine& budget) {
  const auto name = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"suite", budget.suite},
          {"line", budget.line},
          {"workload", budget.workload_path},
          {"policy", budget.policy},
          {"metric", budget.metric},
          {"over", name(budget.over)},
          {"against", name(budget.against)},
          {"min", count_or_number_json(budget.least)},
          {"max", count_or_number_json(budget.most)},
          {"value", count_or_number_json(budget.value)},
          {"verdict", budget.verdict},
          {"reason", name(budget.reason)}};
}

// Lines that only files of suites and of shards have.
std::string suite_lines(const ResultFile& file) {
  std::string text;
  if (file.shard) {
    const Json shard = {{"index", file.shard->index}, {"count", file.shard->count}, {"cells", file.shard->num_cells}};
    text += fmt::format("\n \"shard\": {},", dumped(shard));
  }
  if (file.budgets.empty()) return text;
  text += "\n \"budgets\": [";
  for (std::size_t i = 0; i < file.budgets.size(); ++i) {
    text += i == 0 ? "\n  " : ",\n  ";
    text += dumped(budget_json(file.budgets[i]));
  }
  return text + "\n ],";
}

Json run_json(const RunResult& result) {
  Json counters = Json::object();
  for (const auto& [name, value] : result.counters) counters[name] = value;
  Json repetitions = Json::array(), timeline = Json::array();
  for (const Repetition& repetition : result.repetitions) repetitions.push_back(repetition_json(result, repetition));
  for (const Sample& sample : result.timeline) timeline.push_back(sample_json(sample));
  const std::optional<Latency> latency = pooled_latency(result);
  const WorkloadIdentity& workload = result.workload;
  const PolicyIdentity& policy = result.policy;
  Json run = {{"workload",
               {{"id", workload.id}, {"path", workload.path}, {"sha256", workload.sha256}, {"title", workload.title}}},
              {"policy", {{"name", policy.name}, {"spec", policy.spec}, {"options", pairs_json(policy.options)}}},
              {"model", model_json(result.model)},
              {"depth", result.depth},
              {"outcome", outcome_json(result.outcome)},
              {"counters", std::move(counters)},
              {"latency", latency ? latency_json(*latency, tokens_per_second(result)) : Json()},
              {"verification", result.verification ? verification_json(*result.verification) : Json()},
              {"evaluation_fed", result.evaluation_fed},
              {"repetitions", std::move(repetitions)},
              {"timeline", std::move(timeline)}};
  if (!result.suite.empty()) run["suite"] = result.suite;
  return run;
}

}  // namespace

std::string write_result_json(const ResultFile& file) {
  std::string text =
      fmt::format("{{\"schema\": \"{}\",\n \"config\": {},\n \"provenance\": {},{}\n \"results\": [", result_schema,
                  dumped(pairs_json(file.config)), dumped(pairs_json(file.provenance.entries)), suite_lines(file));
  // One result at a time: the whole document as values would need many times its size.
  for (std::size_t i = 0; i < file.results.size(); ++i) {
    text += i == 0 ? "\n  " : ",\n  ";
    text += dumped(run_json(file.results[i]));
  }
  text += file.results.empty() ? "]}\n" : "\n ]}\n";
  return text;
}

}  // namespace kvreplay::reports
