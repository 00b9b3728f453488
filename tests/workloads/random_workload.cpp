#include "tests/workloads/random_workload.hpp"

#include "tests/workloads/random_items.hpp"
#include "workloads/token_ids.hpp"

#include <algorithm>
#include <optional>
#include <random>

namespace kvreplay::workloads::tests {
namespace {

struct Sequence {
  Ids list;
  Count pending = 0;
  std::optional<Ids> evaluated;
  std::vector<std::pair<std::string, Count>> marks;
  bool ended = false;

  Count length() const { return static_cast<Count>(list.size()); }
};

class Writer {
 public:
  explicit Writer(std::uint32_t seed) : random_(seed) {}

  RandomWorkload write() {
    result_.text =
        "format: kv-workload/1\nmeta: {id: r, title: random}\ntokenizer: {vocab: 258}\n"
        "streams:\n  p: {ids: 0 1 0 1 2 0 1 0 1 2 2 1 0 0 1 2}\n  g: {seed: 46}\n  x: {seed: 47, indexed: "
        "true}\nevents:\n";
    begin_sequence();
    for (int i = 5 + below(40); i > 0; --i) random_event();
    Facts& facts = result_.facts;
    for (const auto& [name, sequence] : sequences_) {
      facts.final_length[name] = sequence.length();
      result_.final_lists[name] = sequence.list;
    }
    add_naive_floors(evaluated_, facts);
    return std::move(result_);
  }

 private:
  int below(int n) { return tests::below(random_, n); }
  Sequence& current() { return sequences_[current_]; }

  void event(const std::string& text) {
    result_.text += "  - " + text + "\n";
    ++num_events_;
  }
  ExpectedStep& step(StepKind kind, const std::string& sequence) {
    ExpectedStep& added = result_.steps.emplace_back();
    added.kind = kind;
    added.sequence = sequence;
    added.event_index = num_events_ - 1;
    return added;
  }

  // --- what events do to lists ----------------------------------------------------------------------------------
  void push(const Ids& ids) {
    current().list.insert(current().list.end(), ids.begin(), ids.end());
    current().pending += static_cast<Count>(ids.size());
    result_.facts.max_length = std::max(result_.facts.max_length, current().length());
  }

  void cut(Count length) {
    Sequence& s = current();
    const Count removed = s.length() - length;
    if (removed == 0) return;
    s.list.resize(static_cast<std::size_t>(length));
    s.pending = std::max<Count>(0, s.pending - removed);
    std::erase_if(s.marks, [&](const auto& mark) { return mark.second > length; });
    ++result_.facts.rewinds;
    result_.facts.rewound += removed;
    step(StepKind::shorten, current_).length = length;
  }

  void evaluate(Count num_logits) {
    Sequence& s = current();
    ExpectedStep& added = step(StepKind::evaluate, current_);
    added.list = s.list;
    added.num_logits = num_logits;
    added.common_last = evaluated_.empty() ? 0 : common_prefix(s.list, evaluated_.back());
    added.common_sequence = s.evaluated ? common_prefix(s.list, *s.evaluated) : 0;
    s.evaluated = s.list;
    s.pending = 0;
    evaluated_.push_back(s.list);
    ++result_.facts.evaluations;
    result_.facts.tokens_requested += s.length();
  }

  // --- events -----------------------------------------------------------------------------------------------------
  void begin_sequence() {
    current_ = "s" + std::to_string(sequences_.size());
    sequences_[current_];
    event(below(2) ? "new: " + current_ : "new: {as: " + current_ + ", at_ms: 1.5}");
  }

  std::vector<std::string> living() const {
    std::vector<std::string> names;
    for (const auto& [name, sequence] : sequences_) {
      if (!sequence.ended) names.push_back(name);
    }
    return names;
  }
  std::string any_living() {
    const std::vector<std::string> names = living();
    return names[static_cast<std::size_t>(below(static_cast<int>(names.size())))];
  }

  void random_event() {
    switch (below(16)) {
      case 0:
        if (below(3) == 0) begin_sequence();
        return;
      case 1:
      case 2:
        return append();
      case 3:
        return eval();
      case 4:
      case 5:
        return decode();
      case 6:
      case 7:
        return rewind();
      case 8:
        return verify();
      case 9:
        return fork();
      case 10:
        return switch_sequence();
      case 11:
        return mark();
      case 12:
        return below(4) == 0 ? end() : event("wait: 2.5");
      default:
        return call();
    }
  }

  void append() {
    const auto [text, ids] = random_items(random_);
    event("append: \"" + text + "\"");
    push(ids);
    result_.facts.appended += static_cast<Count>(ids.size());
  }

  void eval() {
    if (current().list.empty()) return;
    const bool all = below(2);
    event(all ? "eval: {logits: all}" : below(2) ? "eval: 1" : "eval: {logits: last}");
    evaluate(all ? std::max<Count>(1, current().pending) : 1);
  }

  void decode() {
    if (current().list.empty()) return;
    const auto [text, ids] = random_items(random_);
    event(below(2) ? "decode: \"" + text + "\""
                   : "decode: {n: " + std::to_string(ids.size()) + ", ids: \"" + text + "\"}");
    for (const TokenId id : ids) {
      evaluate(1);
      push({id});
      ++result_.facts.sampled;
    }
  }

  void rewind() {
    const Count length = current().length();
    if (length == 0) return event("rewind: {to: 0}");
    if (below(3) == 0 && !current().marks.empty()) {
      const auto mark = current().marks.back();
      event("rewind: {to: " + mark.first + "}");
      return cut(mark.second);
    }
    const Count by = 1 + below(static_cast<int>(std::min<Count>(length, 4)));
    if (below(2)) {
      event("rewind: {by: " + std::to_string(by) + "}");
      cut(length - by);
    } else {
      const Count to = below(static_cast<int>(length) + 1);
      event("rewind: {to: " + std::to_string(to) + "}");
      cut(to);
    }
  }

  void verify() {
    if (current().list.empty()) return;
    const int k = 1 + below(3);
    const int accepted_offset = below(3), rejected_offset = below(3);
    std::string accepts;
    std::vector<int> counts;
    for (int i = 1 + below(3); i > 0; --i) counts.push_back(below(k + 1));
    for (const int count : counts) accepts += std::to_string(count) + " ";
    const bool from_literal = below(2);
    event("verify: {k: " + std::to_string(k) + ", accepts: \"" + accepts +
          "\", accepted: " + (from_literal ? "p" : "g") + "@" + std::to_string(accepted_offset) + ", rejected: g@" +
          std::to_string(rejected_offset) + "}");
    std::uint64_t accepted = static_cast<std::uint64_t>(accepted_offset),
                  rejected = static_cast<std::uint64_t>(rejected_offset);
    const auto accepted_id = [&](std::uint64_t at) {
      return from_literal ? literal_stream.at(at) : generated_id(46, 0, at, vocab);
    };
    for (const int a : counts) {
      Ids drafts;
      for (int i = 0; i < a; ++i) drafts.push_back(accepted_id(accepted++));
      for (int i = a; i < k; ++i) drafts.push_back(generated_id(46, 0, rejected++, vocab));
      push(drafts);
      evaluate(k + 1);
      cut(current().length() - (k - a));
      push({accepted_id(accepted++)});
      result_.facts.drafted += k;
      result_.facts.accepted += a;
      ++result_.facts.sampled;
    }
  }

  void fork() {
    if (below(2)) return;
    const std::string from = any_living();
    const std::string as = "s" + std::to_string(sequences_.size());
    event("fork: {from: " + from + ", as: " + as + "}");
    sequences_[as] = sequences_[from];
    ++result_.facts.forks;
    step(StepKind::fork, as).forked_from = from;
  }

  void switch_sequence() {
    current_ = any_living();
    event("switch: " + current_);
  }

  void mark() {
    const std::string name = "m" + std::to_string(below(3));
    event("mark: " + name);
    std::erase_if(current().marks, [&](const auto& other) { return other.first == name; });
    current().marks.emplace_back(name, current().length());
  }

  // No sequence is current afterwards, so another event must choose one.
  void end() {
    const std::string name = any_living();
    event("end: " + name);
    sequences_[name].ended = true;
    step(StepKind::release, name);
    if (living().empty() || below(2)) return begin_sequence();
    switch_sequence();
  }

  void call() {
    const Count length = current().length();
    const Count keep = below(2) ? length : below(static_cast<int>(length) + 1);
    std::pair<std::string, Ids> fed;
    if (keep == 0 || below(4)) fed = random_items(random_);
    const int logits = below(3);
    event("call: {keep: " + std::to_string(keep) + ", feed: \"" + fed.first + "\"" +
          (logits == 0   ? ""
           : logits == 1 ? ", logits: last"
                         : ", logits: all") +
          "}");
    cut(keep);
    push(fed.second);
    result_.facts.appended += static_cast<Count>(fed.second.size());
    evaluate(logits == 2 ? std::max<Count>(1, current().pending) : 1);
  }

  std::mt19937 random_;
  RandomWorkload result_;
  std::map<std::string, Sequence> sequences_;
  std::string current_;
  std::size_t num_events_ = 0;
  std::vector<Ids> evaluated_;
};

}  // namespace

RandomWorkload random_workload(std::uint32_t seed) { return Writer(seed).write(); }

}  // namespace kvreplay::workloads::tests
