#include "policies/single_slot.hpp"

#include <array>
#include <cassert>

namespace kvreplay::policies {
namespace {

class SingleSlot final : public CachePolicy {
 public:
  SingleSlot(const PolicySetup& setup, const Knobs& knobs, std::unique_ptr<SlotRules> rules)
      : knobs_(knobs), rules_(std::move(rules)), traits_(rules_->traits()), storage_(setup, knobs.attend_capacity) {}

  Admission admit(const Request& request) override;
  KvView rows(Count layer, const FreshRows& fresh) override;
  void store(Count layer, const FreshRows& fresh) override {
    if (!knobs_.write_before) storage_.write(layer, fresh);
  }
  void finish() override;
  bool truncate(SequenceId sequence, Count length) override;
  const MemoryLedger& ledger() const override { return storage_.ledger(); }
  BufferBytes buffer_bytes() const override { return storage_.buffer_bytes(); }

 private:
  Decision decide(Admission& admission, Count length) const;
  void carry_out(const Decision& decision, Count length);
  void lay_out(SlotMaps& maps, Count capacity, Count length, Count kept) const;
  bool window_passed(Count kept) const;
  Count piece_tokens(Count length, Count reused) const;
  Count reported_capacity() const;
  void add_runs(Count layer, Count begin, Count end, bool unused);

  Knobs knobs_;
  std::unique_ptr<SlotRules> rules_;
  SlotTraits traits_;
  KvStorage storage_;
  HeldTokens list_;
  bool open_ = false;  // between admit() and finish()
  // At most two runs of cached rows, the fresh one, two of unused slots.
  std::array<KvRun, 5> runs_;
  std::size_t num_runs_ = 0;
};

Admission SingleSlot::admit(const Request& request) {
  assert(!open_ && request.num_logits >= 1 && static_cast<Count>(request.tokens.size()) >= request.num_logits);
  const Count length = static_cast<Count>(request.tokens.size());
  Admission admission;
  admission.common_prefix = list_.common_prefix(request);
  admission.held_before = admission.held_after = list_.count();
  admission.kept = kept_tokens(knobs_.keep, request, list_.count(), admission.common_prefix);
  admission.capacity_before = admission.capacity_after = reported_capacity();

  const Decision decision = decide(admission, length);
  admission.action = decision.action;
  if (decision.action == Action::crop) admission.crop_to = decision.reused;
  if (decision.action == Action::refused) admission.crop_to = admission.kept;
  if (decision.stops()) {
    if (decision.action == Action::exceeded)
      admission.limit = decision.limit >= 0 ? decision.limit : storage_.map(LayerKind::global).slots;
    list_.distrust_last();
    return admission;
  }
  list_.reserve(length);
  admission.replaced_storage = decision.new_capacity > 0 && !storage_.empty();
  carry_out(decision, length);
  list_.hold(request, admission.common_prefix);
  open_ = true;
  admission.reused = decision.reused;
  admission.held_after = length;
  admission.capacity_after = reported_capacity();
  admission.piece_tokens = piece_tokens(length, decision.reused);
  if (knobs_.attend_capacity) {
    admission.attended_slots_global = storage_.map(LayerKind::global).slots;
    admission.attended_slots_sliding = storage_.map(LayerKind::sliding).slots;
  }
  return admission;
}

Decision SingleSlot::decide(Admission& admission, Count length) const {
  if (length > traits_.longest) return Decision::stop(Action::exceeded, traits_.longest);
  if (storage_.empty()) {
    const Decision first = rules_->on_first(length);
    admission.overflow = first.action == Action::exceeded;
    return first;
  }
  Situation situation{length, admission.held_before, admission.kept, storage_.map(LayerKind::global).slots, false};
  if (traits_.bounded && length > situation.capacity) {
    admission.overflow = true;
    return rules_->on_overflow(situation);
  }
  if (situation.held > situation.kept) {
    situation.window_passed = admission.window_passed = window_passed(situation.kept);
    return rules_->on_rewind(situation);
  }
  if (situation.kept == length) return Decision::in_place(Action::cached, length);
  return rules_->on_append(situation);
}

void SingleSlot::carry_out(const Decision& decision, Count length) {
  if (decision.new_capacity > 0) {
    NewStorage plan;
    lay_out(plan.maps, decision.new_capacity, length, decision.reused);
    plan.kept = decision.reused;
    // An engine that attends spare slots must have cleared them.
    plan.zeroed = decision.zeroed || (knobs_.attend_capacity && decision.new_capacity > length);
    plan.how = knobs_.hold_old   ? Replacement::hold_old
               : decision.copies ? Replacement::tensor_by_tensor
                                 : Replacement::free_first;
    storage_.replace(plan);
  } else if (decision.zeroed) {
    storage_.zero();
  } else if (decision.reused < list_.count()) {
    storage_.crop(decision.reused, list_.count());
  }
}

void SingleSlot::lay_out(SlotMaps& maps, Count capacity, Count length, Count kept) const {
  const Count window = storage_.geometry().sliding_window;
  maps[LayerKind::global].slots = maps[LayerKind::sliding].slots = capacity;
  if (!knobs_.sliding_window) return;
  SlotMap& sliding = maps[LayerKind::sliding];
  if (traits_.trims_window) {
    sliding.origin = kept - std::min(kept, window - 1);
    sliding.slots = length - sliding.origin;
  } else {
    sliding.slots = std::min(window, capacity);
    sliding.ring = true;
  }
}

// The rule of docs/semantics.md: the rows the query behind `kept` tokens sees must all be there.
bool SingleSlot::window_passed(Count kept) const {
  if (!traits_.crops || kept == 0 || storage_.geometry().num_sliding_layers() == 0) return false;
  return storage_.map(LayerKind::sliding).valid_from >
         std::max<Count>(0, kept - storage_.geometry().sliding_window + 1);
}

// A ring that is written before attention must not lose rows the first query of a piece still sees.
Count SingleSlot::piece_tokens(Count length, Count reused) const {
  const SlotMap& sliding = storage_.map(LayerKind::sliding);
  if (!knobs_.write_before || !sliding.ring || length <= sliding.slots) return 0;
  const Count fits = std::max<Count>(1, sliding.slots - storage_.geometry().sliding_window + 1);
  return length - reused > fits && storage_.geometry().num_sliding_layers() > 0 ? fits : 0;
}

Count SingleSlot::reported_capacity() const {
  if (storage_.empty()) return -1;
  return traits_.reported_capacity.value_or(storage_.map(LayerKind::global).slots);
}

KvView SingleSlot::rows(Count layer, const FreshRows& fresh) {
  const CacheGeometry& geometry = storage_.geometry();
  const LayerKind kind = storage_.kind_of(layer);
  const SlotMap& map = storage_.map(kind);
  if (knobs_.write_before) storage_.write(layer, fresh);
  const Count end = fresh.first_position + fresh.count;
  const Count cached_end = knobs_.write_before ? end : fresh.first_position;
  Count needed =
      kind == LayerKind::sliding ? std::max<Count>(0, fresh.first_position - geometry.sliding_window + 1) : 0;
  // A whole buffer holds what is left when the piece has been stored, whether or not a query sees it.
  if (knobs_.attend_capacity) needed = std::min(needed, map.lowest(end));

  num_runs_ = 0;
  add_runs(layer, std::max(map.lowest(cached_end), needed), cached_end, false);
  if (!knobs_.write_before) {
    runs_[num_runs_++] = {
        fresh.first_position, fresh.count,      fresh.keys, fresh.values, geometry.num_kv_heads * geometry.head_dim,
        geometry.head_dim,    ElementType::fp32};
  }
  // Storage that was not cleared fits exactly: its other slots are about to be written.
  if (knobs_.attend_capacity && storage_.readable()) add_runs(layer, end, map.room_end(end), true);
  return {std::span<const KvRun>(runs_.data(), num_runs_), {}};
}

void SingleSlot::add_runs(Count layer, Count begin, Count end, bool unused) {
  const SlotMap& map = storage_.map(storage_.kind_of(layer));
  for (Count position = begin, count = 0; position < end; position += count) {
    count = std::min(end - position, map.contiguous(position));
    runs_[num_runs_++] = storage_.run(layer, map.slot_of(position), count, unused ? KvRun::unused_slots : position);
  }
}

void SingleSlot::finish() {
  if (!open_) return;
  open_ = false;
  const Count held = list_.count();
  storage_.fill(held);
  if (traits_.trims_window && knobs_.sliding_window)
    storage_.trim_sliding(storage_.geometry().sliding_window - 1, held);
  storage_.end_evaluation();
}

bool SingleSlot::truncate(SequenceId sequence, Count length) {
  assert(!open_ && length >= 0);
  if (!traits_.crops || sequence != list_.sequence() || length >= list_.count() || window_passed(length)) return false;
  storage_.crop(length, list_.count());
  list_.crop(length);
  return true;
}

}  // namespace

std::unique_ptr<CachePolicy> make_single_slot(const PolicySetup& setup, const Knobs& knobs,
                                              std::unique_ptr<SlotRules> rules) {
  return std::make_unique<SingleSlot>(setup, knobs, std::move(rules));
}

}  // namespace kvreplay::policies
