#include "sim/replay_counters.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace kvreplay::sim {
namespace {

// Sum over positions p in [first, end) of the keys a query at p sees when it sees at most `window`.
Count visible_pairs(Count first, Count end, Count window) {
  const auto below = [window](Count length) {
    const Count ramp = std::min(length, window);
    return ramp * (ramp + 1) / 2 + (length - ramp) * window;
  };
  return below(end) - below(first);
}

void add_per_kind(reports::Counters& counters, const std::string& name, policies::PerKind value) {
  counters.emplace_back(name, value.total());
  counters.emplace_back(name + "_global", value.global);
  counters.emplace_back(name + "_sliding", value.sliding);
}

// K and V tensors of a layer always have the same shape.
void add_peak(reports::Counters& counters, const std::string& name, policies::PerKind value) {
  add_per_kind(counters, name, value);
  counters.emplace_back(name + "_k", value.total() / 2);
  counters.emplace_back(name + "_v", value.total() / 2);
}

}  // namespace

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "";
    case Cause::overflow:
      return "overflow";
    case Cause::window_passed:
      return "window_passed";
    case Cause::sequence_switch:
      return "sequence_switch";
    case Cause::rewind:
      return "rewind";
    case Cause::policy:
      return "policy";
  }
  return "";
}

Recomputation recomputation_of(const workloads::Step& step, const policies::Admission& admission, bool switched) {
  const Count tokens = step.common_prefix_sequence - admission.reused;
  if (tokens <= 0) return {};
  if (admission.overflow) return {Cause::overflow, tokens};
  if (admission.window_passed) return {Cause::window_passed, tokens};
  if (switched) return {Cause::sequence_switch, tokens};
  if (admission.held_before > admission.kept) return {Cause::rewind, tokens};
  return {Cause::policy, tokens};
}

ReplayCounters::ReplayCounters(const policies::CacheGeometry& geometry)
    : num_global_layers_(geometry.num_global_layers()),
      num_sliding_layers_(geometry.num_sliding_layers()),
      window_(geometry.sliding_window) {}

void ReplayCounters::add(const workloads::Step& step, const policies::Admission& admission,
                         const Recomputation& recomputation) {
  const Count length = static_cast<Count>(step.tokens.size());
  ++evaluations_;
  ++actions_[static_cast<std::size_t>(admission.action)];
  requested_ += length;
  reused_ += admission.reused;
  evaluated_ += length - admission.reused;
  recomputed_by_cause_[static_cast<std::size_t>(recomputation.cause)] += recomputation.tokens;
  if (admission.held_before > admission.kept) {
    ++rewinds_asked_;
    ++(admission.reused == admission.kept ? rewinds_served_ : rewinds_refused_);
  }
  if (!admission.exact) ++inexact_;
  if (admission.reused == length) {
    ++cached_answers_;
  } else {
    add_attention(admission.reused, length, admission);
  }
}

void ReplayCounters::add_unserved(const policies::Admission& admission) {
  if (admission.action != policies::Action::refused) return;
  ++rewinds_asked_;
  ++rewinds_refused_;
}

void ReplayCounters::add_attention(Count first, Count length, const policies::Admission& admission) {
  const Count sliding_rows = std::min(length, length - first + window_ - 1);
  rows_read_.global += std::max(length, admission.attended_slots_global);
  rows_read_.sliding += std::max(sliding_rows, admission.attended_slots_sliding);
  pairs_.global += visible_pairs(first, length, length);
  pairs_.sliding += visible_pairs(first, length, window_);
}

reports::Counters ReplayCounters::report(const policies::MemoryCounters& memory, const workloads::Facts& facts) const {
  const auto recomputed = [this](Cause cause) { return recomputed_by_cause_[static_cast<std::size_t>(cause)]; };
  const auto taken = [this](policies::Action action) { return actions_[static_cast<std::size_t>(action)]; };
  reports::Counters counters{
      {"evaluations", evaluations_},
      {"cached_answers", cached_answers_},
      {"inexact_evaluations", inexact_},
      {"tokens_requested", requested_},
      {"tokens_reused", reused_},
      {"tokens_evaluated", evaluated_},
      {"tokens_recomputed", std::accumulate(recomputed_by_cause_.begin(), recomputed_by_cause_.end(), Count{0})},
      {"tokens_recomputed_rewind", recomputed(Cause::rewind)},
      {"tokens_recomputed_overflow", recomputed(Cause::overflow)},
      {"tokens_recomputed_window_passed", recomputed(Cause::window_passed)},
      {"tokens_recomputed_sequence_switch", recomputed(Cause::sequence_switch)},
      {"tokens_recomputed_policy", recomputed(Cause::policy)},
      {"tokens_floor_single", facts.tokens_floor_single},
      {"tokens_floor_multi", facts.tokens_floor_multi},
      {"reallocations", memory.reallocations},
      {"allocations", memory.allocations},
      {"buffers_allocated", memory.buffers_allocated},
      {"releases", memory.releases},
  };
  const policies::PerKind layers{num_global_layers_, num_sliding_layers_};
  const auto over_layers = [&layers](policies::PerKind per_layer) {
    return policies::PerKind{per_layer.global * layers.global, per_layer.sliding * layers.sliding};
  };
  add_per_kind(counters, "bytes_allocated", memory.bytes_allocated);
  add_per_kind(counters, "bytes_copied", memory.bytes_copied);
  add_per_kind(counters, "bytes_zeroed", memory.bytes_zeroed);
  add_per_kind(counters, "rows_read", over_layers(rows_read_));
  add_per_kind(counters, "attention_pairs", over_layers(pairs_));
  counters.insert(counters.end(), {{"crops", taken(policies::Action::crop)},
                                   {"resets", taken(policies::Action::reset)},
                                   {"discards", taken(policies::Action::discard)},
                                   {"ledger_rewinds", facts.rewinds},
                                   {"rewinds_asked", rewinds_asked_},
                                   {"rewinds_served", rewinds_served_},
                                   {"rewinds_refused", rewinds_refused_}});
  add_peak(counters, "live_bytes_peak", memory.live_bytes_peak);
  add_peak(counters, "reserved_bytes_peak", memory.reserved_bytes_peak);
  add_peak(counters, "transient_bytes_peak", memory.transient_bytes_peak);
  add_per_kind(counters, "bytes_at_end", memory.reserved_bytes);
  add_per_kind(counters, "slack_byte_steps", memory.slack_byte_steps);
  return counters;
}

}  // namespace kvreplay::sim
