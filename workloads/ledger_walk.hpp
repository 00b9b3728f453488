// Walks a workload's events, keeping every sequence's ledger as slices; ids are looked at only where prefixes are
// compared. Behind Expansion (which adds the ids of the current list) and facts_of (which needs none).
#pragma once

#include "workloads/expansion.hpp"
#include "workloads/ledger.hpp"

#include <vector>

namespace kvreplay::workloads {

// A sequence: its list, and the list last evaluated for it (a fork inherits it), kept as the part both share and what
// was cut off since, last slice first.
struct SequenceState {
  Ledger ledger;
  Count pending = 0;  // ids nobody has evaluated yet
  bool evaluated = false;
  bool ended = false;
  Count shared = 0;
  std::vector<Slice> dropped;

  void append(const Slice& slice);
  void truncate(Count length);
  void mark_evaluated();
  // Ids `list` shares with the list last evaluated here; `own`: list is this sequence's present ledger.
  Count common_with_evaluated(const StreamIds& ids, const Ledger& list, bool own) const;
};

class LedgerWalk {
 public:
  LedgerWalk(const Workload& workload, Count max_length);

  // Moves to the next step; false at the end.
  bool next();

  // The present step, overwritten by next(). `tokens` is the caller's to fill.
  Step& step() { return step_; }

  // The ledger of a sequence, up to and including the step that releases it.
  const Ledger& ledger_of(SequenceId sequence) const { return sequences_[sequence].ledger; }

  const StreamIds& ids() const { return ids_; }

 private:
  // One for each event type: emits at most one step (true) and leaves the event when it is done (leave_event()).
  bool advance(const NewSequence& event);
  bool advance(const Append& event);
  bool advance(const Evaluate& event);
  bool advance(const Decode& event);
  bool advance(const Rewind& event);
  bool advance(const Verify& event);
  bool advance(const Fork& event);
  bool advance(const Switch& event);
  bool advance(const Mark& event);
  bool advance(const Wait& event);
  bool advance(const End& event);
  bool advance(const Call& event);

  SequenceState& current() { return sequences_[current_]; }
  void leave_event();
  bool emit(StepKind kind);
  bool emit_evaluate(Count num_logits);
  bool emit_shorten(Count length);
  bool over_limit(Count added);
  bool add(const TokenSpans& spans);
  bool add(const Slice& slice);
  bool add_decoded(const Decode& event);
  bool add_drafts(const Verify& event, Count accepted);
  void release_ended();

  static constexpr SequenceId no_sequence = std::numeric_limits<SequenceId>::max();

  const Workload& workload_;
  StreamIds ids_;
  Count max_length_;
  std::vector<SequenceState> sequences_;
  SequenceId current_ = no_sequence;
  SequenceId last_evaluated_ = no_sequence;
  SequenceId ended_ = no_sequence;  // released by the step before
  bool finished_ = false;
  Step step_;

  std::size_t event_index_ = 0;
  // Progress inside the event at event_index_.
  Count repetition_ = 0;        // decode, verify: evaluations done
  int phase_ = 0;               // verify, call
  std::size_t span_index_ = 0;  // decode: the next id
  Count span_offset_ = 0;
  Count accepted_used_ = 0, rejected_used_ = 0;  // verify: ids taken from its two places
};

}  // namespace kvreplay::workloads
