#include "sim/replay_sample.hpp"

namespace kvreplay::sim {
namespace {

using policies::Action;
using policies::Admission;

void add_bytes(reports::Sample& sample, const LedgerChange& ledger) {
  const auto& [before, now] = ledger;
  sample.bytes_before = before.reserved_bytes.total();
  sample.bytes_after = now.reserved_bytes.total();
  sample.bytes_copied = (now.bytes_copied - before.bytes_copied).total();
  sample.bytes_zeroed = (now.bytes_zeroed - before.bytes_zeroed).total();
  sample.live_global_bytes = now.live_bytes.global;
  sample.live_sliding_bytes = now.live_bytes.sliding;
  sample.reserved_global_bytes = now.reserved_bytes.global;
  sample.reserved_sliding_bytes = now.reserved_bytes.sliding;
}

void add_decision(reports::Sample& sample, const Admission& admission) {
  sample.action = name_of(admission.action);
  sample.common_prefix = admission.common_prefix;
  sample.held_before = admission.held_before;
  sample.held_after = admission.held_after;
  sample.kept = admission.kept;
  if (admission.capacity_before >= 0) sample.capacity_before = admission.capacity_before;
  if (admission.capacity_after >= 0) sample.capacity_after = admission.capacity_after;
  if (admission.crop_to >= 0) sample.crop_to = admission.crop_to;
  if (admission.action == Action::first) sample.new_storage = "first";
  if (admission.replaced_storage) sample.new_storage = "yes";
  sample.resets = admission.action == Action::reset ? 1 : 0;
}

}  // namespace

reports::Sample sample_of(const workloads::Step& step, const Admission& admission, const Recomputation& recomputation,
                          const LedgerChange& ledger) {
  reports::Sample sample;
  sample.line = step.mark.line;
  sample.length = static_cast<Count>(step.tokens.size());
  add_decision(sample, admission);
  add_bytes(sample, ledger);
  sample.cause = name_of(recomputation.cause);
  sample.tokens_recomputed = recomputation.tokens;
  const bool served = admission.action != Action::refused && admission.action != Action::exceeded;
  if (!served) return sample;
  sample.exact = admission.exact;
  sample.fed = sample.length - admission.reused;
  if (sample.fed > 0) sample.first_position = admission.reused;
  return sample;
}

}  // namespace kvreplay::sim
