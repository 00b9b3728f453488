#include "workloads/importers/call_folder.hpp"

#include <algorithm>

namespace kvreplay::workloads::importers {
namespace {

Tokens literal(std::span<const Count> ids) {
  Tokens tokens;
  for (const Count id : ids) tokens.add(std::to_string(id), 1);
  return tokens;
}

}  // namespace

void CallFolder::begin(std::span<const Count> prompt) {
  length_ = static_cast<Count>(prompt.size());
  saw(prompt);
  append(prompt);
}

void CallFolder::add(const RawCall& call) {
  saw(call.feed);
  std::span<const Count> forced = call.feed;
  const auto drafts = static_cast<std::size_t>(call.drafts);
  // A step of verify wants a row for the token before its drafts too, so that one must be fed with them.
  const bool can_verify = drafts > 0 && drafts < forced.size() && !call.all_logits;
  if (waiting_ && fold_verify(call)) {
    forced = forced.subspan(1);
  } else if (waiting_ && !waiting_all_ && drafts_.empty() && call.keep == length_ && !forced.empty()) {
    if (!run_counts_.empty()) write_runs();
    run_.add(std::to_string(forced.front()), 1);
    forced = forced.subspan(1);
  } else {
    flush();
    if (call.keep < length_) draft_.rewind_to(call.keep);
  }
  drafts_.clear();
  if (can_verify && forced.size() >= drafts) {
    drafts_.assign(forced.end() - static_cast<std::ptrdiff_t>(drafts), forced.end());
    forced = forced.first(forced.size() - drafts);
  }
  if (!forced.empty() || (!drafts_.empty() && run_.count > 0)) write_runs();
  append(forced);
  length_ = call.keep + static_cast<Count>(call.feed.size());
  waiting_ = true;
  waiting_all_ = call.all_logits;
}

// The evaluation held back as a step of verify, if `next` keeps all but rejected drafts and begins with one more id.
bool CallFolder::fold_verify(const RawCall& next) {
  const auto k = static_cast<Count>(drafts_.size());
  if (k == 0 || next.keep < length_ - k || next.feed.empty()) return false;
  if (!run_counts_.empty() && run_k_ != k) write_runs();
  const Count accepts = next.keep - (length_ - k);
  run_k_ = k;
  run_counts_.push_back(accepts);
  for (Count i = 0; i < k; ++i) {
    (i < accepts ? accepted_ : rejected_).ids.add(std::to_string(drafts_[static_cast<std::size_t>(i)]), 1);
  }
  accepted_.ids.add(std::to_string(next.feed.front()), 1);
  return true;
}

void CallFolder::flush() {
  write_runs();
  append(drafts_);
  drafts_.clear();
  if (waiting_) draft_.eval(waiting_all_);
  waiting_ = false;
}

void CallFolder::finish() {
  flush();
  if (accepted_.ids.count > 0) draft_.add_literal_stream(accepted_.name, accepted_.ids);
  if (rejected_.ids.count > 0) draft_.add_literal_stream(rejected_.name, rejected_.ids);
}

void CallFolder::write_runs() {
  if (run_.count > 0) draft_.decode(run_);
  run_ = {};
  if (run_counts_.empty()) return;
  const bool rejects = rejected_.ids.count > rejected_.taken;
  draft_.verify(run_k_, accepted_.slice_text(), rejects ? rejected_.slice_text() : "", run_counts_);
  accepted_.taken = accepted_.ids.count;
  rejected_.taken = rejected_.ids.count;
  run_counts_.clear();
}

void CallFolder::append(std::span<const Count> ids) {
  if (!ids.empty()) draft_.append(literal(ids));
}

void CallFolder::saw(std::span<const Count> ids) {
  for (const Count id : ids) draft_.saw_id(id);
}

}  // namespace kvreplay::workloads::importers
