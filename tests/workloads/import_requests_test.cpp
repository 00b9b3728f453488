// Request logs: mooncake and lengths-csv.
#include "tests/catch.hpp"
#include "tests/workloads/imports.hpp"

namespace kvreplay::workloads {
namespace {

using importers::ImportOptions;
using tests::events_of;
using tests::import_file;
using tests::import_text;
using tests::trace_path;
using tests::workload_of;

const std::string mooncake_rows =
    "{\"timestamp\": 100, \"input_length\": 1030, \"output_length\": 3, \"hash_ids\": [7, 8, 9]}\n"
    "{\"timestamp\": 350.5, \"input_length\": 1536, \"output_length\": 2, \"hash_ids\": [7, 8, 20], \"more\": {}}\n";

}  // namespace

TEST_CASE("a Mooncake row becomes new, append of its blocks, decode and end") {
  CHECK(events_of(import_text("mooncake", mooncake_rows)) ==
        "  - new: {as: r0, at_ms: 0}\n"
        "  - append: \"b.7-8:512 b.9:6\"\n"
        "  - decode: {n: 3, ids: \"gen.0:3\"}\n"
        "  - end: r0\n"
        "  - new: {as: r1, at_ms: 250.5}\n"
        "  - append: \"b.7-8:512 b.20:512\"\n"
        "  - decode: {n: 2, ids: \"gen.1:2\"}\n"
        "  - end: r1\n");
}

TEST_CASE("Bailian rows have blocks of 16 and seconds; hashes of whole blocks only leave a tail") {
  const std::string rows =
      "{\"chat_id\": 1, \"timestamp\": 2.5, \"input_length\": 35, \"output_length\": 0, \"hash_ids\": [4, 5]}\n"
      "{\"chat_id\": 2, \"timestamp\": 3.0, \"input_length\": 32, \"output_length\": 1, \"hash_ids\": [4, 6]}\n";
  CHECK(events_of(import_text("mooncake", rows, {.block = 16})) ==
        "  - new: {as: r0, at_ms: 0}\n"
        "  - append: \"b.4-5:16 tail.0:3\"\n"
        "  - eval: 1\n"
        "  - end: r0\n"
        "  - new: {as: r1, at_ms: 500}\n"
        "  - append: \"b.4:16 b.6:16\"\n"
        "  - decode: {n: 1, ids: \"gen.1:1\"}\n"
        "  - end: r1\n");
}

TEST_CASE("sixteen arXiv requests are the shipped example's, token for token") {
  const auto imported =
      import_file("mooncake", trace_path("mooncake_arxiv_head19.jsonl"), {.rows = 16, .max_input = 8192});
  CHECK(imported.rows_taken == 16);
  CHECK(imported.rows_read == 19);
  REQUIRE(imported.notes.size() == 1);
  CHECK(imported.notes[0].reason == "prompt longer than --max-input 8192");
  CHECK(imported.notes[0].rows == 3);
  const Workload workload = workload_of(imported);
  const Workload example = read_workload(KVREPLAY_SOURCE_DIR "/workloads/recorded/examples/04_trace_block_spans.yaml");
  CHECK(tests::evaluated_lists(workload) == tests::evaluated_lists(example));
  // The oracle of the example: a small model written apart from this program.
  const Facts facts = facts_of(workload, {});
  CHECK(facts.evaluations == 3937);
  CHECK(facts.tokens_floor_single == 61884);
  CHECK(facts.tokens_requested == 11939201);
}

TEST_CASE("scaling keeps how many blocks requests share") {
  const std::string path = trace_path("mooncake_conversation_head60.jsonl");
  const Workload full = workload_of(import_file("mooncake", path));
  const Workload scaled = workload_of(import_file("mooncake", path, {.scale = 16}));
  const auto first_prefixes = [](const Workload& workload) {
    std::vector<Count> prefixes;
    Expansion expansion(workload);
    SequenceId last = 0;
    while (const Step* step = expansion.next()) {
      if (step->kind == StepKind::evaluate && step->sequence != last) prefixes.push_back(step->common_prefix_last);
      if (step->kind == StepKind::evaluate) last = step->sequence;
    }
    return prefixes;
  };
  const std::vector<Count> ours = first_prefixes(scaled), theirs = first_prefixes(full);
  REQUIRE(ours.size() == 59);
  REQUIRE(theirs.size() == 59);
  for (std::size_t i = 0; i < ours.size(); ++i) CHECK(ours[i] * 16 == theirs[i]);
  const Facts facts = facts_of(scaled, {});
  // First rows of the file: 6758 + 500 and 7322 + 490 tokens; sixteenths are rounded up one by one.
  CHECK(facts.final_length.at("r0") == 423 + 32);
  CHECK(facts.final_length.at("r1") == 458 + 31);
}

TEST_CASE("with two slots two requests take turns, one token each") {
  const std::string rows =
      "num_prefill_tokens,num_decode_tokens\n"
      "10,2\n20,1\n30,3\n";
  CHECK(events_of(import_text("lengths-csv", rows, {.slots = 2})) ==
        "  - new: r0\n"
        "  - append: \"in.0:10\"\n"
        "  - new: r1\n"
        "  - append: \"in.1:20\"\n"
        "  - switch: r0\n"
        "  - decode: {n: 1, ids: \"gen.0:1\"}\n"
        "  - switch: r1\n"
        "  - decode: {n: 1, ids: \"gen.1:1\"}\n"
        "  - end: r1\n"
        "  - new: r2\n"
        "  - append: \"in.2:30\"\n"
        "  - switch: r0\n"
        "  - decode: {n: 1, ids: \"gen.0:1@1\"}\n"
        "  - end: r0\n"
        "  - switch: r2\n"
        "  - decode: {n: 1, ids: \"gen.2:1\"}\n"
        "  - decode: {n: 2, ids: \"gen.2:2@1\"}\n"
        "  - end: r2\n");
}

TEST_CASE("Azure, Vidur and BurstGPT logs are told apart by their columns") {
  const auto azure = import_file("lengths-csv", trace_path("azure_code_head40.csv"));
  CHECK(azure.rows_taken == 40);
  // 18:17:03.97996, 04.03196 and 04.078149.
  CHECK(events_of(azure).starts_with(
      "  - new: {as: r0, at_ms: 0}\n  - append: \"in.0:4808\"\n  - decode: {n: 10, ids: \"gen.0:10\"}\n  - end: r0\n"
      "  - new: {as: r1, at_ms: 52}\n  - append: \"in.1:3180\"\n  - decode: {n: 8, ids: \"gen.1:8\"}\n  - end: r1\n"
      "  - new: {as: r2, at_ms: 98.189}\n"));
  const auto splitwise = import_file("lengths-csv", trace_path("vidur_splitwise_head20.csv"), {.rows = 2});
  CHECK(events_of(splitwise) ==
        "  - new: {as: r0, at_ms: 0}\n  - append: \"in.0:374\"\n  - decode: {n: 44, ids: \"gen.0:44\"}\n  - end: r0\n"
        "  - new: {as: r1, at_ms: 4314.579}\n  - append: \"in.1:396\"\n  - decode: {n: 109, ids: \"gen.1:109\"}\n"
        "  - end: r1\n");
  const auto arxiv = import_file("lengths-csv", trace_path("vidur_arxiv_head20.csv"));
  CHECK(events_of(arxiv).starts_with("  - new: r0\n  - append: \"in.0:3772\"\n"));
  const auto burst = import_text("lengths-csv",
                                 "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                                 "5,ChatGPT,472,18,490,Conversation log\n"
                                 "45,GPT-4,100,0,100,\"API log, failed\"\n"
                                 "118,ChatGPT,7,2,9,Conversation log\n");
  CHECK(
      events_of(burst) ==
      "  - new: {as: r0, at_ms: 0}\n  - append: \"in.0:472\"\n  - decode: {n: 18, ids: \"gen.0:18\"}\n  - end: r0\n"
      "  - new: {as: r1, at_ms: 113000}\n  - append: \"in.1:7\"\n  - decode: {n: 2, ids: \"gen.1:2\"}\n  - end: r1\n");
  REQUIRE(burst.notes.size() == 1);
  CHECK(burst.notes[0].reason == "no answer");
  CHECK(burst.notes[0].first_line == 3);
}

TEST_CASE("the file says where it comes from and under which licence") {
  const Workload plain = workload_of(import_file("mooncake", trace_path("mooncake_arxiv_head19.jsonl")));
  CHECK(plain.meta.licence == "NOASSERTION");
  CHECK(plain.meta.id == "mooncake_arxiv_head19");
  CHECK(plain.meta.content == "block-hashes");
  CHECK(plain.meta.recorder_name == "kvreplay-import-mooncake");
  ImportOptions options;
  options.licence = "Apache-2.0";
  options.id = "a \"b\" \\ c";
  options.title = "line\nbreak";
  const tests::TraceFile abc(mooncake_rows);
  const Workload named = workload_of(import_file("mooncake", abc.path, options));
  CHECK(named.meta.licence == "Apache-2.0");
  CHECK(named.meta.id == "a \"b\" \\ c");
  CHECK(named.meta.title == "line?break");
  const auto source_of = [](const Workload& workload, const std::string& key) {
    for (const auto& [name, value] : workload.meta.source) {
      if (name == key) return value;
    }
    return std::string("absent");
  };
  CHECK(source_of(plain, "path") == "mooncake_arxiv_head19.jsonl");
  CHECK(source_of(plain, "item") == "19 of 19 rows read");
  // The checksum is of the whole file, whatever part of it is taken; the oracle is sha256sum.
  const Workload one = workload_of(import_file("mooncake", trace_path("mooncake_arxiv_head19.jsonl"), {.rows = 1}));
  CHECK(source_of(one, "sha256") == "66b323cf633b2e2c8bca6fcc39c6fbaf952702ad6a66b3abc5b015a486204162");
  CHECK(source_of(plain, "sha256") == source_of(one, "sha256"));
}

}  // namespace kvreplay::workloads
