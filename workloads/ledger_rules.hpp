// The rules events must keep, checked on the lengths of ledgers alone: which sequences live, that nothing is cut that
// is not there, that marks still hold.
#pragma once

#include "workloads/workload.hpp"
#include "workloads/yaml/tree.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kvreplay::workloads {

// Every method throws InputError at the node it was given when its rule is broken.
class LedgerRules {
 public:
  // Names of sequences and marks are added to `workload` in order of appearance.
  explicit LedgerRules(Workload& workload) : workload_(workload) {}

  // A new, empty sequence, made current. A name is used once.
  SequenceId start(yaml::NodeRef name);
  // A living sequence.
  SequenceId find(yaml::NodeRef name) const;
  // A copy of `from` (ledger, marks) under a new name; the current sequence stays.
  SequenceId fork(SequenceId from, yaml::NodeRef as);
  void make_current(SequenceId sequence) { current_ = sequence; }
  // Afterwards no sequence is current.
  void end(SequenceId sequence);

  // Length of the current sequence's ledger.
  Count length(yaml::NodeRef event) const;
  void grow(Count added, yaml::NodeRef event);
  void shorten(Count length);  // length <= length()
  // The ledger must hold something.
  void evaluate(yaml::NodeRef event) const;

  std::uint32_t set_mark(yaml::NodeRef name);
  Count marked_length(yaml::NodeRef name) const;

 private:
  static constexpr SequenceId none = 0xFFFFFFFFu;

  struct MarkPlace {
    Count length = 0;
    std::size_t depth = 0;  // index in Sequence::valid; later entries of the same name supersede it
    bool valid = false;
    Count cut_to = 0;  // what made it invalid
  };
  struct Sequence {
    Count length = 0;
    bool ended = false;
    std::unordered_map<std::uint32_t, MarkPlace> marks;
    std::vector<std::pair<std::uint32_t, Count>> valid;  // mark and length, lengths never fall
  };

  SequenceId add_sequence(yaml::NodeRef name);
  const Sequence& current(yaml::NodeRef event) const;

  Workload& workload_;
  std::vector<Sequence> sequences_;
  std::unordered_map<std::string, SequenceId> sequence_of_name_;
  std::unordered_map<std::string, std::uint32_t> mark_of_name_;
  SequenceId current_ = none;
  Count total_added_ = 0;
};

}  // namespace kvreplay::workloads
