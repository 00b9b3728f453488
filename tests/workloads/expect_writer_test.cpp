#include "workloads/expect_writer.hpp"
#include "tests/catch.hpp"
#include "tests/workloads/random_workload.hpp"
#include "tests/workloads/texts.hpp"
#include "workloads/yaml/source_text.hpp"

#include <filesystem>

using namespace kvreplay::workloads;
using namespace kvreplay::workloads::tests;

namespace {

std::string written(const std::string& text) { return text_with_expect(text, "w.yaml"); }

std::string refusal_to_write(const std::string& text) {
  try {
    written(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string with_crlf(const std::string& text) {
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  return crlf;
}

// One list of 3 tokens, evaluated, rewound by 1 and evaluated again: 3 + 1 of 3 + 2 tokens.
const std::string events =
    "format: kv-workload/1\nmeta: {id: a, title: b}\nevents:\n  - new: s\n  - append: 1 2 3\n  - eval: 1\n  - rewind: "
    "{by: 1}\n  - eval: 1\n";
const std::string block =
    "  evals: 2\n  sampled: 0\n  appended: 3\n  rewinds: 1\n  rewound: 1\n  drafted: 0\n  accepted: 0\n  forks: 0\n"
    "  final: {s: 2}\n  max_length: 3\n  min_fed: 4\n  min_fed_unlimited: 4\n  max_fed: 5\n";

}  // namespace

TEST_CASE("a missing expect block is put last") {
  CHECK(written(events) == events + "expect:\n" + block);
  CHECK(written(events + "# the end") == events + "# the end\nexpect:\n" + block);
  CHECK(written(with_crlf(events)) == with_crlf(events + "expect:\n" + block));
  CHECK(written("\xEF\xBB\xBF" + events) == "\xEF\xBB\xBF" + events + "expect:\n" + block);
}

TEST_CASE("missing keys are put first, wrong numbers replaced in place, all else stays") {
  const std::string before =
      events +
      "expect:  # checked\n  # by hand\n  evals:   '9' # two\n  x-mine: {a: [1,  2]}\n  final:\n      s: 7  # tokens\n"
      "  max_length: 3\n  check: {logits: [all],  tolerance: 1e-4}\n  observed:\n"
      "    - {engine: \"e\", policy: \"crop:keep=seed\", fed: 12, x-more: yes}\n\n# end\n";
  const std::string after =
      events +
      "expect:  # checked\n  # by hand\n  sampled: 0\n  appended: 3\n  rewinds: 1\n  rewound: 1\n  drafted: 0\n"
      "  accepted: 0\n  forks: 0\n  min_fed: 4\n  min_fed_unlimited: 4\n  max_fed: 5\n"
      "  evals:   2 # two\n  x-mine: {a: [1,  2]}\n  final:\n      s: 2  # tokens\n"
      "  max_length: 3\n  check: {logits: [all],  tolerance: 1e-4}\n  observed:\n"
      "    - {engine: \"e\", policy: \"crop:keep=seed\", fed: 12, x-more: yes}\n\n# end\n";
  CHECK(written(before) == after);
  CHECK(written(after) == after);
  CHECK(written(with_crlf(before)) == with_crlf(after));
}

TEST_CASE("a block in flow style is filled in as such") {
  CHECK(written(events + "expect: {}\n") == events +
                                                "expect: {evals: 2, sampled: 0, appended: 3, rewinds: 1, rewound: 1, "
                                                "drafted: 0, accepted: 0, forks: 0, final: {s: 2}, "
                                                "max_length: 3, min_fed: 4, min_fed_unlimited: 4, max_fed: 5}\n");
  CHECK(
      written(events + "expect: {max_fed: 9, final: {}, evals: \"1\",\n  min_fed: 3}\n") ==
      events +
          "expect: {sampled: 0, appended: 3, rewinds: 1, rewound: 1, drafted: 0, accepted: 0, forks: 0, max_length: 3, "
          "min_fed_unlimited: 4, max_fed: 5, final: {s: 2}, evals: 2,\n  min_fed: 4}\n");
}

TEST_CASE("checksums are updated where they are given and never added") {
  // python3 -c 'import zlib,struct; print(zlib.crc32(struct.pack("<2I", 1, 2)))'
  const std::string text = written(events + "expect:\n  ledger_crc32: {s: 5}\n");
  CHECK(text.find("  ledger_crc32: {s: 58791804}\n") != std::string::npos);
  CHECK(written(events).find("crc") == std::string::npos);
}

TEST_CASE("many sequences are listed one a line") {
  std::string many = "format: kv-workload/1\nmeta: {id: a, title: b}\nevents:\n";
  for (int i = 0; i < 25; ++i) many += "  - new: s" + std::to_string(i) + "\n";
  const std::string text = written(many);
  CHECK(text.find("  final:\n    s0: 0\n    s1: 0\n") != std::string::npos);
  CHECK(refusal(text) == "accepted");
}

TEST_CASE("files that cannot be edited safely are refused") {
  CHECK(refusal_to_write("{format: kv-workload/1, meta: {id: a, title: b}, events: [{new: s}]}\n") ==
        "w.yaml:1:1: the file is in flow style ({...}); expect cannot be added to it");
  CHECK(refusal_to_write(events + "expect:\n  evals: >-\n    7\n") ==
        "w.yaml:10:10: expect.evals: write this number plainly, so that it can be updated");
  CHECK(refusal_to_write(events + "...\n").starts_with("w.yaml: expect: cannot be written in this layout"));
  CHECK(refusal_to_write(events + "expect: {evls: 1}\n").starts_with("w.yaml:9:10: expect.evls: unknown key"));
  CHECK(refusal_to_write(events + "expect: {final: {t: 1}}\n") ==
        "w.yaml:9:18: expect.final.t: no sequence is called 't'");
}

TEST_CASE("what is written for random workloads is accepted, and is what plain lists give") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const RandomWorkload expected = random_workload(seed);
    CAPTURE(seed, expected.text);
    const std::string text = written(expected.text);
    REQUIRE(refusal(text) == "accepted");
    const Expect given = read(text).expect;
    REQUIRE(given.evals->value == expected.facts.evaluations);
    REQUIRE(given.min_fed->value == expected.facts.tokens_floor_single);
    REQUIRE(given.min_fed_unlimited->value == expected.facts.tokens_floor_multi);
    REQUIRE(given.max_fed->value == expected.facts.tokens_requested);
    REQUIRE(given.final_length.size() == expected.facts.final_length.size());
    REQUIRE(written(text) == text);
  }
}

TEST_CASE("every shipped workload can be filled in, and only lines of expect change") {
  const std::filesystem::path folder = std::filesystem::path(KVREPLAY_SOURCE_DIR) / "workloads" / "recorded";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string before = yaml::read_file(entry.path());
    const std::string after = text_with_expect(before, entry.path());
    const std::size_t expect = before.find("\nexpect:");
    REQUIRE(expect != std::string::npos);
    CHECK(after.substr(0, expect) == before.substr(0, expect));
    const std::size_t observed = before.find("  observed:");
    if (observed != std::string::npos) CHECK(after.ends_with(before.substr(observed)));
  }
}
