// The events of LedgerWalk, one function each (docs/workload-format.md, "Events").
#include "workloads/ledger_walk.hpp"

#include <algorithm>

namespace kvreplay::workloads {
namespace {

Slice slice_at(const StreamPlace& place, Count used, Count count) {
  Slice slice;
  slice.stream = place.stream;
  slice.begin = place.position + static_cast<std::uint64_t>(used);
  slice.count = count;
  return slice;
}

}  // namespace

// A sequence evaluated last is compared with once more, so its list outlives it.
void LedgerWalk::release_ended() {
  if (ended_ == no_sequence) return;
  if (ended_ == last_evaluated_) {
    sequences_[ended_].ended = true;
  } else {
    sequences_[ended_] = SequenceState{};
  }
  ended_ = no_sequence;
}

bool LedgerWalk::advance(const NewSequence& event) {
  current_ = event.sequence;
  leave_event();
  return false;
}

bool LedgerWalk::advance(const Append& event) {
  if (add(event.tokens)) return true;
  leave_event();
  return false;
}

bool LedgerWalk::advance(const Evaluate& event) {
  leave_event();
  return emit_evaluate(event.all_logits ? std::max<Count>(1, current().pending) : 1);
}

// The id sampled by an evaluation is added when the next step is asked for, so that it stays pending.
bool LedgerWalk::advance(const Decode& event) {
  if (repetition_ > 0 && add_decoded(event)) return true;
  if (repetition_ < event.n) {
    ++repetition_;
    return emit_evaluate(1);
  }
  leave_event();
  return false;
}

bool LedgerWalk::add_decoded(const Decode& event) {
  const Slice& span = event.ids[span_index_];
  Slice sampled = span;
  sampled.begin += static_cast<std::uint64_t>(span_offset_);
  sampled.count = 1;
  if (++span_offset_ == span.count) {
    ++span_index_;
    span_offset_ = 0;
  }
  return add(sampled);
}

bool LedgerWalk::advance(const Rewind& event) {
  leave_event();
  if (event.length == current().ledger.length()) return false;
  return emit_shorten(event.length);
}

bool LedgerWalk::add_drafts(const Verify& event, Count accepted) {
  if (over_limit(event.k)) return true;
  if (accepted > 0) current().append(slice_at(event.accepted, accepted_used_, accepted));
  const Count wrong = event.k - accepted;
  if (wrong > 0) current().append(slice_at(*event.rejected, rejected_used_, wrong));
  return false;
}

bool LedgerWalk::advance(const Verify& event) {
  enum Phase { drafts, drop, bonus };
  const Count accepted = event.accepts[static_cast<std::size_t>(repetition_)];
  switch (phase_) {
    case drafts:
      if (add_drafts(event, accepted)) return true;
      phase_ = drop;
      return emit_evaluate(event.k + 1);
    case drop:
      phase_ = bonus;
      if (accepted == event.k) return false;
      return emit_shorten(current().ledger.length() - (event.k - accepted));
    default:
      if (add(slice_at(event.accepted, accepted_used_ + accepted, 1))) return true;
      accepted_used_ += accepted + 1;
      rejected_used_ += event.k - accepted;
      phase_ = drafts;
      if (++repetition_ == static_cast<Count>(event.accepts.size())) leave_event();
      return false;
  }
}

bool LedgerWalk::advance(const Fork& event) {
  sequences_[event.as] = sequences_[event.from];
  leave_event();
  emit(StepKind::fork);
  step_.sequence = event.as;
  step_.forked_from = event.from;
  return true;
}

bool LedgerWalk::advance(const Switch& event) {
  current_ = event.sequence;
  leave_event();
  return false;
}

bool LedgerWalk::advance(const Mark&) {
  leave_event();
  return false;
}

bool LedgerWalk::advance(const Wait&) {
  leave_event();
  return false;
}

bool LedgerWalk::advance(const End& event) {
  leave_event();
  emit(StepKind::release);
  step_.sequence = event.sequence;
  step_.length = sequences_[event.sequence].ledger.length();
  ended_ = event.sequence;
  current_ = no_sequence;
  return true;
}

bool LedgerWalk::advance(const Call& event) {
  enum Phase { cut, evaluate };
  if (phase_ == cut) {
    phase_ = evaluate;
    if (event.keep < current().ledger.length()) return emit_shorten(event.keep);
  }
  if (add(event.feed)) return true;
  leave_event();
  return emit_evaluate(event.all_logits ? std::max<Count>(1, current().pending) : 1);
}

}  // namespace kvreplay::workloads
