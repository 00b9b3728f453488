// The fast parser must give yaml-cpp's tree or give up. yaml-cpp is the oracle.
#include "tests/catch.hpp"
#include "workloads/input_error.hpp"
#include "workloads/yaml/parsers.hpp"
#include "workloads/yaml/source_text.hpp"

#include <filesystem>
#include <random>
#include <string>

using namespace kvreplay::workloads;
using namespace kvreplay::workloads::yaml;

namespace {

// Everything a reader can see of a tree.
std::string printed(const Document& document) {
  std::string text;
  for (NodeIndex i = 0; i < document.num_nodes(); ++i) {
    const Node& node = document.node(i);
    text += std::to_string(static_cast<int>(node.kind)) + (node.quoted ? "q" : "p") + " " +
            std::to_string(node.mark.line) + ":" + std::to_string(node.mark.column) + " @" +
            std::to_string(node.offset) + " ^" + std::to_string(node.parent) + " >" + std::to_string(node.next) + " v" +
            std::to_string(node.first_child) + " [" + std::string(node.text) + "]\n";
  }
  return text;
}

// "" if yaml-cpp refuses the text.
std::string by_yaml_cpp(const std::string& source) {
  try {
    return printed(*parse_any("f", source));
  } catch (const InputError&) {
    return "";
  }
}

// Whether the fast parser read the text; fails if it read it differently.
bool agrees_and_reads(const std::string& source) {
  const auto regular = parse_regular("f", source);
  if (!regular) return false;
  CAPTURE(source);
  REQUIRE(printed(*regular) == by_yaml_cpp(source));
  return true;
}

std::vector<std::string> shipped_texts() {
  std::vector<std::string> texts;
  const std::filesystem::path folder = std::filesystem::path(KVREPLAY_SOURCE_DIR) / "workloads" / "recorded";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") texts.push_back(normalised_text(read_file(entry.path()), entry.path()));
  }
  return texts;
}

}  // namespace

TEST_CASE("the fast parser reads every shipped workload, as yaml-cpp does") {
  const std::vector<std::string> texts = shipped_texts();
  REQUIRE(texts.size() >= 51);
  for (const std::string& text : texts) CHECK(agrees_and_reads(text));
}

TEST_CASE("the fast parser reads the regular style") {
  CHECK(agrees_and_reads("a: 1"));
  CHECK(agrees_and_reads("a: 1\nb: \"x y\"  # why\n\n# c\nc: 'z'\n"));
  CHECK(agrees_and_reads("a:\n- b: 1\n  c: 2\n- d\nb:\n  - [1, 2]\n  - {x: {y: 1}}\n"));
  CHECK(agrees_and_reads("a:  # why\n    b:\n      - c:\n          d: 1\n  # less\n    e: 2\nf: []\ng: {}\n"));
  CHECK(agrees_and_reads("a: >-\n  1 2\n  3 # no comment\n\n\nb: >-\n    4\n"));
  CHECK(agrees_and_reads("a:\n  b: >-\n    1 2\n# c\n  c: 3\n"));
  CHECK(agrees_and_reads("a: http://x.y/z q\nb: x, y [z] {w} & * !\nc: {p: out:1, q: a:b:c}\n"));
  CHECK(agrees_and_reads("a: {b: \"\xC3\xBC\", c: 1}\nd: x \xE2\x82\xAC 1\n"));
}

TEST_CASE("the fast parser gives up where YAML is not regular") {
  for (const std::string text : {"",
                                 "# c\n",
                                 "---\na: 1\n",
                                 "a: 1\n...\n",
                                 "a: &b 1\n",
                                 "a: *b\n",
                                 "a: !t 1\n",
                                 "a:\tb\n",
                                 "a: b\tc\n",
                                 "a:\n\tb: 1\n",
                                 "a: ~\n",
                                 "a: null\n",
                                 "a:\nb: 1\n",
                                 "null: 1\n",
                                 "a: 1\n  b\n",
                                 "a: \"1\n  2\"\n",
                                 "a: \"\\n\"\n",
                                 "a: 'it''s'\n",
                                 "a: {b: 1,\n c: 2}\n",
                                 "a: {b: 1,}\n",
                                 "a: {\"b\":1}\n",
                                 "a: |\n  x\n",
                                 "a: >\n  x\n",
                                 "a: >-\n  x\n   y\n",
                                 "a: >-\n  x\n\n  y\n",
                                 "? a\n: b\n",
                                 "- - a\n",
                                 "-\n  a\n",
                                 "a: b: c\n",
                                 "a: b:\n",
                                 "a: - b\n",
                                 "a: \"x\"y\n",
                                 "a: [1] 2\n",
                                 "a: 1\n b: 2\n",
                                 "  a: 1\nb: 2\n",
                                 "a:\n  - b\n c\n",
                                 "<<: 1\n",
                                 "a: {b: x: y}\n",
                                 "a: {b, c}\n",
                                 "a: @b\n",
                                 "a: %b\n",
                                 "a: `b\n",
                                 "%YAML 1.2\n---\na: 1\n",
                                 "a: [b #c\n]\n",
                                 "a: [[[[[[[[1]]]]]]]]\n"}) {
    CAPTURE(text);
    CHECK(parse_regular("f", text) == nullptr);
  }
}

TEST_CASE("the fast parser never reads a text otherwise than yaml-cpp, whatever is done to it") {
  std::vector<std::string> texts = shipped_texts();
  texts.push_back("a:\n  - b: 1\n    c: {d: [1, \"x\"], e: 'y'}\n  - f\n# g\nh: >-\n    1 2\n    3\n\ni: j k # l\n");
  const std::string alphabet = "ab1 \n\n  :-#{}[],\"'>|&*!~?%@.\t";
  std::mt19937 random(11);
  int read = 0;
  for (int round = 0; round < 8000; ++round) {
    // The beginning of a text, so that yaml-cpp stays quick.
    std::string text = texts[random() % texts.size()];
    text.resize(std::min<std::size_t>(text.size(), 100 + random() % 900));
    text.resize(text.rfind('\n') + 1);
    for (std::size_t changes = 1 + random() % 2; changes > 0 && !text.empty(); --changes) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        default:
          text.erase(at, 1);
      }
    }
    read += agrees_and_reads(text);
  }
  CHECK(read > 1000);
}

TEST_CASE("the fast parser never reads random lines otherwise than yaml-cpp") {
  const std::vector<std::string> pieces{"a: 1\n", "b:\n",    "- c\n",          "- d: 2\n", "  ",           "    ",
                                        "# e\n",  "f: >-\n", "g h\n",          "\n",       "i: {j: k}\n",  "- [l, m]\n",
                                        "- n:\n", "\"o\"\n", "p: \"q\" # r\n", "s: 't'\n", "- \"u: v\"\n", "w: x y\n",
                                        " ",      "- - z\n", "k: null\n"};
  std::mt19937 random(12);
  int read = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string text;
    for (std::size_t i = 1 + random() % 8; i > 0; --i) text += pieces[random() % pieces.size()];
    read += agrees_and_reads(text);
  }
  CHECK(read > 1000);
}
