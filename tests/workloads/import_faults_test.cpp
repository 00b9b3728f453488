// Bad traces: one message with file, line and cause; with skip_bad counted; nothing is silently lost.
#include "tests/catch.hpp"
#include "tests/workloads/imports.hpp"

#include <array>
#include <utility>

namespace kvreplay::workloads {
namespace {

using Catch::Matchers::Contains;
using importers::ImportOptions;
using tests::events_of;
using tests::import_text;
using tests::refusal_of;

const std::string good_row = R"({"timestamp": 5, "input_length": 3, "output_length": 1, "hash_ids": [1]})";
const std::string session_header = "session_id,round_idx,prefix_len,input_len,output_len\n";

struct Fault {
  std::string format, content, message;
};

std::string mooncake_row(const std::string& time, const std::string& input, const std::string& hashes) {
  return "{\"timestamp\": " + time + ", \"input_length\": " + input +
         ", \"output_length\": 1, \"hash_ids\": " + hashes + "}";
}

}  // namespace

TEST_CASE("every fault of a trace is named with its line") {
  const std::string csv = "ContextTokens,GeneratedTokens\n";
  const std::vector<Fault> faults{
      {"mooncake", good_row + "\n" + good_row.substr(0, 40),
       "FILE:2:41: not valid JSON: the file ends inside this row"},
      {"mooncake", good_row + "\n\n  \n{]\n", "FILE:4:2: not valid JSON"},
      {"mooncake", "[1]\n", "FILE:1: expected one JSON object a line"},
      {"mooncake", "{\"input_length\": 3, \"output_length\": 1}\n", "FILE:1: the key 'hash_ids' is missing"},
      {"mooncake", mooncake_row("1", "\"3\"", "[1]"), "FILE:1: input_length: expected a whole number of at least 1"},
      {"mooncake", mooncake_row("1", "3.0", "[1]"), "found '3.0'"},
      {"mooncake", mooncake_row("1", "-3", "[1]"), "found '-3'"},
      {"mooncake", mooncake_row("1", "99999999999999999999", "[1]"),
       "input_length: expected a whole number of at least 1 and at most 1000000000, found a number too large, about "
       "1e+20"},
      {"mooncake", mooncake_row("1", "18446744073709551615", "[1]"), "FILE:1: input_length: expected a whole number"},
      {"mooncake", mooncake_row("1e999", "3", "[1]"), "FILE:1: holds a number that is out of range"},
      {"mooncake", mooncake_row("\"now\"", "3", "[1]"), "FILE:1: timestamp: expected a number"},
      {"mooncake", mooncake_row("1", "3", "[1, \"x\"]"), "FILE:1: hash_ids[1]: expected a whole number"},
      {"mooncake", mooncake_row("1", "3", "{\"a\": 1}"), "FILE:1: hash_ids: expected a list, found an object"},
      {"mooncake", mooncake_row("1", "1025", "[1]"), "makes 3 blocks of 512 tokens (--block N sets their size)"},
      {"mooncake", "{\"a\": 1, \"a\": 2}", "FILE:1: the key 'a' is given twice"},
      {"mooncake", "{\"a\": " + std::string(40, '[') + std::string(40, ']') + "}", "FILE:1: nested deeper than 16"},
      {"mooncake", good_row + "\n" + mooncake_row("4", "3", "[1]"), "FILE:2: timestamp: earlier than the row before"},
      {"mooncake", good_row + "\n{\"a\": \"\xC3\x28\"}\n", "FILE:2:8: not valid UTF-8 (byte 0xC3)"},
      {"mooncake", "\xFF\xFE{\0", "FILE:1:1: not valid UTF-8 (byte 0xFF); the file looks like UTF-16"},
      {"mooncake", good_row + "\n" + std::string("{\0}", 3), "FILE:2:2: a NUL byte; the file is not text"},
      {"mooncake", "", "FILE: gives no workload: there is no row in it."},
      {"mooncake", "\n\n", "FILE: gives no workload"},
      {"lengths-csv", "", "FILE: empty, not even a header"},
      {"lengths-csv", "a,b\n1,2\n", "FILE:1: no column ContextTokens or Request tokens"},
      {"lengths-csv", "ContextTokens,contexttokens,GeneratedTokens\n",
       "FILE:1: the column 'contexttokens' is there twice"},
      {"lengths-csv", csv + "1,2\n3\n", "FILE:3: 1 fields, but the header names 2"},
      {"lengths-csv", csv + "1,2\n3", "the file ends in this row, cut off?"},
      {"lengths-csv", csv + "1,2x\n", "FILE:2: GeneratedTokens: expected a whole number of at least 0"},
      {"lengths-csv", csv + "1e3,2\n", "FILE:2: ContextTokens"},
      {"lengths-csv", csv + "1,9999999999999999999999\n", "FILE:2: GeneratedTokens"},
      {"lengths-csv", csv + "\"1,2\n", "FILE:2:5: a quoted field that does not end on its line"},
      {"lengths-csv", csv + "0,5\n", "FILE: gives no workload: no row of it could be taken. no prompt: 1."},
      {"lengths-csv", "timestamp," + csv + "2023-13-16 18:17:03,1,2\n", "FILE:2: timestamp: expected seconds or YYYY"},
      {"lengths-csv", "timestamp," + csv + "nan,1,2\n", "FILE:2: timestamp: expected a number"},
      {"lengths-csv", "timestamp," + csv + "2023-11-16 18:17:03,1,2\n2023-11-16 18:17:02.9,1,2\n",
       "FILE:3: timestamp: earlier"},
      {"session-csv", session_header + "a,0,0,5,1\nb,0,0,5,1\na,1,6,5,1\n",
       "FILE:4: session_id: its rows do not follow"},
      {"session-csv", session_header + "a,1,0,5,1\na,1,6,5,1\n", "FILE:3: round_idx: not behind"},
      {"session-csv", session_header + "a,0,0,0,1\n", "FILE:2: input_len: a round without prefix and input"},
      {"weka", "{\"block_size\": 64,\n \"requests\": [\n{\"in\"", "FILE:3:6: not valid JSON: the file ends inside"},
      {"weka", "{\"block_size\": 64}", "FILE:1: the key 'requests' is missing"},
      {"weka", "{\"block_size\": 64, \"requests\": [7]}", "FILE:1: requests[0]: expected an object, found '7'"},
      {"weka", "{\"block_size\": 64, \"requests\": []}", "FILE: gives no workload"},
      {"calls-jsonl", "{\"keep\": 1, \"feed\": [1]}", "FILE:1: keep: 1 is more than the 0 tokens"},
      {"calls-jsonl", "{\"keep\": 0, \"feed\": [1], \"observed\": {\"fed\": 9223372036854775807}}",
       "the list has 1 tokens, no engine feeds 9223372036854775807"},
      {"calls-jsonl", "{\"keep\": 0, \"feed\": []}", "FILE:1: feed: the call evaluates an empty list"},
      {"calls-jsonl", "{\"keep\": 0, \"feed\": [1], \"len\": 2}", "FILE:1: len: keep and feed make 1"},
      {"calls-jsonl", "{\"id\": \"x\", \"calls\": [{\"keep\": 0, \"feed\": [-1]}]}",
       "FILE:1: calls[0].feed[0]: expected"},
      {"calls-jsonl", "{\"id\": \"x\", \"calls\": []}", "FILE:1: calls: no call at all"},
      {"accept-histogram", "accepted,count\n1,2\n1,3\n", "FILE:3: accepted: counted before, in line 2"},
      {"accept-histogram", "accepted,count,drafted\n3,2,2\n",
       "FILE:2: accepted: expected a whole number of at least 0 and at most 2"},
      {"accept-histogram", "accepted,count\n0,3\n", "a column drafted must say of how many"},
  };
  for (const Fault& fault : faults) {
    INFO(fault.format << ": " << fault.content);
    CHECK_THAT(refusal_of(fault.format, fault.content), Contains(fault.message));
  }
}

TEST_CASE("a sequence's id may not come again") {
  const std::string row = "{\"id\": \"x\", \"calls\": [{\"keep\": 0, \"feed\": [1]}]}\n";
  CHECK(refusal_of("calls-jsonl", row + row) == "FILE:2: id: 'x' again, first in line 1");
}

TEST_CASE("columns and keys that no rule reads are named, each once") {
  using Names = std::vector<std::string>;
  const auto unused = [](const std::string& format, const std::string& content) {
    return import_text(format, content).unused;
  };
  CHECK(unused("mooncake", good_row + "\n" + good_row).empty());
  const std::string bailian =
      good_row.substr(0, good_row.size() - 1) + R"(, "chat_id": 1, "type": "a", "turn": 2, "x-a": 1})";
  CHECK(unused("mooncake", bailian + "\n" + bailian + "\n") == Names{"'turn'", "'type'"});
  CHECK(unused("lengths-csv", "Model,ContextTokens,GeneratedTokens,pd\\tratio\na,4,2,9\n") ==
        Names{"'Model'", "'pd\\tratio'"});
  CHECK(unused("session-csv", "tool,session_id,round_idx,prefix_len,input_len,output_len\nx,a,0,0,5,1\n") ==
        Names{"'tool'"});
  CHECK(unused("accept-histogram", "accepted,count,percent\n1,2,3\n") == Names{"'percent'"});
  CHECK(
      unused("weka", R"({"block_size": 64, "id": "x", "requests": [{"in": 70, "out": 2, "hash_ids": [1], "model": "m"},
                          {"requests": [{"in": 70, "out": 2, "hash_ids": [1]}], "kind": 3}]})") ==
      Names{"'id'", "'model'", "'kind'"});
  CHECK(unused("calls-jsonl", R"({"keep": 0, "feed": [1], "logit": "all"})") == Names{"'logit'"});
  CHECK(unused("calls-jsonl", R"({"calls": [{"keep": 0, "feed": [1], "observed": {}}], "output_text": "t"})") ==
        Names{"'output_text'", "'observed'"});
}

TEST_CASE("twenty names of what is not used are enough") {
  std::string header = "ContextTokens,GeneratedTokens", row = "4,2";
  for (int i = 0; i < 30; ++i) {
    header += ",c" + std::to_string(i);
    row += ",0";
  }
  CHECK(import_text("lengths-csv", header + "\n" + row).unused.size() == importers::Imported::max_unused);
}

TEST_CASE("a recording has the keys of its format and no others") {
  const std::string head =
      R"({"format": "kv-calls/1", "recorder": {"name": "r", "version": "1"}, "engine": "e", "content": "exact-ids")";
  const std::string call = R"({"keep": 0, "feed": [1], "observed": {"fed": 1})";
  CHECK(import_text("calls-jsonl", head + ", \"x-mine\": 1}\n" + call + ", \"x-mine\": 1}\n").rows_taken == 1);
  const std::vector<std::pair<std::string, std::string>> faults{
      {head + ", \"titel\": \"t\"}\n" + call + "}\n", "FILE:1: titel: unknown key"},
      {head + "}\n" + call + ", \"logit\": \"all\"}\n", "FILE:2: logit: unknown key"},
      {head + "}\n{\"keep\": 0, \"feed\": [1], \"observed\": {\"feed\": 1}}\n", "FILE:2: observed.feed: unknown key"},
      {head + "}\n" + call + "}\n{\"end\": \"main\", \"at\": 3}\n", "FILE:3: at: unknown key"},
      {head + "}\n" + call + "}\n{\"fork\": {\"from\": \"main\", \"as\": \"b\", \"at\": 1}}\n",
       "FILE:3: fork.at: unknown key"},
  };
  for (const auto& [content, message] : faults) CHECK(refusal_of("calls-jsonl", content) == message);
}

TEST_CASE("blank lines, CRLF, a byte-order mark and a missing last line end change nothing") {
  const std::string plain = good_row + "\n" + good_row + "\n" + good_row + "\n";
  const std::string events = events_of(import_text("mooncake", plain));
  const std::array<std::string, 5> variants{
      good_row + "\n\n" + good_row + "\n   \n" + good_row + "\n",
      good_row + "\r\n" + good_row + "\r\n" + good_row + "\r\n",
      good_row + "\n" + good_row + "\n" + good_row,
      "\xEF\xBB\xBF" + plain,
      "\xEF\xBB\xBF\r\n" + good_row + "\n" + good_row + "\n\t\n" + good_row + "\n\n",
  };
  for (const std::string& variant : variants) {
    const auto imported = import_text("mooncake", variant);
    CHECK(events_of(imported) == events);
    CHECK(imported.rows_read == 3);
    CHECK(imported.rows_taken == 3);
  }
}

TEST_CASE("skip_bad takes the good rows and counts the bad ones") {
  const std::string text = good_row + "\nnonsense\n" + mooncake_row("1", "3", "[1]") + "\n{\"a\": \"\xFF\"}\n" +
                           good_row + "\n" + good_row.substr(0, 20);
  const auto imported = import_text("mooncake", text, {.skip_bad = true});
  CHECK(events_of(imported) == events_of(import_text("mooncake", good_row + "\n" + good_row + "\n")));
  CHECK(imported.rows_read == 6);
  CHECK(imported.rows_taken == 2);
  REQUIRE(imported.notes.size() == 1);
  CHECK(imported.notes[0].reason == "bad rows skipped");
  CHECK(imported.notes[0].rows == 4);
  CHECK(imported.notes[0].first_line == 2);
  CHECK_THAT(imported.notes[0].example, Contains(":2:2: not valid JSON"));
}

TEST_CASE("a line that is too long is an error, or skipped, without being kept") {
  const std::string text = good_row + "\n" + std::string(std::size_t{18} << 20, ' ') + "1\n" + good_row + "\n";
  CHECK_THAT(refusal_of("mooncake", text), Contains("FILE:2: a line of more than 16 MiB"));
  CHECK(import_text("mooncake", text, {.skip_bad = true}).rows_taken == 2);
}

TEST_CASE("what outgrows the format is refused with the options that reduce it, bad rows skipped or not") {
  const std::string csv = "ContextTokens,GeneratedTokens\n1,300000\n1,300000\n";
  CHECK_THAT(refusal_of("lengths-csv", csv, {.slots = 2, .skip_bad = true}),
             Contains("over 16 MiB of text") && Contains("--rows"));
  std::string calls = "{\"keep\":0,\"feed\":[1]}\n";
  for (int i = 0; i < 1'000'000; ++i) calls += "{\"keep\":1,\"feed\":[]}\n";
  CHECK_THAT(refusal_of("calls-jsonl", calls, {.skip_bad = true}),
             Contains("FILE:1000000: here the workload gets over 1000000 events"));
  const std::string tokens = "ContextTokens,GeneratedTokens\n600000000,1\n400000000,1\n";
  CHECK_THAT(refusal_of("lengths-csv", tokens, {.skip_bad = true}),
             Contains("FILE:3: here the workload gets over 1000000000 tokens") && Contains("--scale"));
  CHECK(refusal_of("lengths-csv", tokens, {.scale = 2}) == "accepted");
  std::string ids;
  for (int i = 0; i < 2'000'000; ++i) ids += ",2000000";
  std::string rows;
  for (int i = 0; i < 2; ++i)
    rows += "{\"calls\": [{\"keep\": 0, \"feed\": [1" + ids.substr(0, 9'000'000 - 9'000'000 % 8) + "]}]}\n";
  CHECK_THAT(refusal_of("calls-jsonl", rows), Contains("FILE:2: here the workload gets over 16 MiB of text"));
  CHECK_THAT(refusal_of("mooncake", good_row, {.scale = 3}),
             Contains("--scale 3 does not divide blocks of 512 tokens"));
}

TEST_CASE("every import format has a summary, and its name finds it") {
  for (const importers::Importer& importer : importers::importer_table()) {
    INFO(importer.name);
    CHECK(importers::find_importer(importer.name) == &importer);
    CHECK(importer.summary.size() > 20);
  }
  CHECK(importers::find_importer("moncake") == nullptr);
}

}  // namespace kvreplay::workloads
