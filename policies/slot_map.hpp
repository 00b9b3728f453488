// Where the rows of one kind of layer lie: which slot holds which position.
#pragma once

#include "policies/memory_ledger.hpp"

#include <algorithm>
#include <array>

namespace kvreplay::policies {

// Linear (slot = position - origin) or a ring (slot = position mod slots).
struct SlotMap {
  Count slots = 0;
  Count origin = 0;  // position of slot 0; 0 for a ring
  bool ring = false;
  Count valid_from = 0;  // rows of earlier positions are gone

  Count slot_of(Count position) const { return ring ? position % slots : position - origin; }

  // Positions from `position` on that lie in consecutive slots.
  Count contiguous(Count position) const { return slots - slot_of(position); }

  // The lowest position still there once all rows below `end` have been written.
  Count lowest(Count end) const { return ring ? std::max(valid_from, end - slots) : valid_from; }

  // End of the positions the slots could hold beside those from `lowest` on.
  Count room_end(Count end) const { return ring ? lowest(end) + slots : origin + slots; }
};

// One map per kind of layer.
struct SlotMaps {
  std::array<SlotMap, 2> of_kind;

  SlotMap& operator[](LayerKind kind) { return of_kind[static_cast<std::size_t>(kind)]; }
  const SlotMap& operator[](LayerKind kind) const { return of_kind[static_cast<std::size_t>(kind)]; }
  PerKind slots() const { return {of_kind[0].slots, of_kind[1].slots}; }
};

}  // namespace kvreplay::policies
