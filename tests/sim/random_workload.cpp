#include "tests/sim/random_workload.hpp"

#include <fmt/format.h>

#include <map>
#include <random>
#include <vector>

namespace kvreplay::sim::testing {
namespace {

class Writer {
 public:
  Writer(std::uint32_t seed, const RandomShape& shape) : random_(seed), shape_(shape) {}

  std::string text() {
    line("new: s0");
    lengths_["s0"] = 0;
    current_ = "s0";
    append();
    for (int i = 0; i < shape_.num_events; ++i) event();
    return fmt::format(
        "format: kv-workload/1\nmeta: {{id: random, title: random}}\ntokenizer: {{name: toy, vocab: 97}}\n"
        "model: {{profile: toy, dtype: fp32}}\nevents:\n{}",
        events_);
  }

 private:
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  void line(const std::string& event) { events_ += "  - " + event + "\n"; }
  int& length() { return lengths_[current_]; }
  int room() { return shape_.longest - length(); }

  std::string ids(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : " ", pick(1, 6));
    return text;
  }

  void append() {
    const int count = std::min(pick(1, 9), room());
    if (count <= 0) return rewind();
    line(fmt::format("append: \"{}\"", ids(count)));
    length() += count;
  }

  void decode() {
    const int count = std::min(pick(1, 6), room());
    if (count <= 0 || length() == 0) return rewind();
    line(fmt::format("decode: {{n: {}, ids: \"{}\"}}", count, ids(count)));
    length() += count;
  }

  void rewind() {
    if (length() <= 1) return append();
    const int by = pick(1, pick(0, 3) == 0 ? length() : std::min(4, length()));
    line(fmt::format("rewind: {{by: {}}}", by));
    length() -= by;
    if (length() == 0) append();
  }

  void evaluate() {
    if (length() == 0) return append();
    line(pick(0, 3) == 0 ? "eval: {logits: all}" : "eval: 1");
  }

  void verify() {
    const int k = pick(1, 4), steps = pick(1, 3);
    if (room() < steps * (k + 1) || length() == 0) return rewind();
    std::string accepts;
    for (int i = 0; i < steps; ++i) {
      const int accepted = pick(0, k);
      accepts += fmt::format("{} ", accepted);
      length() += accepted + 1;
    }
    events_ += fmt::format("  - verify: {{k: {}, accepts: \"{}\", accepted: \"gen@{}\", rejected: \"miss@{}\"}}\n", k,
                           accepts, pick(0, 50), pick(0, 50));
    uses_streams_ = true;
  }

  void switch_or_fork() {
    if (pick(0, 1) == 0 && length() > 0 && lengths_.size() < 6) {
      const std::string as = fmt::format("s{}", lengths_.size());
      line(fmt::format("fork: {{from: {}, as: {}}}", current_, as));
      lengths_[as] = length();
      return;
    }
    auto other = lengths_.begin();
    std::advance(other, pick(0, static_cast<int>(lengths_.size()) - 1));
    current_ = other->first;
    line("switch: " + current_);
  }

  void call() {
    const int keep = pick(0, length());
    const int feed = std::min(pick(keep == 0 ? 1 : 0, 5), shape_.longest - keep);
    if (keep + feed == 0) return append();
    line(fmt::format("call: {{keep: {}, feed: \"{}\"}}", keep, ids(feed)));
    length() = keep + feed;
  }

  void event() {
    switch (pick(0, 8)) {
      case 0:
      case 1:
        return append();
      case 2:
      case 3:
        return decode();
      case 4:
        return rewind();
      case 5:
        return evaluate();
      case 6:
        return verify();
      case 7:
        return switch_or_fork();
      default:
        return call();
    }
  }

  std::mt19937 random_;
  RandomShape shape_;
  std::string events_;
  std::map<std::string, int> lengths_;
  std::string current_;
  bool uses_streams_ = false;

 public:
  bool uses_streams() const { return uses_streams_; }
};

}  // namespace

std::string random_workload(std::uint32_t seed, const RandomShape& shape) {
  Writer writer(seed, shape);
  std::string text = writer.text();
  if (writer.uses_streams()) {
    // Accepted drafts repeat a short list, so that they agree with other lists now and then.
    std::string gen, miss;
    for (int i = 0; i < 100; ++i) gen += fmt::format("{} ", 1 + i % 5), miss += fmt::format("{} ", 7 + i % 3);
    const auto events = text.find("events:");
    text.insert(events, fmt::format("streams:\n  gen: {{ids: \"{}\"}}\n  miss: {{ids: \"{}\"}}\n", gen, miss));
  }
  return text;
}

}  // namespace kvreplay::sim::testing
