// The driver of every policy that holds one token list in contiguous slots, shared by all sequences.
//
// It does what they have in common: common prefix, keep rule, stored answer, the order of the tests (a limit, overflow,
// rewind, cached answer, append), the ledger, and which rows attention reads. A policy is a SlotRules: it only decides
// what happens to the storage. Order and actions: docs/semantics.md, "One admission, one action".
#pragma once

#include "policies/held_tokens.hpp"
#include "policies/kv_storage.hpp"

#include <limits>
#include <memory>
#include <optional>

namespace kvreplay::policies {

// Options every policy of this kind has.
struct Knobs {
  KeepRule keep = KeepRule::exact;
  bool hold_old = true;          // replaced storage lives until finish()
  bool sliding_window = false;   // sliding layers store their window only; else every row
  bool write_before = false;     // rows are stored before attention, which then reads the storage alone
  bool attend_capacity = false;  // attention reads unused slots, too
};

// What an admission found.
struct Situation {
  Count length = 0;            // tokens of the wanted list
  Count held = 0;              // tokens in the slot
  Count kept = 0;              // of these, tokens the keep rule asks for
  Count capacity = 0;          // slots of a global layer
  bool window_passed = false;  // sliding rows needed behind `kept` tokens are gone (policies that crop)
};

// What happens to the storage, made by one of these:
struct Decision {
  // New storage of `capacity` slots a global layer, zeroed; everything is evaluated.
  static Decision new_storage(Action action, Count capacity) { return {action, 0, capacity, true, false}; }
  // The same without zeroing, for engines that only ever have as many slots as rows.
  static Decision exact_storage(Action action, Count capacity) { return {action, 0, capacity, false, false}; }
  // New storage that takes over the rows of the first `reused` tokens.
  static Decision copied_storage(Action action, Count capacity, Count reused) {
    return {action, reused, capacity, false, true};
  }
  // The storage stays and the first `reused` tokens' rows with it.
  static Decision in_place(Action action, Count reused) { return {action, reused, 0, false, false}; }
  // The storage stays but is zeroed; everything is evaluated.
  static Decision zero_in_place() { return {Action::reset, 0, 0, true, false}; }
  // The engine can not go on (Action::exceeded, Action::refused): nothing changes. `limit`: the longest list that
  // would have been taken, if that is not the current capacity.
  static Decision stop(Action action, Count limit = -1) { return {action, 0, 0, false, false, limit}; }

  bool stops() const { return action == Action::exceeded || action == Action::refused; }

  Action action;
  Count reused;
  Count new_capacity;  // 0: the storage stays
  bool zeroed;
  bool copies;
  Count limit = -1;
};

struct SlotTraits {
  bool bounded = true;        // a list longer than the capacity is an overflow
  bool crops = false;         // can drop rows from the end: obeys truncate() and the window rule
  bool trims_window = false;  // sliding=window: linear rows cut to the last W - 1 after the evaluation; else a ring
  Count longest = std::numeric_limits<Count>::max();  // a longer list is refused as Action::exceeded
  std::optional<Count> reported_capacity;             // what the engine says instead of the capacity
};

// A policy's decisions. Each is asked only when its case has been established.
class SlotRules {
 public:
  virtual ~SlotRules() = default;
  virtual SlotTraits traits() const { return {}; }
  virtual Decision on_first(Count length) const = 0;
  virtual Decision on_overflow(const Situation& situation) const = 0;
  virtual Decision on_rewind(const Situation& situation) const = 0;
  virtual Decision on_append(const Situation& situation) const {
    return Decision::in_place(Action::append, situation.kept);
  }
};

std::unique_ptr<CachePolicy> make_single_slot(const PolicySetup& setup, const Knobs& knobs,
                                              std::unique_ptr<SlotRules> rules);

}  // namespace kvreplay::policies
