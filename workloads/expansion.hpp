// Turns a workload's events into the evaluations an engine was asked for, one at a time.
//
// Plain decoding costs O(1) per evaluation; a switch costs O(length). Ledgers hold slices; ids exist only for the
// current list.
#pragma once

#include "workloads/workload.hpp"

#include <limits>
#include <map>
#include <memory>
#include <span>

namespace kvreplay::workloads {

enum class StepKind : std::uint8_t {
  evaluate,    // the engine is asked to evaluate `tokens`
  shorten,     // `sequence` was cut to `length` tokens (engines that crop at once act on it)
  fork,        // `sequence` starts as a copy of `forked_from`
  release,     // `sequence` is over
  over_limit,  // the next event would make a ledger of `length` tokens, more than allowed; the last step there is
};

struct Step {
  StepKind kind = StepKind::evaluate;
  SequenceId sequence = 0;
  SequenceId forked_from = 0;
  std::span<const TokenId> tokens;  // evaluate: the complete ledger, valid until the next call of next()
  Count length = 0;                 // shorten, over_limit
  Count num_logits = 1;             // evaluate: rows wanted at the end of the list
  Count common_prefix_last = 0;     // evaluate: exact prefix shared with the list evaluated before, of any sequence
  Count common_prefix_sequence =
      0;  // evaluate: exact prefix shared with this sequence's (or its fork parent's) last list
  std::size_t event_index = 0;
  SourceMark mark;  // of the event
};

class Expansion {
 public:
  // `workload` must outlive the expansion and come from the reader (its event rules hold).
  explicit Expansion(const Workload& workload, Count max_length = std::numeric_limits<Count>::max());
  ~Expansion();
  Expansion(Expansion&&) noexcept;

  // The next step, or nullptr at the end. The step is overwritten by the next call.
  const Step* next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a workload is, whatever policy serves it.
struct Facts {
  Count evaluations = 0, sampled = 0, appended = 0, rewinds = 0, rewound = 0, drafted = 0, accepted = 0, forks = 0;
  Count max_length = 0;
  std::map<std::string, Count> final_length;          // of every sequence, at its end
  std::map<std::string, std::uint32_t> ledger_crc32;  // over little-endian u32 ids of the final ledgers
  Count tokens_requested = 0;                         // = max_fed: no reuse
  Count tokens_floor_single = 0;                      // = min_fed: one slot, exact keep rule
  Count tokens_floor_multi = 0;                       // = min_fed_unlimited: prefix tree over all lists
  Count leaves = 0;                                   // lists that are no prefix of another list
};

struct FactsWanted {
  bool floors = true;
  bool checksums = false;
};

// One expansion of the whole workload.
Facts facts_of(const Workload& workload, FactsWanted wanted);

}  // namespace kvreplay::workloads
