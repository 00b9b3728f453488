#include "tests/catch.hpp"
#include "tests/workloads/random_workload.hpp"
#include "tests/workloads/texts.hpp"
#include "workloads/expansion.hpp"

#include <zlib.h>

using namespace kvreplay::workloads;
using namespace kvreplay::workloads::tests;

namespace {

Facts facts_of_example(const std::string& name) {
  const std::string folder = std::string(KVREPLAY_SOURCE_DIR) + "/workloads/recorded/examples/";
  return facts_of(read_workload(folder + name + ".yaml"), {true, true});
}

std::uint32_t crc_of(const Ids& ids) {
  std::string bytes;
  for (const TokenId id : ids) {
    for (int byte = 0; byte < 4; ++byte) bytes += static_cast<char>((id >> (8 * byte)) & 255);
  }
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

}  // namespace

TEST_CASE("the floors of one slot follow the exact keep rule") {
  // 4 fed; the same list again: nothing; a prefix of it: one; 2 kept of 4.
  const Facts facts =
      facts_of(read(with_events("- new: a\n- append: 1 2 3 4\n- eval: 1\n- eval: 1\n- rewind: {by: 1}\n- eval: 1\n"
                                "- rewind: {to: 2}\n- append: 5 6\n- eval: 1\n")),
               {true, false});
  CHECK(facts.tokens_floor_single == 4 + 0 + 1 + 2);
  CHECK(facts.tokens_floor_multi == 4 + 0 + 1 + 2);
  CHECK(facts.tokens_requested == 4 + 4 + 3 + 4);
  CHECK(facts.leaves == 2);
}

TEST_CASE("the tree remembers what one slot forgets") {
  const Facts facts = facts_of(
      read(with_events("- new: a\n- append: 1 2 3\n- eval: 1\n- new: b\n- append: 7 8\n- eval: 1\n- switch: a\n"
                       "- append: 4\n- eval: 1\n- switch: b\n- eval: 1\n")),
      {true, false});
  CHECK(facts.tokens_floor_single == 3 + 2 + 4 + 2);
  CHECK(facts.tokens_floor_multi == 3 + 2 + 1 + 0);
  CHECK(facts.leaves == 2);
}

TEST_CASE("the examples have the fed counts of the format's table") {
  struct Row {
    const char* name;
    Count evaluations, requested, single;
  };
  for (const Row& row :
       {Row{"01_json_fast_forward", 8, 1340, 178}, Row{"02_multi_turn_prefix_reuse", 1615, 4912804, 5059},
        Row{"03_speculative_rejects", 88, 56595, 860}, Row{"04_trace_block_spans", 3937, 11939201, 61884},
        Row{"05_beam_forks", 148, 4449, 321}}) {
    CAPTURE(row.name);
    const Facts facts = facts_of_example(row.name);
    CHECK(facts.evaluations == row.evaluations);
    CHECK(facts.tokens_requested == row.requested);
    CHECK(facts.tokens_floor_single == row.single);
    CHECK(facts.tokens_floor_multi <= facts.tokens_floor_single);
  }
}

TEST_CASE("checksums are CRC-32 over little-endian ids of the final ledgers") {
  const Facts facts = facts_of(
      read(with_events("- new: a\n- append: 1 258 3\n- end: a\n- new: b\n- append: p:2\n- new: c\n")), {false, true});
  CHECK(facts.ledger_crc32.at("a") == crc_of({1, 258, 3}));
  CHECK(facts.ledger_crc32.at("b") == crc_of({11, 12}));
  CHECK(facts.ledger_crc32.at("c") == 0);
  // python3 -c 'import zlib,struct; print(zlib.crc32(struct.pack("<3I", 1, 258, 3)))'
  CHECK(facts.ledger_crc32.at("a") == 379005223u);
}

TEST_CASE("a long ledger is summed up without being held") {
  const Facts facts =
      facts_of(read(with_events(
                   "- new: a\n- append: \"g:900000000\"\n- eval: 1\n- rewind: {to: 5}\n- decode: \"g:50000000@5\"\n")),
               {false, false});
  CHECK(facts.max_length == 900000000);
  CHECK(facts.rewound == 899999995);
  CHECK(facts.tokens_requested == 900000000 + 50000000ll * 5 + 50000000ll * 49999999 / 2);
}

TEST_CASE("random workloads have the facts worked out by comparing every list with every other") {
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    const RandomWorkload expected = random_workload(seed);
    CAPTURE(seed, expected.text);
    const Facts facts = facts_of(read(expected.text), {true, true});
    REQUIRE(facts.evaluations == expected.facts.evaluations);
    REQUIRE(facts.sampled == expected.facts.sampled);
    REQUIRE(facts.appended == expected.facts.appended);
    REQUIRE(facts.rewinds == expected.facts.rewinds);
    REQUIRE(facts.rewound == expected.facts.rewound);
    REQUIRE(facts.drafted == expected.facts.drafted);
    REQUIRE(facts.accepted == expected.facts.accepted);
    REQUIRE(facts.forks == expected.facts.forks);
    REQUIRE(facts.max_length == expected.facts.max_length);
    REQUIRE(facts.final_length == expected.facts.final_length);
    REQUIRE(facts.tokens_requested == expected.facts.tokens_requested);
    REQUIRE(facts.tokens_floor_single == expected.facts.tokens_floor_single);
    REQUIRE(facts.tokens_floor_multi == expected.facts.tokens_floor_multi);
    REQUIRE(facts.leaves == expected.facts.leaves);
    for (const auto& [name, list] : expected.final_lists) REQUIRE(facts.ledger_crc32.at(name) == crc_of(list));
  }
}
