// Counts every byte a cache policy reserves, copies, zeroes and releases, and the peaks at the moment they happen.
//
// Counting is per kind of layer (rows of one layer x number of such layers), so it costs the same for 4 and 40 layers.
// Bytes are requested bytes, never rounded to pages. Definitions: docs/semantics.md, "Counters".
#pragma once

#include "policies/cache_policy.hpp"

#include <array>
#include <limits>
#include <stdexcept>

namespace kvreplay::policies {

enum class LayerKind : std::uint8_t { global, sliding };
inline constexpr std::array<LayerKind, 2> layer_kinds{LayerKind::global, LayerKind::sliding};

// One number per kind of layer.
struct PerKind {
  Count global = 0;
  Count sliding = 0;

  Count& operator[](LayerKind kind) { return kind == LayerKind::global ? global : sliding; }
  Count operator[](LayerKind kind) const { return kind == LayerKind::global ? global : sliding; }
  // Saturates: a total of saturated parts must not turn negative.
  Count total() const {
    Count sum = 0;
    return __builtin_add_overflow(global, sliding, &sum) ? std::numeric_limits<Count>::max() : sum;
  }
  friend PerKind operator+(PerKind a, PerKind b) { return {a.global + b.global, a.sliding + b.sliding}; }
  friend PerKind operator-(PerKind a, PerKind b) { return {a.global - b.global, a.sliding - b.sliding}; }
  friend bool operator==(PerKind, PerKind) = default;
};

// Totals and peaks in bytes (K and V together, all layers of the kind) and events. K and V are always equal halves.
struct MemoryCounters {
  Count reallocations = 0;      // admissions that replaced existing storage
  Count allocations = 0;        // first storage + reallocations
  Count buffers_allocated = 0;  // single K or V tensors taken
  Count releases = 0;           // single K or V tensors given back
  PerKind bytes_allocated;
  PerKind bytes_copied;
  PerKind bytes_zeroed;
  PerKind live_bytes;       // now: slots holding a valid position
  PerKind reserved_bytes;   // now: current storage
  PerKind held_old_bytes;   // now: replaced storage not yet released
  PerKind live_bytes_peak;  // each peak: the split at the moment the total was largest
  PerKind reserved_bytes_peak;
  PerKind transient_bytes_peak;  // everything held at once
  PerKind slack_byte_steps;      // sum over evaluations of reserved - live after the evaluation
  friend bool operator==(const MemoryCounters&, const MemoryCounters&) = default;
};

// --memory-limit was crossed: `held_bytes` were held before the event, it would have held `wanted_bytes` at once (old,
// new and temporaries together), `limit_bytes` are allowed.
class MemoryLimitExceeded : public std::runtime_error {
 public:
  MemoryLimitExceeded(Count held_bytes, Count wanted_bytes, Count limit_bytes);
  Count held_bytes, wanted_bytes, limit_bytes;
};

// How new storage takes the place of the old one. It changes peaks only, never totals.
enum class Replacement : std::uint8_t {
  hold_old,          // the old one is released when the evaluation ends
  free_first,        // the old one is released before the new one is taken
  tensor_by_tensor,  // in layer order, K before V: take the new tensor, fill it, release the old one
};

// Everything is given in rows (or slots) of one layer of each kind. Totals saturate at the largest Count.
class MemoryLedger {
 public:
  // `memory_limit_bytes` 0: no limit.
  explicit MemoryLedger(const CacheGeometry& geometry, Count memory_limit_bytes = 0);

  // Throws MemoryLimitExceeded if take(slots, how) would hold more than the limit at any moment. Counts nothing.
  void check_limit(PerKind slots, Replacement how) const;

  // New storage of `slots` becomes the current one: the first allocation, or a reallocation. Nothing is live in it.
  void take(PerKind slots, Replacement how);

  void count_copied(PerKind rows) { add(counters_.bytes_copied, bytes_of(rows)); }
  void count_zeroed(PerKind rows) { add(counters_.bytes_zeroed, bytes_of(rows)); }

  // Rows that now hold a valid position.
  void set_live(PerKind rows) {
    const PerKind live = bytes_of(rows);
    counters_.live_bytes = live;
    raise(counters_.live_bytes_peak, live);
  }

  // The evaluation is over: releases what was held and adds the slack of this evaluation.
  void end_evaluation() {
    if (counters_.held_old_bytes.total() > 0) {
      counters_.held_old_bytes = {};
      counters_.releases += num_tensors_.total();
    }
    add(counters_.slack_byte_steps, counters_.reserved_bytes - counters_.live_bytes);
  }

  const MemoryCounters& counters() const { return counters_; }
  Count bytes_held() const { return counters_.reserved_bytes.total() + counters_.held_old_bytes.total(); }

 private:
  static void add(PerKind& total, PerKind amount) {
    for (const LayerKind kind : layer_kinds) {
      constexpr Count largest = std::numeric_limits<Count>::max();
      total[kind] = total[kind] > largest - amount[kind] ? largest : total[kind] + amount[kind];
    }
  }
  static void raise(PerKind& peak, PerKind now) {
    if (now.total() > peak.total()) peak = now;
  }
  PerKind bytes_of(PerKind slots) const {
    return {slots.global * bytes_per_slot_.global, slots.sliding * bytes_per_slot_.sliding};
  }
  // Everything held at the worst moment of take(slots, how).
  PerKind transient_of(PerKind slots, Replacement how) const {
    if (how == Replacement::tensor_by_tensor) return tensor_by_tensor_peak(slots);
    const PerKind kept = how == Replacement::hold_old ? counters_.reserved_bytes : PerKind{};
    return counters_.held_old_bytes + kept + bytes_of(slots);
  }
  PerKind tensor_by_tensor_peak(PerKind slots) const;

  // A place in the order of tensors: how many of each kind come before it.
  struct Place {
    LayerKind kind;
    PerKind before;
  };

  MemoryCounters counters_;
  Count limit_bytes_;
  Count tensor_row_bytes_;           // of one row in one K or V tensor
  PerKind slots_;                    // of the current storage
  PerKind bytes_per_slot_;           // K and V, all layers of the kind
  PerKind num_tensors_;              // 2 a layer
  std::vector<Place> tensors_;       // in layer order, K before V
  std::vector<Place> first_, last_;  // tensors of each kind that exists
};

inline void MemoryLedger::take(PerKind slots, Replacement how) {
  const PerKind new_bytes = bytes_of(slots);
  const bool replaces = counters_.allocations > 0;
  raise(counters_.transient_bytes_peak, transient_of(slots, how));
  if (replaces) {
    ++counters_.reallocations;
    if (how == Replacement::hold_old)
      add(counters_.held_old_bytes, counters_.reserved_bytes);
    else
      counters_.releases += num_tensors_.total();
  }
  ++counters_.allocations;
  counters_.buffers_allocated += num_tensors_.total();
  add(counters_.bytes_allocated, new_bytes);
  slots_ = slots;
  counters_.reserved_bytes = new_bytes;
  raise(counters_.reserved_bytes_peak, new_bytes);
  counters_.live_bytes = {};
}

}  // namespace kvreplay::policies
