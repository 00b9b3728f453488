// Turns the calls of a recorder, {keep, feed} each, into append, decode, rewind and verify events that evaluate the
// very same lists in the same order.
#pragma once

#include "workloads/importers/workload_draft.hpp"

#include <span>
#include <string>
#include <vector>

namespace kvreplay::workloads::importers {

struct RawCall {
  Count keep = 0;           // tokens of the sequence's last list that stay
  std::vector<Count> feed;  // ids behind them
  Count drafts = 0;         // the last so many of them are guesses, of which the next call keeps what was accepted
  bool all_logits = false;  // a row for every token fed is wanted
};

// Writes calls of the current sequence, always one evaluation behind: what an evaluation becomes depends on its
// successor. If that keeps everything and adds ids, the first is taken as sampled (decode) and the others as forced
// (append); if the evaluation had drafts, those kept are the accepted ones (verify).
class CallFolder {
 public:
  explicit CallFolder(WorkloadDraft& draft) : draft_(draft) {}

  // A new sequence begins with tokens that are not evaluated yet.
  void begin(std::span<const Count> prompt);
  // The sequence had `length` tokens when it was left.
  void resume(Count length) { length_ = length; }

  void add(const RawCall& call);
  // Writes what is still held back; before another sequence is touched and at the end.
  void flush();
  // Adds the streams that verify events took their ids from; once, at the end.
  void finish();

 private:
  // A literal stream that grows as steps take from it.
  struct Source {
    std::string name;
    Tokens ids;
    Count taken = 0;  // where the run of steps being collected begins
    std::string slice_text() const { return name + (taken > 0 ? "@" + std::to_string(taken) : ""); }
  };

  bool fold_verify(const RawCall& next);
  void append(std::span<const Count> ids);
  void write_runs();
  void saw(std::span<const Count> ids);

  WorkloadDraft& draft_;
  Tokens run_;  // ids of evaluations that are not written yet
  Source accepted_{"accepted", {}, 0}, rejected_{"rejected", {}, 0};
  Count run_k_ = 0;                             // drafts of each verify step that is not written yet
  std::vector<Count> run_counts_;               // accepted of each
  Count length_ = 0;                            // of the sequence's last list
  std::vector<Count> drafts_;                   // at the end of that list, not written yet
  bool waiting_ = false, waiting_all_ = false;  // an evaluation is not written yet, and what it wants
};

}  // namespace kvreplay::workloads::importers
