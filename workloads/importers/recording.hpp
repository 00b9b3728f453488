// What a recorder says of its engine besides the calls: the header line of a recording, and what the engine did at each
// call, summed up as expect.observed has it (docs/workload-format.md).
#pragma once

#include "workloads/importers/call_folder.hpp"
#include "workloads/importers/json_row.hpp"
#include "workloads/importers/workload_draft.hpp"

#include <optional>
#include <set>
#include <string>

namespace kvreplay::workloads::importers {

class Recording {
 public:
  // Reads {"format": "kv-calls/1", "recorder": {name, version}, "engine", "content", ...}. Throws InputError.
  void read_header(const JsonRow& row);
  bool has_header() const { return !parts_.recorder.empty(); }
  // Ids at or above it are faults; none without a header that says so.
  std::optional<Count> vocab() const { return vocab_; }

  // What the engine did at the call just read, which makes a list of `length` tokens; rows without `observed` end the
  // summing up. Engines crop away rejected drafts between calls, where nobody counts: calls with drafts leave no
  // `crops`. Throws InputError.
  void see_call(const JsonRow& row, const RawCall& call, Count length);
  // The recording has more than one sequence, which no replay of one slot can be held against.
  void saw_another_sequence() { one_sequence_ = false; }

  // Everything for the head of the file and its `expect`; without a header nothing.
  void describe(WorkloadDraft& draft) const;

 private:
  struct Totals {
    Count fed = 0, allocations = 0, reallocations = 0, resets = 0, crops = 0;
    std::optional<Count> peak_bytes, bytes_at_end;
    std::string then;  // how the recording ended, if with an error
    Count then_keep = 0, then_length = 0;
  };

  std::string observed_text() const;

  WorkloadDraft::Recorded parts_;
  std::string engine_;
  std::optional<Count> vocab_;
  Totals totals_;
  std::set<std::string> policies_;
  Count num_calls_ = 0;
  bool every_call_ = true, one_sequence_ = true, has_peaks_ = true, has_drafts_ = false;
};

}  // namespace kvreplay::workloads::importers
