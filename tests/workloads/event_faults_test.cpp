// Every rule of events, broken: the message, with line, column and path, is what the user gets.
#include "tests/catch.hpp"
#include "tests/workloads/texts.hpp"

#include <algorithm>
#include <vector>

using namespace kvreplay::workloads;
using namespace kvreplay::workloads::tests;

namespace {

struct Refused {
  const char* events;
  const char* message;
};

void check_all(const std::vector<Refused>& cases) {
  for (const Refused& refused : cases) CHECK(refusal(with_events(refused.events)) == refused.message);
}

}  // namespace

TEST_CASE("events that name sequences wrongly are refused") {
  check_all({
      {"- append: \"1\"",
       "w.yaml:6:11: events[0].append: no sequence is current here; begin one with new or switch to one"},
      {"- new: a\n- new: a", "w.yaml:7:8: events[1].new: sequence 'a' exists already"},
      {"- new: a\n- end: a\n- new: a",
       "w.yaml:8:8: events[2].new: sequence 'a' has ended; its name may not be used again"},
      {"- new: a\n- end: a\n- append: \"1\"",
       "w.yaml:8:11: events[2].append: no sequence is current here; begin one with new or switch to one"},
      {"- new: 1a",
       "w.yaml:6:8: events[0].new: expected a name of letters, digits and _ that begins with no digit, found '1a'"},
      {"- new: {as: a, at_ms: -1}",
       "w.yaml:6:23: events[0].new.at_ms: expected a decimal number of at least 0, found '-1'"},
      {"- new: {at: 1}", "w.yaml:6:9: events[0].new.at: unknown key 'at'; valid here: as, at_ms"},
      {"- new: {at_ms: 1}", "w.yaml:6:8: events[0].new: missing key 'as': expected the name of the new sequence"},
      {"- new:",
       "w.yaml:6:3: events[0].new: expected a name of letters, digits and _ that begins with no digit, found nothing"},
      {"- new: a\n- fork: {from: b, as: c}", "w.yaml:7:16: events[1].fork.from: no sequence is called 'b'"},
      {"- new: a\n- fork: {from: a, as: a}", "w.yaml:7:23: events[1].fork.as: sequence 'a' exists already"},
      {"- new: a\n- switch: b", "w.yaml:7:11: events[1].switch: no sequence is called 'b'"},
      {"- new: a\n- end: b", "w.yaml:7:8: events[1].end: no sequence is called 'b'"},
      {"- mark: m", "w.yaml:6:9: events[0].mark: no sequence is current here; begin one with new or switch to one"},
  });
}

TEST_CASE("tokens that are not there are refused") {
  check_all({
      {"- new: a\n- append:",
       "w.yaml:7:3: events[1].append: expected tokens in one scalar: ids or NAME[.A[-B]]:COUNT[@OFFSET], found "
       "nothing"},
      {"- new: a\n- append: \"\"", "w.yaml:7:11: events[1].append: expected at least one token, found none"},
      {"- new: a\n- append: \"1 2 1000\"",
       "w.yaml:7:11: events[1].append: item 3 '1000': expected a token id from 0 to 999, below the vocabulary of 1000"},
      {"- new: a\n- append: \"1 -2\"",
       "w.yaml:7:11: events[1].append: item 2 '-2': expected a token id from 0 to 999, below the vocabulary of 1000"},
      {"- new: a\n- append: \"1 010\"",
       "w.yaml:7:11: events[1].append: item 2 '010': expected a token id or NAME[.A[-B]]:COUNT[@OFFSET]; numbers are "
       "decimal without leading zeros"},
      {"- new: a\n- append: [1, 2]",
       "w.yaml:7:11: events[1].append: expected tokens in one scalar: ids or NAME[.A[-B]]:COUNT[@OFFSET], found a "
       "list"},
      {"- new: a\n- append: \"p:9\"",
       "w.yaml:7:11: events[1].append: item 1 'p:9': reaches token 9 of stream 'p', which has 8"},
      {"- new: a\n- append: \"p:3@6\"",
       "w.yaml:7:11: events[1].append: item 1 'p:3@6': reaches token 9 of stream 'p', which has 8"},
      {"- new: a\n- append: \"p:0\"",
       "w.yaml:7:11: events[1].append: item 1 'p:0': expected a count from 1 to 1000000000 after the colon"},
      {"- new: a\n- append: \"p\"",
       "w.yaml:7:11: events[1].append: item 1 'p': expected NAME[.A[-B]]:COUNT[@OFFSET]; the count is missing"},
      {"- new: a\n- append: \"q:3\"", "w.yaml:7:11: events[1].append: item 1 'q:3': no stream is called 'q'"},
      {"- new: a\n- append: \"p.1:3\"",
       "w.yaml:7:11: events[1].append: item 1 'p.1:3': stream 'p' has no index; write p:COUNT"},
      {"- new: a\n- append: \"x:3\"",
       "w.yaml:7:11: events[1].append: item 1 'x:3': stream 'x' is indexed; write x.INDEX:COUNT"},
      {"- new: a\n- append: \"x.5-4:3\"",
       "w.yaml:7:11: events[1].append: item 1 'x.5-4:3': the range of indexes runs backwards"},
      {"- new: a\n- append: \"x.1-:3\"",
       "w.yaml:7:11: events[1].append: item 1 'x.1-:3': expected an index A or a range A-B of whole numbers after the "
       "dot, found '1-'"},
      {"- new: a\n- append: \"x.0-1000000000:3\"",
       "w.yaml:7:11: events[1].append: item 1 'x.0-1000000000:3': more than 1000000000 tokens in one item"},
      {"- new: a\n- append: \"g:1000000001\"",
       "w.yaml:7:11: events[1].append: item 1 'g:1000000001': expected a count from 1 to 1000000000 after the colon"},
      {"- new: a\n- append: \"g:600000000\"\n- append: \"g:600000000\"",
       "w.yaml:8:11: events[2].append: the events up to here add more than 1000000000 tokens"},
      {"- new: a\n- append: \"g:3@-1\"",
       "w.yaml:7:11: events[1].append: item 1 'g:3@-1': expected an offset from 0 to 2305843009213693952 after the @"},
      {"- new: a\n- append: \"g:3@x 1\"",
       "w.yaml:7:11: events[1].append: item 1 'g:3@x': expected an offset from 0 to 2305843009213693952 after the @"},
  });
}

TEST_CASE("evaluations and calls that cannot be are refused") {
  check_all({
      {"- new: a\n- eval: 1", "w.yaml:7:9: events[1].eval: an evaluation of an empty ledger; append tokens first"},
      {"- new: a\n- append: 1\n- eval: 2", "w.yaml:8:9: events[2].eval: expected 1 or {logits: last|all}, found '2'"},
      {"- new: a\n- append: 1\n- eval:", "w.yaml:8:3: events[2].eval: expected 1 or {logits: last|all}, found nothing"},
      {"- new: a\n- append: 1\n- eval: {logits: some}",
       "w.yaml:8:18: events[2].eval.logits: expected the rows of logits wanted, one of last, all; found 'some'"},
      {"- new: a\n- append: 1\n- eval: {}", "w.yaml:8:9: events[2].eval: missing key 'logits': expected last or all"},
      {"- new: a\n- decode: 5", "w.yaml:7:11: events[1].decode: an evaluation of an empty ledger; append tokens first"},
      {"- new: a\n- append: 1\n- decode: {n: 2, ids: 5}",
       "w.yaml:8:15: events[2].decode.n: n is 2, but ids has 1 tokens"},
      {"- new: a\n- append: 1\n- decode: {n: 0, ids: 5}",
       "w.yaml:8:15: events[2].decode.n: expected a whole number from 1 to 1000000000, found '0'"},
      {"- new: a\n- append: 1\n- decode: {ids: 5}",
       "w.yaml:8:11: events[2].decode: missing key 'n': expected the number of evaluations"},
      {"- new: a\n- wait: -5", "w.yaml:7:9: events[1].wait: expected a decimal number of at least 0, found '-5'"},
      {"- new: a\n- wait: 1e999",
       "w.yaml:7:9: events[1].wait: expected a decimal number of at least 0, found '1e999' (too large or too close to "
       "0: "
       "numbers go from 2.3e-308 to 1.7e308)"},
      {"- new: a\n- wait: x", "w.yaml:7:9: events[1].wait: expected a decimal number of at least 0, found 'x'"},
      {"- new: a\n- call: {keep: 0, feed: \"\"}",
       "w.yaml:7:9: events[1].call: an evaluation of an empty ledger; append tokens first"},
      {"- new: a\n- call: {keep: 1, feed: \"1\"}",
       "w.yaml:7:16: events[1].call.keep: cannot keep 1: the ledger has 0 tokens"},
      {"- new: a\n- call: {keep: 0}",
       "w.yaml:7:9: events[1].call: missing key 'feed': expected the tokens added, \"\" for none"},
      {"- new: a\n- call: {keep: 0, feed: 1, logits: 1}",
       "w.yaml:7:36: events[1].call.logits: expected the rows of logits wanted, one of last, all; found '1'"},
      {"- new: a\n- call: {keep: 0, fed: 1}",
       "w.yaml:7:19: events[1].call.fed: unknown key 'fed'; valid here: keep, feed, logits"},
      {"- new: a\n- call: {keep: 08, feed: 1}",
       "w.yaml:7:16: events[1].call.keep: expected a whole number of at least 0, found '08' (write it without leading "
       "zeros)"},
      {"- new: a\n- call: {keep: 0x1, feed: 1}",
       "w.yaml:7:16: events[1].call.keep: expected a whole number of at least 0, found '0x1' (numbers are decimal)"},
      {"- new: a\n- call: {keep: 1e0, feed: 1}",
       "w.yaml:7:16: events[1].call.keep: expected a whole number of at least 0, found '1e0'"},
      {"- new: a\n- call: {keep: 1.0, feed: 1}",
       "w.yaml:7:16: events[1].call.keep: expected a whole number of at least 0, found '1.0'"},
  });
}

TEST_CASE("rewinds and marks that do not hold are refused") {
  check_all({
      {"- new: a\n- append: 1\n- rewind: {by: 0}",
       "w.yaml:8:16: events[2].rewind.by: expected a whole number of at least 1, found '0'"},
      {"- new: a\n- append: 1\n- rewind: {by: 2}",
       "w.yaml:8:16: events[2].rewind.by: cannot rewind by 2: the ledger has 1 tokens"},
      {"- new: a\n- append: 1\n- rewind: {to: 2}",
       "w.yaml:8:16: events[2].rewind.to: cannot rewind to 2: the ledger has 1 tokens"},
      {"- new: a\n- append: 1\n- rewind: {to: m}", "w.yaml:8:16: events[2].rewind.to: sequence 'a' has no mark 'm'"},
      {"- new: a\n- append: 1 2\n- mark: m\n- rewind: {to: 1}\n- append: 2\n- rewind: {to: m}",
       "w.yaml:11:16: events[5].rewind.to: mark 'm' at length 2 no longer holds: the ledger was cut to 1"},
      {"- new: a\n- append: 1 2\n- mark: m\n- new: b\n- append: 1 2 3\n- rewind: {to: m}",
       "w.yaml:11:16: events[5].rewind.to: sequence 'b' has no mark 'm'"},
      {"- new: a\n- rewind: {by: 1, to: 2}",
       "w.yaml:7:11: events[1].rewind: expected either by (a count) or to (a length or a mark)"},
      {"- new: a\n- rewind: {}",
       "w.yaml:7:11: events[1].rewind: expected either by (a count) or to (a length or a mark)"},
      {"- new: a\n- rewind: {to: -1}",
       "w.yaml:7:16: events[1].rewind.to: expected a whole number of at least 0, found '-1'"},
      {"- new: a\n- mark: 5",
       "w.yaml:7:9: events[1].mark: expected a name of letters, digits and _ that begins with no digit, found '5'"},
  });
}

TEST_CASE("drafts that do not add up are refused") {
  check_all({
      {"- new: a\n- append: 1\n- verify: {k: 3, accepts: 4, accepted: g, rejected: g}",
       "w.yaml:8:27: events[2].verify.accepts: expected counts from 0 to k = 3, found '4' as number 1"},
      {"- new: a\n- append: 1\n- verify: {k: 3, accepts: 3 -1, accepted: g, rejected: g}",
       "w.yaml:8:27: events[2].verify.accepts: expected counts from 0 to k = 3, found '-1' as number 2"},
      {"- new: a\n- append: 1\n- verify: {k: 3, accepts: [1, x], accepted: g, rejected: g}",
       "w.yaml:8:31: events[2].verify.accepts[1]: expected counts from 0 to k = 3, found 'x' as number 2"},
      {"- new: a\n- append: 1\n- verify: {k: 0, accepts: 1, accepted: g, rejected: g}",
       "w.yaml:8:15: events[2].verify.k: expected a whole number from 1 to 1000000000, found '0'"},
      {"- new: a\n- append: 1\n- verify: {k: 3, accepts: 1, accepted: g}",
       "w.yaml:8:11: events[2].verify: missing key 'rejected': expected NAME[@OFFSET] of the rejected drafts, for not "
       "all are accepted"},
      {"- new: a\n- append: 1\n- verify: {k: 3, accepts: 1, accepted: p@7, rejected: g}",
       "w.yaml:8:40: events[2].verify.accepted: needs 2 tokens from 7 on, but stream 'p' has 8"},
      {"- new: a\n- append: 1\n- verify: {k: 3, accepts: 1, accepted: x, rejected: g}",
       "w.yaml:8:40: events[2].verify.accepted: stream 'x' is indexed; verify takes tokens of an unindexed stream"},
      {"- new: a\n- verify: {k: 3, accepts: 1, accepted: g, rejected: g}",
       "w.yaml:7:11: events[1].verify: an evaluation of an empty ledger; append tokens first"},
      {"- new: a\n- append: 1\n- verify: {k: 3, accepts: \"\", accepted: g, rejected: g}",
       "w.yaml:8:27: events[2].verify.accepts: expected at least one count of accepted drafts, found none"},
  });
}

TEST_CASE("items that are no event are refused") {
  check_all({
      {"- new: a\n- apend: 1",
       "w.yaml:7:3: events[1].apend: unknown event 'apend'; events are call, decode, append, eval, switch, rewind, "
       "verify, new, fork, end, mark, wait"},
      {"- new: a\n  append: 1",
       "w.yaml:7:3: events[0].append: an event has one key, but 'append' follows 'new'; begin each event with its own "
       "'- '"},
      {"- new", "w.yaml:6:3: events[0]: expected an event, a map with one key such as 'eval: 1', found 'new'"},
      {"- {}", "w.yaml:6:3: events[0]: expected an event, a map with one key such as 'eval: 1'"},
      {"- new: a\n- append: 1\n  eval: 1",
       "w.yaml:8:3: events[1].eval: an event has one key, but 'eval' follows 'append'; begin each event with its own "
       "'- '"},
  });
}

TEST_CASE("numbers are decimal, quoted or not, and words are text") {
  const Workload workload =
      read(with_events("- new: no\n- append: 5\n- rewind: {to: 0}\n- rewind: {to: -0}\n- append: '+5'\n- call: {keep: "
                       "' 1 ', feed: \"\"}\n"
                       "- eval: \"1\"\n- mark: yes\n- rewind: {to: yes}\n- decode: 5 6 p:2\n- wait: 1.5\n- end: no\n"));
  CHECK(workload.sequence_names == std::vector<std::string>{"no"});
  CHECK(workload.mark_names == std::vector<std::string>{"yes"});
  REQUIRE(workload.events.size() == 12);
  CHECK(std::get<Rewind>(workload.events[3].what).length == 0);
  CHECK(std::get<Call>(workload.events[5].what).keep == 1);
  CHECK(std::get<Rewind>(workload.events[8].what).length == 1);
  CHECK(std::get<Decode>(workload.events[9].what).n == 4);
  CHECK(std::get<Wait>(workload.events[10].what).ms == 1.5);
}

TEST_CASE("more events than allowed are refused") {
  std::string events = "- new: a\n- append: 1\n";
  for (int i = 0; i < 999998; ++i) events += "- eval: 1\n";
  CHECK(refusal(with_events(events)) == "accepted");
  CHECK(refusal(with_events(events + "- eval: 1\n")) == "w.yaml:1000006:3: events[1000000]: more than 1000000 events");
}

TEST_CASE("the nearest valid names come with the error") {
  try {
    read(with_events("- new: abc\n- apend: 1\n"));
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.given == "apend");
    CHECK(std::find(error.candidates.begin(), error.candidates.end(), "append") != error.candidates.end());
    CHECK(error.mark == SourceMark{7, 3});
  }
  try {
    read(with_events("- new: abc\n- switch: abd\n"));
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.given == "abd");
    CHECK(error.candidates == std::vector<std::string>{"abc"});
  }
}
