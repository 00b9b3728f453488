// Sessions and conversations: session-csv, weka, accept-histogram.
#include "tests/catch.hpp"
#include "tests/workloads/imports.hpp"

namespace kvreplay::workloads {

using tests::events_of;
using tests::import_file;
using tests::import_text;
using tests::trace_path;
using tests::workload_of;

TEST_CASE("TraceLab's three sessions end as its columns add up") {
  const Workload workload = workload_of(import_file("session-csv", trace_path("tracelab_multi_session_example.csv")));
  const Facts facts = facts_of(workload, {});
  CHECK(facts.evaluations == 64 * 3 + 48 * 2 + 64 + 48 + 48);
  CHECK(facts.final_length.at("s0") == 768 + 128 + 64);
  CHECK(facts.final_length.at("s1") == 448 + 100 + 48);
  CHECK(facts.final_length.at("s2") == 784 + 80 + 48);
  // Session 2 keeps 784 of 832 tokens in its last round.
  CHECK(facts.rewinds == 1);
  CHECK(facts.rewound == 48);
}

TEST_CASE("a session's rounds rewind, append, decode and wait; what came before is generated") {
  const auto imported =
      import_text("session-csv",
                  "session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n"
                  "a,40,0,100,20,5,0\n"
                  "a,40,2,110,0,4,12.5\n"
                  "b,50,0,0,8,0,1\n");
  CHECK(events_of(imported) ==
        "  - new: {as: s0, at_ms: 0}\n"
        "  - append: \"before.0:100\"\n"
        "  - append: \"in.0:20\"\n"
        "  - decode: {n: 5, ids: \"gen.0:5\"}\n"
        "  - rewind: {to: 110}\n"
        "  - decode: {n: 4, ids: \"gen.1:4\"}\n"
        "  - wait: 12.5\n"
        "  - end: s0\n"
        "  - new: {as: s1, at_ms: 10}\n"
        "  - append: \"in.2:8\"\n"
        "  - eval: 1\n"
        "  - wait: 1\n"
        "  - end: s1\n");
  REQUIRE(imported.notes.size() == 1);
  CHECK(imported.notes[0].rows == 1);
  CHECK(imported.notes[0].first_line == 2);
}

TEST_CASE("the option --max-input ends a session at its first longer round") {
  const auto imported =
      import_file("session-csv", trace_path("tracelab_multi_session_example.csv"), {.max_input = 800});
  const Facts facts = facts_of(workload_of(imported), {});
  CHECK(facts.final_length.at("s0") == 768);
  CHECK(facts.final_length.at("s1") == 596);
  CHECK(facts.final_length.at("s2") == 832);
  CHECK(imported.rows_taken == 6);
}

TEST_CASE("a conversation keeps the whole blocks its prompts share") {
  const std::string hash_list =
      R"({"id": "x", "block_size": 64, "requests": [
 {"t": 0.0, "in": 200, "out": 5, "hash_ids": [1, 2, 3], "think_time": 1},
 {"t": 1, "in": 300, "out": 2, "hash_ids": [1, 2, 3, 4], "think_time": 2.5},
 {"t": 2, "type": "subagent", "requests": [{"t": 0, "in": 64, "out": 1, "hash_ids": [9]}]},
 {"t": 3, "in": 130, "out": 1, "hash_ids": [1, 7]}]})";
  CHECK(events_of(import_text("weka", hash_list)) ==
        "  - new: main\n"
        "  - append: \"b.1-3:64 tail.0:8\"\n"
        "  - decode: {n: 5, ids: \"gen.0:5\"}\n"
        "  - wait: 2500\n"
        "  - rewind: {to: 192}\n"
        "  - append: \"b.4:64 tail.1:44\"\n"
        "  - decode: {n: 2, ids: \"gen.1:2\"}\n"
        "  - new: agent_1\n"
        "  - append: \"b.9:64\"\n"
        "  - decode: {n: 1, ids: \"gen.2:1\"}\n"
        "  - end: agent_1\n"
        "  - switch: main\n"
        "  - rewind: {to: 64}\n"
        "  - append: \"b.7:64 tail.3:2\"\n"
        "  - decode: {n: 1, ids: \"gen.3:1\"}\n");
}

TEST_CASE("prompts of a recorded conversation have the lengths it gives and share its leading blocks") {
  const auto imported = import_file("weka", trace_path("weka_trace_0291_cut.json"));
  std::vector<std::pair<Count, Count>> prompts;  // length, kept of the sequence's list before
  const Workload workload = workload_of(imported);
  Expansion expansion(workload);
  std::size_t event = 0;
  while (const Step* step = expansion.next()) {
    if (step->kind != StepKind::evaluate || step->event_index == event) continue;
    event = step->event_index;
    prompts.emplace_back(static_cast<Count>(step->tokens.size()), step->common_prefix_sequence);
  }
  // in of the file's rows, and 64 times the leading hashes each has in common with the one before, counted by a script
  // of its own.
  const std::vector<std::pair<Count, Count>> expected{{17869, 0},     {18763, 17856}, {19109, 18752}, {91853, 19008},
                                                      {11353, 0},     {62040, 11328}, {62804, 62016}, {11341, 0},
                                                      {61593, 11328}, {61947, 61568}, {63921, 61888}, {66179, 63872},
                                                      {69977, 66176}, {70979, 69952}, {97317, 91840}};
  CHECK(prompts == expected);
}

TEST_CASE("a histogram becomes as many verifications as it counts") {
  // The published histogram behind the shipped example; its oracle: 88 evaluations, 860 tokens fed by one cache.
  const auto imported = import_text("accept-histogram", "accepted,count\n0,17\n1,15\n2,13\n3,42\n");
  const Facts facts = facts_of(workload_of(imported), {});
  CHECK(facts.evaluations == 88);
  CHECK(facts.drafted == 261);
  CHECK(facts.accepted == 167);
  CHECK(facts.tokens_floor_single == 860);
  const Facts mixed = facts_of(
      workload_of(import_text("accept-histogram", "drafted,accepted,count\n2,0,3\n2,2,1\n5,5,2\n7,1,0\n")), {});
  CHECK(mixed.evaluations == 1 + 6);
  CHECK(mixed.drafted == 2 * 4 + 5 * 2);
  CHECK(mixed.accepted == 2 + 10);
}

}  // namespace kvreplay::workloads
