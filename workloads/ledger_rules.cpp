#include "workloads/ledger_rules.hpp"

#include "workloads/fields.hpp"
#include "workloads/yaml/source_text.hpp"

namespace kvreplay::workloads {
namespace {

using yaml::NodeRef;
using yaml::shown;

constexpr Count max_expanded_tokens = 1'000'000'000;

}  // namespace

SequenceId LedgerRules::add_sequence(NodeRef name) {
  std::string text(read_name(name));
  const auto [entry, added] = sequence_of_name_.emplace(text, static_cast<SequenceId>(sequences_.size()));
  if (!added) {
    const bool ended = sequences_[entry->second].ended;
    throw name.fault("sequence " + shown(text) +
                     (ended ? " has ended; its name may not be used again" : " exists already"));
  }
  sequences_.emplace_back();
  workload_.sequence_names.push_back(std::move(text));
  return entry->second;
}

SequenceId LedgerRules::start(NodeRef name) {
  current_ = add_sequence(name);
  return current_;
}

SequenceId LedgerRules::find(NodeRef name) const {
  const std::string text(read_name(name));
  const auto found = sequence_of_name_.find(text);
  if (found != sequence_of_name_.end() && !sequences_[found->second].ended) return found->second;
  if (found != sequence_of_name_.end()) throw name.fault("sequence " + shown(text) + " has ended");
  throw name.fault("no sequence is called " + shown(text), text, workload_.sequence_names);
}

SequenceId LedgerRules::fork(SequenceId from, NodeRef as) {
  const SequenceId copy = add_sequence(as);
  sequences_[copy] = sequences_[from];
  return copy;
}

void LedgerRules::end(SequenceId sequence) {
  sequences_[sequence] = Sequence{};
  sequences_[sequence].ended = true;
  current_ = none;
}

const LedgerRules::Sequence& LedgerRules::current(NodeRef event) const {
  if (current_ == none) throw event.fault("no sequence is current here; begin one with new or switch to one");
  return sequences_[current_];
}

Count LedgerRules::length(NodeRef event) const { return current(event).length; }

void LedgerRules::grow(Count added, NodeRef event) {
  current(event);
  if (added > max_expanded_tokens - total_added_) {
    throw event.fault("the events up to here add more than " + std::to_string(max_expanded_tokens) + " tokens");
  }
  total_added_ += added;
  sequences_[current_].length += added;
}

void LedgerRules::shorten(Count length) {
  Sequence& sequence = sequences_[current_];
  sequence.length = length;
  while (!sequence.valid.empty() && sequence.valid.back().second > length) {
    MarkPlace& place = sequence.marks[sequence.valid.back().first];
    if (place.depth == sequence.valid.size() - 1) {
      place.valid = false;
      place.cut_to = length;
    }
    sequence.valid.pop_back();
  }
}

void LedgerRules::evaluate(NodeRef event) const {
  if (current(event).length == 0) throw event.fault("an evaluation of an empty ledger; append tokens first");
}

std::uint32_t LedgerRules::set_mark(NodeRef name) {
  const Count length = current(name).length;
  std::string text(read_name(name));
  const auto [entry, added] = mark_of_name_.emplace(text, static_cast<std::uint32_t>(workload_.mark_names.size()));
  if (added) workload_.mark_names.push_back(std::move(text));
  Sequence& sequence = sequences_[current_];
  sequence.marks[entry->second] = {length, sequence.valid.size(), true, 0};
  sequence.valid.emplace_back(entry->second, length);
  return entry->second;
}

Count LedgerRules::marked_length(NodeRef name) const {
  const Sequence& sequence = current(name);
  const std::string text(read_name(name));
  const auto mark = mark_of_name_.find(text);
  const auto place = mark == mark_of_name_.end() ? sequence.marks.end() : sequence.marks.find(mark->second);
  if (place == sequence.marks.end()) {
    throw name.fault("sequence " + shown(workload_.sequence_names[current_]) + " has no mark " + shown(text), text,
                     workload_.mark_names);
  }
  if (!place->second.valid) {
    throw name.fault("mark " + shown(text) + " at length " + std::to_string(place->second.length) +
                     " no longer holds: the ledger was cut to " + std::to_string(place->second.cut_to));
  }
  return place->second.length;
}

}  // namespace kvreplay::workloads
