// guidance-0.2+transformers-4.47: guidance pull request 1047 (aaa5f00f) on HybridCache of transformers 4.42 to 4.51.
//
// Doubling with the seed keep rule, whose engine takes the number of non-zero rows of layer 0 for the cache's length.
// In a sliding layer that number saturates, so tokens are fed again; and the sliding buffers roll one step too early
// and by one row whatever the number of new tokens, so outputs are wrong until the cache is filled from position 0
// again. Rows, masks and counters are the engine's; checked against recordings of guidance 0.2.1 on
// transformers 4.47.1. Source: transformers v4.47.1 cache_utils.py HybridCache._sliding_update, modeling_gemma2.py
// Gemma2DecoderLayer.
#include "policies/bf16.hpp"
#include "policies/held_tokens.hpp"
#include "policies/kv_storage.hpp"
#include "policies/occupancy.hpp"
#include "policies/presets.hpp"

#include <cassert>
#include <cstring>

namespace kvreplay::policies {
namespace {

// One head of a sliding tensor, [slot][head_dim], while a piece is written into it.
template <typename Element>
struct SlidingHead {
  Element* rows;
  Count slots;
  Count head_dim;

  static Element stored(float value) {
    if constexpr (std::is_same_v<Element, float>)
      return value;
    else
      return to_bf16(value);
  }
  static float loaded(Element value) {
    if constexpr (std::is_same_v<Element, float>)
      return value;
    else
      return from_bf16(value);
  }

  // `fresh` rows are `stride` floats apart.
  void update(const float* fresh, Count stride, Count first_position, Count count, std::vector<Element>& scratch) {
    const auto size = static_cast<std::size_t>(slots * head_dim);
    if (count > slots) {
      // The buffer is assumed to be zero; whoever did not reset it gets the sum.
      for (Count slot = 0; slot < slots; ++slot) add_row(slot, fresh + (count - slots + slot) * stride);
      return;
    }
    scratch.resize(size);
    const Count shift = first_position + count >= slots ? 1 : 0;
    const auto kept = static_cast<std::size_t>((slots - shift) * head_dim);
    std::copy_n(rows + shift * head_dim, kept, scratch.data());
    std::copy_n(rows, size - kept, scratch.data() + kept);
    for (Count i = 0; i < count; ++i) {
      const Count slot = std::min(first_position + i, slots - 1);
      std::transform(fresh + i * stride, fresh + i * stride + head_dim, scratch.data() + slot * head_dim, stored);
    }
    std::memset(rows, 0, size * sizeof(Element));
    std::transform(scratch.begin(), scratch.end(), rows, rows,
                   [](Element a, Element b) { return stored(loaded(a) + loaded(b)); });
  }

 private:
  void add_row(Count slot, const float* values) {
    Element* row = rows + slot * head_dim;
    std::transform(row, row + head_dim, values, row, [](Element a, float b) { return stored(loaded(a) + b); });
  }
};

class Guidance02 final : public CachePolicy {
 public:
  explicit Guidance02(const PolicySetup& setup) : storage_(setup, true) {}

  Admission admit(const Request& request) override;
  KvView rows(Count layer, const FreshRows& fresh) override;
  void store(Count /*layer*/, const FreshRows& /*fresh*/) override {}
  void finish() override;
  const MemoryLedger& ledger() const override { return storage_.ledger(); }
  BufferBytes buffer_bytes() const override { return storage_.buffer_bytes(); }

 private:
  Action decide(const Admission& admission, Count length) const;
  void carry_out(Action action, Count length);
  void take_storage(Count capacity);
  void feed(Count first_position, Count count, Count listed);
  void update_sliding(Count layer, const FreshRows& fresh);
  template <typename Element>
  void update_tensor(std::byte* tensor, const float* fresh_rows, const FreshRows& fresh, std::vector<Element>& scratch);
  KvView sliding_view(Count layer, const FreshRows& fresh);
  KvView view(std::size_t num_runs) const { return {std::span<const KvRun>(runs_.data(), num_runs), {}}; }

  bool slides_first() const { return storage_.kind_of(0) == LayerKind::sliding; }
  Count past() const { return slides_first() ? sliding_.count() : list_.count(); }
  Count capacity() const { return storage_.empty() ? -1 : storage_.map(LayerKind::global).slots; }

  KvStorage storage_;
  HeldTokens list_;
  Occupancy sliding_;
  bool broken_ = false;  // sliding rows are not those of a cold run
  bool open_ = false;
  std::array<KvRun, 2> runs_;
  std::vector<std::uint8_t> visible_;
  std::vector<float> scratch_;
  std::vector<Bf16> scratch_bf16_;
};

Admission Guidance02::admit(const Request& request) {
  assert(!open_ && request.num_logits >= 1 && static_cast<Count>(request.tokens.size()) >= request.num_logits);
  const Count length = static_cast<Count>(request.tokens.size());
  Admission admission;
  admission.common_prefix = list_.common_prefix(request);
  admission.held_before = admission.held_after = past();
  admission.kept = kept_tokens(KeepRule::seed, request, past(), std::min(admission.common_prefix, past()));
  admission.capacity_before = admission.capacity_after = capacity();
  admission.action = decide(admission, length);
  admission.overflow = admission.action == Action::grow;
  admission.exact = !broken_;
  if (admission.action == Action::exceeded) {
    admission.limit = storage_.geometry().max_positions - 1;
    list_.distrust_last();
    return admission;
  }
  list_.reserve(length);
  carry_out(admission.action, length);
  const Count listed = list_.count();
  list_.hold(request, admission.common_prefix);
  open_ = true;
  const bool keeps = admission.action == Action::append || admission.action == Action::cached;
  admission.reused = keeps ? admission.kept : 0;
  if (admission.action != Action::cached) feed(admission.reused, length - admission.reused, listed);
  admission.exact = !broken_;
  admission.held_after = past();
  admission.capacity_after = capacity();
  admission.replaced_storage = admission.action == Action::grow;
  admission.attended_slots_global = capacity();
  admission.attended_slots_sliding = sliding_.rows();
  return admission;
}

Action Guidance02::decide(const Admission& admission, Count length) const {
  if (length >= storage_.geometry().max_positions) return Action::exceeded;  // guidance raises before all else
  if (storage_.empty()) return Action::first;
  if (length > capacity()) return Action::grow;
  if (admission.held_before > admission.kept) return Action::reset;
  return admission.kept == length ? Action::cached : Action::append;
}

void Guidance02::carry_out(Action action, Count length) {
  if (action == Action::first) take_storage(length);
  if (action == Action::grow) take_storage(2 * length);
  if (action == Action::reset) {
    storage_.zero();
    sliding_.clear();
  }
}

void Guidance02::take_storage(Count capacity) {
  NewStorage plan;
  plan.maps[LayerKind::global].slots = capacity;
  plan.maps[LayerKind::sliding].slots = std::min(storage_.geometry().sliding_window, capacity);
  plan.zeroed = true;
  plan.how = Replacement::hold_old;
  Occupancy empty(plan.maps[LayerKind::sliding].slots);
  storage_.replace(plan);
  sliding_ = std::move(empty);
}

void Guidance02::feed(Count first_position, Count count, Count listed) {
  if (storage_.geometry().num_sliding_layers() > 0) {
    const bool disturbs = sliding_.rolls(first_position, count) || count > sliding_.rows();
    // One roll is right all the same: a window filled to its last slot from position 0, and one token behind it.
    const bool fills_whole_window = sliding_.rows() == storage_.geometry().sliding_window;
    const bool slides_by_one =
        fills_whole_window && count == 1 && first_position == listed && listed == sliding_.rows();
    broken_ = first_position > 0 && (broken_ || (disturbs && !slides_by_one));
    // Every append gathers the buffer, zeroes it and adds the gathered rows back.
    if (count <= sliding_.rows()) storage_.count_moved({0, 2 * sliding_.rows()}, {0, sliding_.rows()});
  }
  sliding_.update(first_position, count);
}

void Guidance02::finish() {
  if (!open_) return;
  open_ = false;
  storage_.set_live({list_.count(), sliding_.count()});
  storage_.end_evaluation();
}

KvView Guidance02::rows(Count layer, const FreshRows& fresh) {
  if (storage_.kind_of(layer) == LayerKind::sliding) {
    update_sliding(layer, fresh);
    return sliding_view(layer, fresh);
  }
  storage_.write(layer, fresh);
  const Count end = fresh.first_position + fresh.count;
  runs_[0] = storage_.run(layer, 0, end, 0);
  runs_[1] = storage_.run(layer, end, capacity() - end, KvRun::unused_slots);
  return view(end < capacity() ? 2 : 1);
}

void Guidance02::update_sliding(Count layer, const FreshRows& fresh) {
  if (storage_.geometry().element_type == ElementType::fp32) {
    update_tensor(storage_.keys(layer), fresh.keys, fresh, scratch_);
    update_tensor(storage_.values(layer), fresh.values, fresh, scratch_);
  } else {
    update_tensor(storage_.keys(layer), fresh.keys, fresh, scratch_bf16_);
    update_tensor(storage_.values(layer), fresh.values, fresh, scratch_bf16_);
  }
}

template <typename Element>
void Guidance02::update_tensor(std::byte* tensor, const float* fresh_rows, const FreshRows& fresh,
                               std::vector<Element>& scratch) {
  const CacheGeometry& geometry = storage_.geometry();
  const Count slots = sliding_.rows();
  for (Count head = 0; head < geometry.num_kv_heads; ++head) {
    Element* rows = reinterpret_cast<Element*>(tensor) + head * slots * geometry.head_dim;
    SlidingHead<Element>{rows, slots, geometry.head_dim}.update(fresh_rows + head * geometry.head_dim,
                                                                geometry.num_kv_heads * geometry.head_dim,
                                                                fresh.first_position, fresh.count, scratch);
  }
}

KvView Guidance02::sliding_view(Count layer, const FreshRows& fresh) {
  const CacheGeometry& geometry = storage_.geometry();
  const Count slots = sliding_.rows();
  const bool sees_fresh_only = fresh.count > slots;
  const KvRun fresh_run{
      fresh.first_position, fresh.count,      fresh.keys, fresh.values, geometry.num_kv_heads * geometry.head_dim,
      geometry.head_dim,    ElementType::fp32};
  if (fresh.first_position == 0) {  // slots are positions and the mask is the ordinary one
    runs_[0] = sees_fresh_only ? fresh_run : storage_.run(layer, 0, fresh.count, 0);
    runs_[1] = storage_.run(layer, fresh.count, std::max<Count>(0, slots - fresh.count), KvRun::unused_slots);
    return view(fresh.count < slots ? 2 : 1);
  }
  // The mask compares the index of a slot (or of a fresh row) with the index of the query inside the call.
  const Count num_rows = sees_fresh_only ? fresh.count : slots;
  runs_[0] = sees_fresh_only ? fresh_run : storage_.run(layer, 0, slots, 0);
  visible_.resize(static_cast<std::size_t>(fresh.count * num_rows));
  for (Count query = 0; query < fresh.count; ++query) {
    for (Count row = 0; row < num_rows; ++row) {
      const bool sees = row <= fresh.first_position + query && query - row < geometry.sliding_window;
      visible_[static_cast<std::size_t>(query * num_rows + row)] = sees ? 1 : 0;
    }
  }
  return {std::span<const KvRun>(runs_.data(), 1), visible_};
}

}  // namespace

std::unique_ptr<CachePolicy> make_guidance_0_2(const PolicySetup& setup) { return std::make_unique<Guidance02>(setup); }

}  // namespace kvreplay::policies
