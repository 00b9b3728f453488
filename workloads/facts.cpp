// Counts of a workload that hold whatever policy serves it.
#include "workloads/expansion.hpp"
#include "workloads/ledger_walk.hpp"
#include "workloads/prefix_tree.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace kvreplay::workloads {
namespace {

// Counts events by the lengths they make; evaluations of a decode are never walked one by one.
class EventCounter {
 public:
  explicit EventCounter(const Workload& workload) : lengths_(workload.sequence_names.size(), 0) {}

  void count(const NewSequence& event) { current_ = event.sequence; }
  void count(const Append& event) { append(event.tokens); }
  void count(const Evaluate&) { evaluate(1); }
  void count(const Decode& event) {
    // Evaluated at length, length + 1, ..., length + n - 1.
    facts_.tokens_requested += event.n * length() + event.n * (event.n - 1) / 2;
    facts_.evaluations += event.n;
    facts_.sampled += event.n;
    grow(event.n);
  }
  void count(const Rewind& event) { shorten_to(event.length); }
  void count(const Verify& event) {
    for (const Count accepted : event.accepts) {
      grow(event.k);
      evaluate(1);
      shorten_to(length() - (event.k - accepted));
      grow(1);
      facts_.drafted += event.k;
      facts_.accepted += accepted;
      ++facts_.sampled;
    }
  }
  void count(const Fork& event) {
    lengths_[event.as] = lengths_[event.from];
    ++facts_.forks;
  }
  void count(const Switch& event) { current_ = event.sequence; }
  void count(const Mark&) {}
  void count(const Wait&) {}
  void count(const End&) {}
  void count(const Call& event) {
    shorten_to(event.keep);
    append(event.feed);
    evaluate(1);
  }

  Facts facts(const Workload& workload) {
    for (std::size_t i = 0; i < lengths_.size(); ++i) facts_.final_length[workload.sequence_names[i]] = lengths_[i];
    return facts_;
  }

 private:
  Count& length() { return lengths_[current_]; }
  void evaluate(Count times) {
    facts_.evaluations += times;
    facts_.tokens_requested += times * length();
  }
  void grow(Count added) {
    length() += added;
    facts_.max_length = std::max(facts_.max_length, length());
  }
  void append(const TokenSpans& spans) {
    Count added = 0;
    for (const Slice& slice : spans) added += slice.count;
    facts_.appended += added;
    grow(added);
  }
  void shorten_to(Count wanted) {
    if (wanted == length()) return;
    ++facts_.rewinds;
    facts_.rewound += length() - wanted;
    length() = wanted;
  }

  std::vector<Count> lengths_;
  SequenceId current_ = 0;
  Facts facts_;
};

std::uint32_t crc32_of(const Ledger& ledger, const StreamIds& ids) {
  uLong crc = crc32(0, nullptr, 0);
  std::array<TokenId, 4096> chunk;
  std::array<Bytef, 4 * chunk.size()> bytes;
  for (Count position = 0; position < ledger.length();) {
    const std::size_t count =
        static_cast<std::size_t>(std::min<Count>(static_cast<Count>(chunk.size()), ledger.length() - position));
    ledger.fill(ids, position, {chunk.data(), count});
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t byte = 0; byte < 4; ++byte) bytes[4 * i + byte] = static_cast<Bytef>(chunk[i] >> (8 * byte));
    }
    crc = crc32(crc, bytes.data(), static_cast<uInt>(4 * count));
    position += static_cast<Count>(count);
  }
  return static_cast<std::uint32_t>(crc);
}

// The two floors, fed one evaluation after the other.
class Floors {
 public:
  Floors(const Workload& workload, const StreamIds& ids) : tree_(ids), places_(workload.sequence_names.size()) {}

  void evaluated(const Step& step, const Ledger& ledger) {
    const Count length = ledger.length();
    Count kept = step.common_prefix_last;
    if (kept == length && last_length_ > length) --kept;
    single_ += length - kept;
    last_length_ = length;

    PrefixTree::Place& place = places_[step.sequence];
    Count shared = step.common_prefix_sequence;
    if (step.common_prefix_last > shared) {
      shared = step.common_prefix_last;
      place = last_place_;
    }
    const PrefixTree::Match match = tree_.add(ledger, place, shared);
    last_place_ = place;
    if (!match.answered) multi_ += std::max<Count>(1, length - match.common);
  }
  void forked(const Step& step) { places_[step.sequence] = places_[step.forked_from]; }

  void write_to(Facts& facts) const {
    facts.tokens_floor_single = single_;
    facts.tokens_floor_multi = multi_;
    facts.leaves = tree_.num_leaves();
  }

 private:
  PrefixTree tree_;
  std::vector<PrefixTree::Place> places_;  // of the list last evaluated for each sequence
  PrefixTree::Place last_place_;
  Count last_length_ = 0;
  Count single_ = 0, multi_ = 0;
};

}  // namespace

Facts facts_of(const Workload& workload, FactsWanted wanted) {
  EventCounter counter(workload);
  for (const Event& event : workload.events) {
    std::visit([&counter](const auto& what) { counter.count(what); }, event.what);
  }
  Facts facts = counter.facts(workload);
  if (!wanted.floors && !wanted.checksums) return facts;

  LedgerWalk walk(workload, std::numeric_limits<Count>::max());
  Floors floors(workload, walk.ids());
  std::vector<bool> released(workload.sequence_names.size(), false);
  const auto add_checksum = [&](SequenceId sequence) {
    if (!wanted.checksums) return;
    facts.ledger_crc32[workload.sequence_names[sequence]] = crc32_of(walk.ledger_of(sequence), walk.ids());
  };
  while (walk.next()) {
    const Step& step = walk.step();
    if (step.kind == StepKind::evaluate && wanted.floors) floors.evaluated(step, walk.ledger_of(step.sequence));
    if (step.kind == StepKind::fork) floors.forked(step);
    if (step.kind == StepKind::release) {
      add_checksum(step.sequence);
      released[step.sequence] = true;
    }
  }
  for (SequenceId i = 0; i < released.size(); ++i) {
    if (!released[i]) add_checksum(i);
  }
  if (wanted.floors) floors.write_to(facts);
  return facts;
}

}  // namespace kvreplay::workloads
