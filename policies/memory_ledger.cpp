#include "policies/memory_ledger.hpp"

#include <algorithm>
#include <string>

namespace kvreplay::policies {
namespace {

std::string limit_message(Count held, Count wanted, Count limit) {
  return "the cache would hold " + std::to_string(wanted) + " bytes at once (" + std::to_string(held) +
         " before), the memory limit is " + std::to_string(limit) + " bytes";
}

}  // namespace

MemoryLimitExceeded::MemoryLimitExceeded(Count held, Count wanted, Count limit)
    : std::runtime_error(limit_message(held, wanted, limit)),
      held_bytes(held),
      wanted_bytes(wanted),
      limit_bytes(limit) {}

MemoryLedger::MemoryLedger(const CacheGeometry& geometry, Count memory_limit_bytes)
    : limit_bytes_(memory_limit_bytes), tensor_row_bytes_(geometry.row_bytes() / 2) {
  const PerKind layers{geometry.num_global_layers(), geometry.num_sliding_layers()};
  PerKind before;
  for (const bool slides : geometry.slides) {
    const LayerKind kind = slides ? LayerKind::sliding : LayerKind::global;
    for (int tensor = 0; tensor < 2; ++tensor) {
      tensors_.push_back({kind, before});
      ++before[kind];
    }
  }
  for (const LayerKind kind : layer_kinds) {
    bytes_per_slot_[kind] = layers[kind] * geometry.row_bytes();
    num_tensors_[kind] = 2 * layers[kind];
    if (layers[kind] == 0) continue;
    const auto of_kind = [kind](const Place& place) { return place.kind == kind; };
    first_.push_back(*std::find_if(tensors_.begin(), tensors_.end(), of_kind));
    last_.push_back(*std::find_if(tensors_.rbegin(), tensors_.rend(), of_kind));
  }
}

PerKind MemoryLedger::tensor_by_tensor_peak(PerKind slots) const {
  PerKind growth, new_tensor;
  for (const LayerKind kind : layer_kinds) {
    if (num_tensors_[kind] == 0) continue;
    new_tensor[kind] = slots[kind] * tensor_row_bytes_;
    growth[kind] = (slots[kind] - slots_[kind]) * tensor_row_bytes_;
  }
  // While both kinds grow, each tensor's moment is heavier than the one before it of its kind, so the last ones
  // decide; while both shrink, the first ones. Only a mixture needs a look at every tensor.
  const bool grows = growth.global >= 0 && growth.sliding >= 0;
  const bool shrinks = growth.global <= 0 && growth.sliding <= 0;
  PerKind peak;
  for (const Place& place : grows ? last_ : shrinks ? first_ : tensors_) {
    PerKind now = counters_.reserved_bytes + counters_.held_old_bytes;
    for (const LayerKind kind : layer_kinds) now[kind] += place.before[kind] * growth[kind];
    now[place.kind] += new_tensor[place.kind];
    raise(peak, now);
  }
  return peak;
}

void MemoryLedger::check_limit(PerKind slots, Replacement how) const {
  if (limit_bytes_ == 0) return;
  const Count wanted = transient_of(slots, how).total();
  if (wanted > limit_bytes_) throw MemoryLimitExceeded(bytes_held(), wanted, limit_bytes_);
}

}  // namespace kvreplay::policies
