#include "sim/replay.hpp"

#include "policies/memory_ledger.hpp"
#include "sim/outcomes.hpp"
#include "sim/replay_sample.hpp"

#include <chrono>
#include <memory>
#include <new>

namespace kvreplay::sim {
namespace {

using policies::Action;
using policies::Admission;
using workloads::Step;
using workloads::StepKind;
using Clock = std::chrono::steady_clock;
static_assert(Clock::is_steady);

Count nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

// The row of logits that ended the last evaluation, as guidance keeps it.
struct StoredAnswer {
  Count position = -1;
  std::vector<float> row;
};

class Replay {
 public:
  Replay(const workloads::Workload& workload, const ModelConfig& model, const policies::PolicySpec& policy,
         DecoderStack* stack, const ReplaySettings& settings, std::span<ReplayListener* const> listeners);

  ReplayRecord run(const workloads::Facts& facts);

 private:
  void run_steps();
  bool evaluate(const Step& step);  // false: the run ends here
  void serve(const Step& step, const Admission& admission);
  void move_bytes(Count first, Count count, Count piece_tokens);
  void compute(const Step& step, const Admission& admission);
  void shorten(const Step& step);
  void end_unserved(const Step& step, const Admission& admission);
  void end(reports::Outcome outcome, const Step& step);
  void report_sample(const Step& step, const Admission& admission, const Recomputation& recomputation);

  const workloads::Workload& workload_;
  const ModelConfig& model_;
  const policies::CacheGeometry geometry_;
  DecoderStack* const stack_;
  const ReplaySettings& settings_;
  const std::span<ReplayListener* const> listeners_;
  bool wants_samples_ = false, wants_hidden_ = false;

  workloads::Expansion expansion_;
  std::unique_ptr<policies::CachePolicy> cache_;
  ReplayCounters counters_;
  ReplayTimes times_;
  reports::Outcome outcome_;
  StoredAnswer stored_;
  std::int64_t last_sequence_ = -1;
  std::vector<float> zero_rows_;  // alloc depth: what is stored instead of computed rows

  // Of the evaluation under way, for its sample.
  policies::MemoryCounters before_;
  Count transient_bytes_ = 0;
  Count latency_ns_ = 0;
};

policies::PolicySetup setup_of(const policies::CacheGeometry& geometry, const ReplaySettings& settings) {
  return {.geometry = geometry,
          .buffers = settings.depth != Depth::plan,
          .memory_limit_bytes = settings.memory_limit_bytes,
          .poison_unused = settings.poison_unused,
          .pages = settings.pages};
}

Replay::Replay(const workloads::Workload& workload, const ModelConfig& model, const policies::PolicySpec& policy,
               DecoderStack* stack, const ReplaySettings& settings, std::span<ReplayListener* const> listeners)
    : workload_(workload),
      model_(model),
      geometry_(model.geometry()),
      stack_(stack),
      settings_(settings),
      listeners_(listeners),
      expansion_(workload, model.max_positions),
      cache_(policies::make_policy(policy, setup_of(geometry_, settings))),
      counters_(geometry_) {
  for (const ReplayListener* listener : listeners_) {
    wants_samples_ = wants_samples_ || listener->wants_samples();
    wants_hidden_ = wants_hidden_ || listener->wants_hidden();
  }
}

ReplayRecord Replay::run(const workloads::Facts& facts) {
  if (stack_ != nullptr) stack_->reset_times();
  run_steps();
  if (stack_ != nullptr && settings_.depth == Depth::compute) times_.stack = stack_->times();
  return {std::move(outcome_), counters_.report(cache_->ledger().counters(), facts), std::move(times_)};
}

void Replay::run_steps() {
  constexpr Count plan_progress_interval = Count{1} << 20;
  const Count progress_interval = settings_.depth == Depth::plan ? plan_progress_interval : 1;
  while (const Step* step = expansion_.next()) {
    switch (step->kind) {
      case StepKind::evaluate:
        if (!evaluate(*step)) return;
        if (settings_.progress && counters_.evaluations() % progress_interval == 0) {
          settings_.progress(counters_.evaluations());
        }
        if (settings_.interrupted != nullptr && settings_.interrupted->load(std::memory_order_relaxed)) {
          return end(interrupted_outcome(), *step);
        }
        break;
      case StepKind::shorten:
        shorten(*step);
        break;
      case StepKind::fork:
        cache_->fork(step->forked_from, step->sequence);
        break;
      case StepKind::release:
        cache_->release(step->sequence);
        break;
      case StepKind::over_limit:
        if (!settings_.stop_at_limit) throw_over_limit(workload_, *step, model_);
        return end(limit_outcome(*step, model_), *step);
    }
  }
}

bool Replay::evaluate(const Step& step) {
  const policies::Request request{
      .sequence = step.sequence,
      .tokens = step.tokens,
      .num_logits = step.num_logits,
      // The stored row answers for this list only if the list repeats the one it was computed from, up to that row.
      .stored_answer_position = step.common_prefix_last > stored_.position ? stored_.position : -1,
      .unchanged_prefix = step.common_prefix_last};
  if (wants_samples_) before_ = cache_->ledger().counters();
  const bool timed = settings_.depth != Depth::plan;
  const auto start = timed ? Clock::now() : Clock::time_point{};
  Admission admission;
  try {
    admission = cache_->admit(request);
    if (admission.action == Action::refused || admission.action == Action::exceeded) {
      end_unserved(step, admission);
      return false;
    }
    if (timed) times_.admit_ns += nanoseconds_since(start);
    const Count chunk = settings_.prefill_chunk;
    if (chunk > 0 && (admission.piece_tokens == 0 || admission.piece_tokens > chunk)) admission.piece_tokens = chunk;
    serve(step, admission);
  } catch (const policies::MemoryLimitExceeded& error) {
    end(memory_limit_outcome(error), step);
    return false;
  } catch (const std::bad_alloc&) {
    end(no_memory_outcome(), step);
    return false;
  }
  if (timed) {
    latency_ns_ = nanoseconds_since(start);
    times_.evaluation_ns.push_back(latency_ns_);
    times_.fed.push_back(static_cast<Count>(step.tokens.size()) - admission.reused);
  }
  const bool switched = last_sequence_ >= 0 && last_sequence_ != static_cast<std::int64_t>(step.sequence);
  const Recomputation recomputation = recomputation_of(step, admission, switched);
  if (wants_samples_) report_sample(step, admission, recomputation);
  counters_.add(step, admission, recomputation);
  last_sequence_ = step.sequence;
  return true;
}

// Feeds what was not reused and ends the evaluation.
void Replay::serve(const Step& step, const Admission& admission) {
  const Count length = static_cast<Count>(step.tokens.size());
  if (settings_.depth == Depth::alloc) move_bytes(admission.reused, length - admission.reused, admission.piece_tokens);
  if (settings_.depth == Depth::compute) compute(step, admission);
  if (wants_samples_) {
    const auto& held = cache_->ledger().counters();
    transient_bytes_ = held.reserved_bytes.total() + held.held_old_bytes.total();
  }
  stored_.position = length - 1;
  if (settings_.depth == Depth::plan) return cache_->finish();
  const auto start = Clock::now();
  cache_->finish();
  times_.admit_ns += nanoseconds_since(start);
}

// Alloc depth: the rows of every layer really pass through the policy, only their values are zeros.
void Replay::move_bytes(Count first, Count count, Count piece_tokens) {
  const auto start = Clock::now();
  const Count piece = piece_tokens > 0 ? piece_tokens : count;
  const auto row_size = static_cast<std::size_t>(geometry_.num_kv_heads * geometry_.head_dim);
  for (Count done = 0; done < count; done += piece) {
    const Count piece_count = std::min(piece, count - done);
    zero_rows_.resize(std::max(zero_rows_.size(), static_cast<std::size_t>(piece_count) * row_size));
    const policies::FreshRows fresh{first + done, piece_count, zero_rows_.data(), zero_rows_.data()};
    for (Count layer = 0; layer < geometry_.num_layers(); ++layer) {
      (void)cache_->rows(layer, fresh);
      cache_->store(layer, fresh);
    }
  }
  times_.stack.store_ns += nanoseconds_since(start);
}

void Replay::compute(const Step& step, const Admission& admission) {
  const Count length = static_cast<Count>(step.tokens.size());
  const Count fed = length - admission.reused;
  const Count computed_rows = std::min(step.num_logits, fed);
  HiddenObserver observer;
  if (wants_hidden_) {
    observer = [this](Count index, Count first_position, Count count, std::span<const float> rows) {
      for (ReplayListener* listener : listeners_) listener->hidden(index, first_position, count, rows);
    };
  }
  for (ReplayListener* listener : listeners_) listener->begin(counters_.evaluations(), step);
  std::span<const float> logits;
  if (fed > 0) {
    logits = stack_->evaluate(step.tokens.subspan(static_cast<std::size_t>(admission.reused)), admission.reused,
                              admission.piece_tokens, computed_rows, *cache_, observer);
  }
  const bool uses_stored = step.num_logits > computed_rows;
  const Answer answer{counters_.evaluations(), &step, &admission,
                      uses_stored ? std::span<const float>(stored_.row) : std::span<const float>{}, logits};
  for (ReplayListener* listener : listeners_) listener->answer(answer);
  if (fed > 0) {
    const auto last = logits.last(static_cast<std::size_t>(stack_->logits_size()));
    stored_.row.assign(last.begin(), last.end());
  }
}

void Replay::shorten(const Step& step) {
  if (!settings_.truncate_at_events) return;
  if (cache_->truncate(step.sequence, step.length)) stored_.position = -1;
}

void Replay::end(reports::Outcome outcome, const Step& step) {
  outcome_ = std::move(outcome);
  outcome_.evaluation = counters_.evaluations();
  outcome_.line = step.mark.line;
}

void Replay::end_unserved(const Step& step, const Admission& admission) {
  counters_.add_unserved(admission);
  if (wants_samples_) {
    transient_bytes_ = before_.reserved_bytes.total();
    report_sample(step, admission, {});
  }
  end(unserved_outcome(static_cast<Count>(step.tokens.size()), admission), step);
}

void Replay::report_sample(const Step& step, const Admission& admission, const Recomputation& recomputation) {
  reports::Sample sample =
      sample_of(step, admission, recomputation, {.before = before_, .now = cache_->ledger().counters()});
  sample.evaluation = counters_.evaluations();
  sample.sequence = workload_.sequence_names[step.sequence];
  sample.transient_bytes = transient_bytes_;
  if (settings_.depth != Depth::plan) sample.latency_ns = latency_ns_;
  for (ReplayListener* listener : listeners_) listener->sample(sample);
}

}  // namespace

std::string_view name_of(Depth depth) {
  switch (depth) {
    case Depth::plan:
      return "plan";
    case Depth::alloc:
      return "alloc";
    case Depth::compute:
      return "compute";
  }
  return "";
}

ReplayRecord replay(const workloads::Workload& workload, const workloads::Facts& facts, const ModelConfig& model,
                    const policies::PolicySpec& policy, DecoderStack* stack, const ReplaySettings& settings,
                    std::span<ReplayListener* const> listeners) {
  return Replay(workload, model, policy, stack, settings, listeners).run(facts);
}

}  // namespace kvreplay::sim
