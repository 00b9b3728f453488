#include "workloads/expansion.hpp"
#include "tests/catch.hpp"
#include "tests/workloads/random_workload.hpp"
#include "tests/workloads/texts.hpp"

using namespace kvreplay::workloads;
using namespace kvreplay::workloads::tests;

namespace {

// One line a step: what an engine sees.
std::vector<std::string> steps_of(const Workload& workload, Count max_length = 1000000) {
  std::vector<std::string> lines;
  Expansion expansion(workload, max_length);
  while (const Step* step = expansion.next()) {
    std::string line;
    const std::string& name = workload.sequence_names[step->sequence];
    switch (step->kind) {
      case StepKind::evaluate:
        line = "evaluate " + name + ":";
        for (const TokenId id : step->tokens) line += " " + std::to_string(id);
        line += " | logits " + std::to_string(step->num_logits) + " last " + std::to_string(step->common_prefix_last) +
                " own " + std::to_string(step->common_prefix_sequence);
        break;
      case StepKind::shorten:
        line = "shorten " + name + " to " + std::to_string(step->length);
        break;
      case StepKind::fork:
        line = "fork " + workload.sequence_names[step->forked_from] + " as " + name;
        break;
      case StepKind::release:
        line = "release " + name;
        break;
      case StepKind::over_limit:
        line = "over the limit: " + name + " with " + std::to_string(step->length);
    }
    CHECK(step->mark == workload.events[step->event_index].mark);
    lines.push_back(std::to_string(step->event_index) + " " + line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("sampled and appended tokens stay pending until the next evaluation") {
  const Workload workload = read(with_events(
      "- new: a\n- append: 1 2\n- decode: 5 6\n- append: 7\n- eval: {logits: all}\n- eval: {logits: all}\n- end: a\n"));
  CHECK(steps_of(workload) == Lines{"2 evaluate a: 1 2 | logits 1 last 0 own 0",
                                    "2 evaluate a: 1 2 5 | logits 1 last 2 own 2",
                                    "4 evaluate a: 1 2 5 6 7 | logits 2 last 3 own 3",
                                    "5 evaluate a: 1 2 5 6 7 | logits 1 last 5 own 5", "6 release a"});
}

TEST_CASE("a rewind of pending tokens only leaves the evaluated list whole") {
  const Workload workload = read(
      with_events("- new: a\n- append: 1 2 3\n- eval: 1\n- append: 4 5\n- rewind: {by: 1}\n- eval: {logits: all}\n"));
  CHECK(steps_of(workload) == Lines{"2 evaluate a: 1 2 3 | logits 1 last 0 own 0", "4 shorten a to 4",
                                    "5 evaluate a: 1 2 3 4 | logits 1 last 3 own 3"});
}

TEST_CASE("tokens put back after a rewind count as the same prefix") {
  const Workload workload =
      read(with_events("- new: a\n- append: 1 2 3 4\n- eval: 1\n- rewind: {to: 1}\n- append: 2 3 9\n- eval: 1\n- "
                       "rewind: {to: 0}\n- append: 1\n- eval: 1\n"));
  CHECK(steps_of(workload) == Lines{"2 evaluate a: 1 2 3 4 | logits 1 last 0 own 0", "3 shorten a to 1",
                                    "5 evaluate a: 1 2 3 9 | logits 1 last 3 own 3", "6 shorten a to 0",
                                    "8 evaluate a: 1 | logits 1 last 1 own 1"});
}

TEST_CASE("verify adds drafts, evaluates once, drops the rejected and keeps the bonus pending") {
  const Workload workload =
      read(with_events("- new: a\n- append: 1\n- decode: 2\n- verify: {k: 2, accepts: 1 2 0, accepted: p, rejected: "
                       "p@5}\n- eval: {logits: all}\n"));
  CHECK(steps_of(workload) == Lines{"2 evaluate a: 1 | logits 1 last 0 own 0",
                                    "3 evaluate a: 1 2 11 16 | logits 3 last 1 own 1", "3 shorten a to 3",
                                    "3 evaluate a: 1 2 11 12 13 14 | logits 3 last 3 own 3",
                                    "3 evaluate a: 1 2 11 12 13 14 15 17 18 | logits 3 last 6 own 6",
                                    "3 shorten a to 7", "4 evaluate a: 1 2 11 12 13 14 15 16 | logits 1 last 7 own 7"});
}

TEST_CASE("a fork inherits tokens, pending count and history") {
  const Workload workload =
      read(with_events("- new: a\n- append: 1 2 3\n- eval: 1\n- append: 4\n- fork: {from: a, as: b}\n- append: 5\n- "
                       "eval: {logits: all}\n"
                       "- switch: b\n- append: 6\n- eval: {logits: all}\n- end: a\n- switch: b\n- eval: 1\n- end: b\n- "
                       "new: c\n- append: 1 2 3 4 6 9\n- eval: 1\n"));
  CHECK(steps_of(workload) == Lines{"2 evaluate a: 1 2 3 | logits 1 last 0 own 0", "4 fork a as b",
                                    "6 evaluate a: 1 2 3 4 5 | logits 2 last 3 own 3",
                                    "9 evaluate b: 1 2 3 4 6 | logits 2 last 4 own 3", "10 release a",
                                    "12 evaluate b: 1 2 3 4 6 | logits 1 last 5 own 5", "13 release b",
                                    "16 evaluate c: 1 2 3 4 6 9 | logits 1 last 5 own 0"});
}

TEST_CASE("a call cuts, feeds and evaluates; marks of another sequence play no part") {
  const Workload workload = read(
      with_events("- new: a\n- call: {keep: 0, feed: 1 2 3}\n- mark: m\n- new: b\n- append: 1\n- mark: m\n- switch: a\n"
                  "- call: {keep: 3, feed: 4}\n- rewind: {to: m}\n- call: {keep: 2, feed: \"\", logits: all}\n"));
  CHECK(steps_of(workload) == Lines{"1 evaluate a: 1 2 3 | logits 1 last 0 own 0",
                                    "7 evaluate a: 1 2 3 4 | logits 1 last 3 own 3", "8 shorten a to 3",
                                    "9 shorten a to 2", "9 evaluate a: 1 2 | logits 1 last 2 own 2"});
}

TEST_CASE("the expansion stops before a ledger gets too long, naming the event") {
  const Workload decode = read(with_events("- new: a\n- append: 1 2\n- decode: 5 6 7 8\n- eval: 1\n"));
  CHECK(steps_of(decode, 4) == Lines{"2 evaluate a: 1 2 | logits 1 last 0 own 0",
                                     "2 evaluate a: 1 2 5 | logits 1 last 2 own 2",
                                     "2 evaluate a: 1 2 5 6 | logits 1 last 3 own 3", "2 over the limit: a with 5"});
  CHECK(steps_of(decode, 6).size() == 5);
  CHECK(steps_of(decode, 1) == Lines{"1 over the limit: a with 2"});
  const Workload drafts =
      read(with_events("- new: a\n- append: 1 2\n- verify: {k: 3, accepts: 0, accepted: p, rejected: p}\n"));
  CHECK(steps_of(drafts, 4) == Lines{"2 over the limit: a with 5"});
  CHECK(steps_of(drafts, 5).size() == 2);
  const Workload call = read(with_events("- new: a\n- call: {keep: 0, feed: 1 2}\n- call: {keep: 1, feed: 1 2 3}\n"));
  CHECK(steps_of(call, 3) ==
        Lines{"1 evaluate a: 1 2 | logits 1 last 0 own 0", "2 shorten a to 1", "2 over the limit: a with 4"});
}

TEST_CASE("random workloads expand to the steps worked out on plain lists") {
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    const RandomWorkload expected = random_workload(seed);
    CAPTURE(seed, expected.text);
    const Workload workload = read(expected.text);
    Expansion expansion(workload);
    for (const ExpectedStep& step : expected.steps) {
      const Step* actual = expansion.next();
      REQUIRE(actual != nullptr);
      REQUIRE(actual->kind == step.kind);
      REQUIRE(actual->event_index == step.event_index);
      REQUIRE(workload.sequence_names[actual->sequence] == step.sequence);
      if (step.kind == StepKind::fork) REQUIRE(workload.sequence_names[actual->forked_from] == step.forked_from);
      if (step.kind == StepKind::shorten) REQUIRE(actual->length == step.length);
      if (step.kind != StepKind::evaluate) continue;
      REQUIRE(Ids(actual->tokens.begin(), actual->tokens.end()) == step.list);
      REQUIRE(actual->num_logits == step.num_logits);
      REQUIRE(actual->common_prefix_last == step.common_last);
      REQUIRE(actual->common_prefix_sequence == step.common_sequence);
    }
    REQUIRE(expansion.next() == nullptr);
    REQUIRE(expansion.next() == nullptr);
  }
}

TEST_CASE("with a limit the steps are the same up to the first ledger that is too long") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Workload workload = read(random_workload(seed).text);
    const Lines all = steps_of(workload);
    for (const Count limit : {3, 8, 20}) {
      const Lines limited = steps_of(workload, limit);
      if (limited == all) continue;
      CAPTURE(seed, limit);
      REQUIRE(limited.back().find("over the limit") != std::string::npos);
      REQUIRE(limited.size() <= all.size() + 1);
      for (std::size_t i = 0; i + 1 < limited.size(); ++i) REQUIRE(limited[i] == all[i]);
    }
  }
}
