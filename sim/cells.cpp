#include "sim/cells.hpp"

#include "policies/option_error.hpp"
#include "reports/statistics.hpp"
#include "sim/outcomes.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace kvreplay::sim {
namespace {

// Finds the event that makes a ledger too long, so that the error comes before any work.
void check_length(const workloads::Workload& workload, const ModelConfig& model) {
  workloads::Expansion expansion(workload, model.max_positions);
  while (const workloads::Step* step = expansion.next()) {
    if (step->kind == workloads::StepKind::over_limit) throw_over_limit(workload, *step, model);
  }
}

std::string weights_text(const ModelConfig& model) {
  const char* const dtype = model.weight_dtype == policies::ElementType::bf16 ? ", bf16" : "";
  if (model.checkpoint.empty()) return fmt::format("random, seed {}{}", model.seed, dtype);
  return std::filesystem::path(model.checkpoint).lexically_normal().filename().string() + dtype;
}

reports::ModelIdentity identity_of(const ModelConfig& model) {
  const policies::CacheGeometry geometry = model.geometry();
  return {.profile = model.name,
          .num_layers = model.num_layers,
          .num_sliding_layers = geometry.num_sliding_layers(),
          .hidden_size = model.hidden_size,
          .num_heads = model.num_heads,
          .num_kv_heads = model.num_kv_heads,
          .head_dim = model.head_dim,
          .intermediate_size = model.intermediate_size,
          .sliding_window = model.sliding_window,
          .max_positions = model.max_positions,
          .vocab_size = model.vocab_size,
          .row_bytes = geometry.row_bytes(),
          .cache_dtype = model.cache_dtype == policies::ElementType::fp32 ? "fp32" : "bf16",
          .weights = weights_text(model)};
}

reports::Latency latency_of(const ReplayTimes& times, Depth depth) {
  reports::Latency latency = reports::latency_of(times.evaluation_ns, times.fed);
  latency.parts_ns = {{"admit", times.admit_ns}};
  if (depth == Depth::compute) {
    latency.parts_ns.emplace_back("projections", times.stack.projections_ns);
    latency.parts_ns.emplace_back("attention", times.stack.attention_ns);
    latency.parts_ns.emplace_back("mlp", times.stack.mlp_ns);
  }
  latency.parts_ns.emplace_back("store", times.stack.store_ns);
  if (depth == Depth::compute) latency.parts_ns.emplace_back("head", times.stack.head_ns);
  return latency;
}

bool same_model(const ModelConfig& a, const ModelConfig& b) {
  const auto key = [](const ModelConfig& m) {
    return std::tuple(m.num_layers, m.hidden_size, m.num_heads, m.num_kv_heads, m.head_dim, m.intermediate_size,
                      m.query_pre_attn_scalar, m.sliding_window, m.max_positions, m.vocab_size, m.attn_softcap,
                      m.final_softcap, m.rope_theta, m.rms_norm_eps, m.has_head, m.slides, m.cache_dtype,
                      m.weight_dtype, m.seed, m.checkpoint);
  };
  return key(a) == key(b);
}

}  // namespace

Count model_vocab(const workloads::ModelRequest& request, const std::string& workload_path) {
  workloads::Workload only_model;
  only_model.path = workload_path;
  only_model.model = request;
  try {
    return resolve_model(only_model, {}).vocab_size;
  } catch (const workloads::InputError&) {
    return 0;
  } catch (const policies::OptionError&) {
    return 0;
  }
}

LoadedWorkload load_workload(const std::string& path, const ModelOptions& options, bool stop_at_limit) {
  LoadedWorkload loaded{.workload = workloads::read_workload(path, model_vocab), .model = {}, .facts = {}};
  loaded.model = resolve_model(loaded.workload, options);
  loaded.facts = workloads::facts_of(loaded.workload, {.floors = true, .checksums = false});
  if (!stop_at_limit && loaded.facts.max_length > loaded.model.max_positions)
    check_length(loaded.workload, loaded.model);
  return loaded;
}

void check_policy(const policies::PolicySpec& policy, const ModelConfig& model) {
  (void)policies::make_policy(policy, {.geometry = model.geometry()});
}

reports::RunResult new_result(const LoadedWorkload& loaded, const policies::PolicySpec& policy, Depth depth) {
  reports::RunResult result;
  result.workload = {loaded.workload.meta.id, loaded.workload.meta.title, loaded.workload.path, loaded.workload.sha256};
  result.policy = {policy.name, policy.text, policy.options};
  result.model = identity_of(loaded.model);
  result.depth = name_of(depth);
  return result;
}

void add_repetition(reports::RunResult& result, const ReplayRecord& record, Count index, Count run_order, Depth depth) {
  if (result.repetitions.empty()) {
    result.outcome = record.outcome;
    result.counters = record.counters;
  } else if (record.outcome.kind == "interrupted") {
    return;  // a repetition cut short says nothing the first did not
  } else if (record.counters != result.counters) {
    throw std::logic_error("a repetition counted other numbers than the first one: " + result.policy.spec);
  }
  reports::Repetition repetition{
      .index = index, .run_order = run_order, .latency = {}, .process = {}, .evaluation_ns = {}};
  if (depth != Depth::plan) {
    repetition.latency = latency_of(record.times, depth);
    if (static_cast<Count>(record.times.evaluation_ns.size()) <= reports::max_stored_evaluations) {
      repetition.evaluation_ns = record.times.evaluation_ns;
      result.evaluation_fed = record.times.fed;
    }
  }
  result.repetitions.push_back(std::move(repetition));
}

DecoderStack& StackKeeper::stack_for(const ModelConfig& model) {
  if (stack_ == nullptr || !same_model(stack_->config(), model)) {
    stack_.reset();  // two stacks of a large model would not fit
    stack_ = std::make_unique<DecoderStack>(model, kernels_);
  }
  return *stack_;
}

}  // namespace kvreplay::sim
