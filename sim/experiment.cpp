#include "sim/experiment.hpp"

#include "sim/cells.hpp"
#include "sim/cold_state.hpp"
#include "sim/expectation.hpp"
#include "sim/interference.hpp"
#include "sim/machine.hpp"
#include "sim/process_use.hpp"
#include "sim/reference.hpp"
#include "sim/tensor_dump.hpp"
#include "sim/timeline.hpp"
#include "sim/verifier.hpp"

#include <fmt/format.h>

#include <omp.h>

#include <memory>

namespace kvreplay::sim {
namespace {

class Experiment {
 public:
  Experiment(const ExperimentSettings& settings, ExperimentObserver& observer)
      : settings_(settings), observer_(observer), stacks_(settings.kernels), run_order_(settings.first_run) {}

  reports::ResultFile run();

 private:
  reports::Provenance whole_provenance();
  void load();
  Work whole_work() const;
  void guard_against_long_runs();
  void repeat(Count repetition);
  void replay_cell(std::size_t workload, std::size_t policy, Count repetition);
  void observe_outputs(std::size_t workload, std::size_t policy);
  ReplaySettings replay_settings() const;
  void warm_up(DecoderStack& stack);
  bool wants(std::size_t workload, std::size_t policy) const {
    return settings_.cells.holds(static_cast<Count>(workload * settings_.policies.size() + policy));
  }
  bool interrupted() const { return settings_.interrupted != nullptr && settings_.interrupted->load(); }
  reports::RunResult& result_of(std::size_t workload, std::size_t policy) {
    return results_[workload * settings_.policies.size() + policy];
  }

  const ExperimentSettings& settings_;
  ExperimentObserver& observer_;
  std::vector<LoadedWorkload> workloads_;
  std::vector<reports::RunResult> results_;
  StackKeeper stacks_;
  InterferenceMeter interference_;
  Count run_order_;
  Count num_begun_ = 0, num_cells_ = 0;
};

reports::ResultFile Experiment::run() {
  omp_set_num_threads(settings_.threads);
  load();
  const bool observes = settings_.verify || !settings_.dump_folder.empty();
  for (std::size_t cell = 0; cell < results_.size(); ++cell) {
    if (wants(0, cell)) num_cells_ += settings_.repetitions + (observes ? 1 : 0);
  }
  if (settings_.depth != Depth::plan) guard_against_long_runs();
  for (Count repetition = 0; repetition < settings_.repetitions && !interrupted(); ++repetition) repeat(repetition);
  for (std::size_t workload = 0; observes && workload < workloads_.size(); ++workload) {
    for (std::size_t policy = 0; policy < settings_.policies.size() && !interrupted(); ++policy) {
      if (wants(workload, policy)) observe_outputs(workload, policy);
    }
  }
  // A cell of another part, or that an interruption kept from starting, has counted nothing and is left out.
  std::erase_if(results_, [](const reports::RunResult& result) { return result.counters.empty(); });
  reports::ResultFile file;
  file.provenance = whole_provenance();
  file.results = std::move(results_);
  return file;
}

reports::Provenance Experiment::whole_provenance() {
  reports::Provenance all = provenance(settings_.threads);
  for (auto& entry : interference_.entries()) all.entries.push_back(std::move(entry));
  all.entries.emplace_back("run_order", "repetition, workload, policy; policies rotated by one each repetition");
  all.entries.emplace_back("cold_state", "each run begins with an empty cache, freed memory given back to the system");
  if (settings_.depth == Depth::compute) {
    all.entries.emplace_back("warm_up", "four tokens through the stack before each run, not timed");
  }
  if (settings_.depth != Depth::plan) {
    for (const std::string& warning : interference_.warnings(settings_.threads, available_cpus())) {
      observer_.note(warning);
    }
  }
  return all;
}

void Experiment::load() {
  for (const std::string& path : settings_.workload_paths) {
    workloads_.push_back(load_workload(path, settings_.model, settings_.stop_at_limit));
    const LoadedWorkload& loaded = workloads_.back();
    for (const policies::PolicySpec& policy : settings_.policies) {
      check_policy(policy, loaded.model);
      results_.push_back(new_result(loaded, policy, settings_.depth));
    }
    if (settings_.depth == Depth::compute && loaded.workload.vocab > loaded.model.vocab_size) {
      observer_.note(
          fmt::format("{}: ids of the tokenizer's {} are folded into the model's vocabulary of {} at the "
                      "embedding; counters do not depend on it",
                      path, loaded.workload.vocab, loaded.model.vocab_size));
    }
  }
}

// Of all cells, from their plans.
Work Experiment::whole_work() const {
  Work whole;
  ReplaySettings plan = replay_settings();
  plan.depth = Depth::plan;
  plan.progress = {};
  const bool observes = settings_.verify || !settings_.dump_folder.empty();
  for (std::size_t workload = 0; workload < workloads_.size(); ++workload) {
    const LoadedWorkload& loaded = workloads_[workload];
    if (settings_.verify) {
      // One cold pass a leaf is at most one pass over every requested token; usually far less.
      const double parameters = static_cast<double>(loaded.model.num_parameters());
      const double flops = 2.0 * parameters * static_cast<double>(loaded.facts.max_length);
      add(whole, {.flops = flops, .bytes_read = 0, .bytes_filled = 0}, loaded.facts.leaves);
    }
    for (std::size_t policy = 0; policy < settings_.policies.size(); ++policy) {
      if (!wants(workload, policy)) continue;
      const ReplayRecord record =
          replay(loaded.workload, loaded.facts, loaded.model, settings_.policies[policy], nullptr, plan);
      add(whole, work_of(loaded.model, record.counters), settings_.repetitions + (observes ? 1 : 0));
    }
  }
  return whole;
}

void Experiment::guard_against_long_runs() {
  const bool computes = settings_.depth == Depth::compute;
  const Work work = whole_work();
  // Moments on any machine: measuring this one would take longer.
  constexpr double soon_filled_bytes = 1 << 28;
  if (!computes && work.bytes_filled < soon_filled_bytes) return;
  const double seconds =
      expected_seconds(work, computes ? measure_machine_speed(settings_.kernels, settings_.threads, settings_.pages)
                                      : measure_filling(settings_.pages));
  if (seconds > long_run_seconds && !settings_.accept_long_run) {
    const char* cure = computes
                           ? "--depth plan counts the same numbers in moments, --depth alloc also moves the bytes, "
                             "a smaller --model computes less, --yes runs it all the same"
                           : "--depth plan counts the same numbers in moments, a smaller --model moves less, --yes "
                             "runs it all the same";
    throw RunTooLong(fmt::format("{} is expected to take about {} on this machine",
                                 computes ? "computing this" : "moving these bytes", duration_text(seconds)),
                     cure);
  }
  observer_.expectation(seconds);
}

ReplaySettings Experiment::replay_settings() const {
  return {.depth = settings_.depth,
          .memory_limit_bytes = settings_.memory_limit_bytes,
          .stop_at_limit = settings_.stop_at_limit,
          .truncate_at_events = settings_.truncate_at_events,
          .pages = settings_.pages,
          .prefill_chunk = settings_.prefill_chunk,
          .poison_unused = false,
          .interrupted = settings_.interrupted,
          .progress = [this](Count done) { observer_.progress(done); }};
}

void Experiment::repeat(Count repetition) {
  const std::size_t num_policies = settings_.policies.size();
  for (std::size_t workload = 0; workload < workloads_.size(); ++workload) {
    for (std::size_t i = 0; i < num_policies && !interrupted(); ++i) {
      const std::size_t policy = (i + static_cast<std::size_t>(repetition)) % num_policies;
      if (wants(workload, policy)) replay_cell(workload, policy, repetition);
      ++run_order_;
    }
  }
}

void Experiment::replay_cell(std::size_t workload, std::size_t policy, Count repetition) {
  const LoadedWorkload& loaded = workloads_[workload];
  DecoderStack* stack = nullptr;
  if (settings_.depth == Depth::compute) {
    stack = &stacks_.stack_for(loaded.model);
    warm_up(*stack);
  }
  reports::RunResult& result = result_of(workload, policy);
  observer_.begin(++num_begun_, num_cells_,
                  fmt::format("{} through {}", loaded.workload.meta.id, settings_.policies[policy].text),
                  loaded.facts.evaluations);
  Timeline timeline(loaded.facts.evaluations);
  ReplayListener* listener = &timeline;
  const bool wants_timeline = settings_.timeline && repetition == 0;
  return_free_memory();
  const ProcessUseMeter meter;
  const ReplayRecord record =
      replay(loaded.workload, loaded.facts, loaded.model, settings_.policies[policy], stack, replay_settings(),
             wants_timeline ? std::span<ReplayListener* const>(&listener, 1) : std::span<ReplayListener* const>{});
  reports::ProcessUse use = meter.finish();
  if (stack != nullptr) use.workspace_bytes = stack->workspace_bytes();
  const std::size_t repetitions_before = result.repetitions.size();
  add_repetition(result, record, repetition, run_order_, settings_.depth);
  if (settings_.depth != Depth::plan && result.repetitions.size() > repetitions_before) {
    result.repetitions.back().process = use;
  }
  if (wants_timeline) result.timeline = timeline.points();
  observer_.end();
}

// Pages and caches are touched once before anything is timed.
void Experiment::warm_up(DecoderStack& stack) {
  const std::vector<policies::TokenId> tokens{0, 1, 2, 3};
  stack.evaluate_cold(tokens, {});
}

// Verification and dumps look at every output, so they get a replay of their own that no time is taken from.
void Experiment::observe_outputs(std::size_t workload, std::size_t policy) {
  const LoadedWorkload& loaded = workloads_[workload];
  DecoderStack& stack = stacks_.stack_for(loaded.model);
  reports::RunResult& result = result_of(workload, policy);
  observer_.begin(++num_begun_, num_cells_,
                  fmt::format("{} through {}, outputs", loaded.workload.meta.id, settings_.policies[policy].text),
                  loaded.facts.evaluations);
  std::vector<ReplayListener*> listeners;
  std::unique_ptr<Reference> reference;
  std::unique_ptr<Verifier> verifier;
  if (settings_.verify) {
    const auto& expect = loaded.workload.expect;
    const double tolerance = settings_.tolerance > 0 ? settings_.tolerance : expect.check_tolerance.value_or(0);
    reference = std::make_unique<Reference>(loaded.workload, stack);
    verifier =
        std::make_unique<Verifier>(*reference, stack, tolerance, expect.check_logits.value_or(std::vector<Count>{}));
    listeners.push_back(verifier.get());
  }
  std::unique_ptr<TensorDump> dump;
  if (!settings_.dump_folder.empty()) {
    dump = std::make_unique<TensorDump>(settings_.dump_folder, loaded.workload, settings_.policies[policy].text, stack,
                                        settings_.dump_hidden);
    listeners.push_back(dump.get());
  }
  const ReplayRecord record = replay(loaded.workload, loaded.facts, loaded.model, settings_.policies[policy], &stack,
                                     replay_settings(), listeners);
  if (result.counters.empty()) {  // nothing was timed before
    result.outcome = record.outcome;
    result.counters = record.counters;
  }
  if (verifier != nullptr) result.verification = verifier->result();
  if (dump != nullptr) observer_.note("wrote " + dump->write());
  observer_.end();
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} seconds", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.0f} minutes", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.1f} hours", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}

reports::ResultFile run_experiment(const ExperimentSettings& settings, ExperimentObserver& observer) {
  return Experiment(settings, observer).run();
}

}  // namespace kvreplay::sim
