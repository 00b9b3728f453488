#include "workloads/ledger_walk.hpp"

#include <algorithm>

namespace kvreplay::workloads {

void SequenceState::append(const Slice& slice) {
  ledger.append(slice);
  pending += slice.count;
}

void SequenceState::truncate(Count length) {
  pending = std::max<Count>(0, pending - (ledger.length() - length));
  if (length >= shared) return ledger.truncate(length);
  ledger.truncate(shared);
  ledger.truncate(length, &dropped);
  shared = length;
}

void SequenceState::mark_evaluated() {
  evaluated = true;
  shared = ledger.length();
  dropped.clear();
  pending = 0;
}

Count SequenceState::common_with_evaluated(const StreamIds& ids, const Ledger& list, bool own) const {
  if (!evaluated) return 0;
  Count common = shared;
  if (!own) {
    common = ids.common_prefix(list.run_from(0), ledger.run_from(0), shared);
    if (common < shared) return common;
  }
  if (dropped.empty()) return common;
  const SliceRun tail{dropped.data() + dropped.size() - 1, dropped.size(), -1, 0};
  return common + ids.common_prefix(list.run_from(common), tail, std::numeric_limits<Count>::max());
}

LedgerWalk::LedgerWalk(const Workload& workload, Count max_length)
    : workload_(workload), ids_(workload), max_length_(max_length), sequences_(workload.sequence_names.size()) {}

bool LedgerWalk::next() {
  release_ended();
  while (!finished_ && event_index_ < workload_.events.size()) {
    const Event& event = workload_.events[event_index_];
    step_.event_index = event_index_;
    step_.mark = event.mark;
    if (std::visit([this](const auto& what) { return advance(what); }, event.what)) return true;
  }
  return false;
}

void LedgerWalk::leave_event() {
  ++event_index_;
  repetition_ = 0;
  phase_ = 0;
  span_index_ = 0;
  span_offset_ = 0;
  accepted_used_ = 0;
  rejected_used_ = 0;
}

bool LedgerWalk::emit(StepKind kind) {
  step_.kind = kind;
  step_.sequence = current_;
  return true;
}

bool LedgerWalk::emit_evaluate(Count num_logits) {
  SequenceState& sequence = current();
  step_.num_logits = num_logits;
  step_.length = sequence.ledger.length();
  step_.common_prefix_sequence = sequence.common_with_evaluated(ids_, sequence.ledger, true);
  if (last_evaluated_ == current_) {
    step_.common_prefix_last = step_.common_prefix_sequence;
  } else if (last_evaluated_ == no_sequence) {
    step_.common_prefix_last = 0;
  } else {
    SequenceState& last = sequences_[last_evaluated_];
    step_.common_prefix_last = last.common_with_evaluated(ids_, sequence.ledger, false);
    if (last.ended) last = SequenceState{};
  }
  sequence.mark_evaluated();
  last_evaluated_ = current_;
  return emit(StepKind::evaluate);
}

bool LedgerWalk::emit_shorten(Count length) {
  current().truncate(length);
  step_.length = length;
  return emit(StepKind::shorten);
}

bool LedgerWalk::over_limit(Count added) {
  const Count length = current().ledger.length() + added;
  if (length <= max_length_) return false;
  finished_ = true;
  step_.length = length;
  return emit(StepKind::over_limit);
}

// True if the limit ended the walk.
bool LedgerWalk::add(const TokenSpans& spans) {
  Count added = 0;
  for (const Slice& slice : spans) added += slice.count;
  if (over_limit(added)) return true;
  for (const Slice& slice : spans) current().append(slice);
  return false;
}

bool LedgerWalk::add(const Slice& slice) {
  if (over_limit(slice.count)) return true;
  current().append(slice);
  return false;
}

}  // namespace kvreplay::workloads
