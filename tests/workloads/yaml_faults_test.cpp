// Faults of the text itself: what public bug reports say YAML readers get wrong.
#include "tests/catch.hpp"
#include "tests/workloads/texts.hpp"
#include "workloads/expansion.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace kvreplay::workloads;
using namespace kvreplay::workloads::tests;

namespace {

const std::string good = with_rest("");

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("duplicate keys are refused with both lines, wherever they are") {
  CHECK(refusal(good + "format: kv-workload/1\n") ==
        "w.yaml:4:1: format: duplicate key 'format' on line 4, first on line 1");
  CHECK(refusal(with_rest("x-a: {a: 1, a: 1}\n")) ==
        "w.yaml:3:13: x-a.a: duplicate key 'a' on line 3, first on line 3");
  CHECK(refusal(with_events("- new: a\n- append: 1\n- decode:\n    n: 1\n    ids: 1\n    n: 2\n")) ==
        "w.yaml:11:5: events[2].decode.n: duplicate key 'n' on line 11, first on line 9");
  std::string many;
  for (int i = 0; i < 40; ++i) many += "  k" + std::to_string(i) + ": 1\n";
  CHECK(refusal(with_rest("x-many:\n" + many)) == "accepted");
  CHECK(refusal(with_rest("x-many:\n" + many + "  k20: 2\n")) ==
        "w.yaml:44:3: x-many.k20: duplicate key 'k20' on line 44, first on line 24");
}

TEST_CASE("anchors, aliases, merge keys and tags are refused by name") {
  const std::string why = ": anchors, aliases and merge keys ('<<') are not part of the format";
  CHECK(refusal(with_rest("x-base: &b {window: 4}\nx-run: {<<: *b, tokens: 10}\n")) ==
        "w.yaml:3:9: x-base: anchor '&b'" + why);
  CHECK(refusal(with_rest("x-run: {<<: *b, tokens: 10}\n")) == "w.yaml:3:13: alias '*b'" + why);
  CHECK(refusal(with_rest("x-run: {<<: {a: 1}}\n")) ==
        "w.yaml:3:9: x-run.<<: merge keys ('<<') are not part of the format");
  CHECK(refusal(with_rest("x-a: !!str 5\n")) == "w.yaml:3:6: x-a: tags are not part of the format");
  CHECK(refusal(with_rest("x-a: ! 5\n")) == "w.yaml:3:6: x-a: tags are not part of the format");
  CHECK(refusal(with_rest("x-a: !mine {b: 1}\n")) == "w.yaml:3:6: x-a: tags are not part of the format");
  CHECK(refusal(with_rest("x-a: !!str &a 5\n")) == "w.yaml:3:6: x-a: anchor '&a'" + why);
}

TEST_CASE("an alias bomb is refused at its first anchor") {
  std::string bomb = "x-a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "x-a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + repeated(", " + before, 9) + "]\n";
  }
  CHECK(refusal(with_rest(bomb)) ==
        "w.yaml:3:7: x-a0: anchor '&a0': anchors, aliases and merge keys ('<<') are not part of the format");
}

TEST_CASE("eight levels of nesting are read, any more are refused") {
  CHECK(refusal(with_rest("x-a: [[[[[[[1]]]]]]]\n")) == "accepted");
  const std::string too_deep = "nested too deeply: at most 8 levels of maps and lists";
  CHECK(refusal(with_rest("x-a: [[[[[[[[1]]]]]]]]\n")) == "w.yaml:3:13: x-a[0][0][0][0][0][0][0]: " + too_deep);
  for (const int depth : {100, 499, 500, 20000}) {
    CAPTURE(depth);
    std::string maps;
    for (int i = 0; i < std::min(depth, 2000); ++i) maps += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    const std::string open = repeated("[", depth);
    for (const std::string& text : {open, open + repeated("]", depth), "x-a: " + open, repeated("- ", depth) + "a",
                                    maps, repeated("{a: ", depth), repeated("{", depth), repeated("? ", depth)}) {
      const std::string message = refusal(text);
      CHECK(message.starts_with("w.yaml:"));
      CHECK(message.ends_with(too_deep));
    }
  }
}

TEST_CASE("line ends, byte-order mark, tabs after colons and a missing last line end change nothing") {
  const std::string text =
      with_rest("tokenizer:\n  name: \"two words\"\n  vocab: 500\nstreams:\n  s:\n    ids: >-\n      1 2\n      3\n");
  const std::string crlf = replaced(text, "\n", "\r\n");
  const std::string tabs = replaced(text, "vocab: ", "vocab:\t");
  for (const std::string& variant :
       {text, crlf, "\xEF\xBB\xBF" + text, "\xEF\xBB\xBF" + crlf, text.substr(0, text.size() - 1), tabs}) {
    const Workload workload = read(variant);
    CHECK(workload.tokenizer_name == "two words");
    CHECK(workload.vocab == 500);
    CHECK(workload.streams[0].ids == std::vector<TokenId>{1, 2, 3});
    CHECK(workload.events.size() == 3);
    CHECK(workload.events[0].mark == SourceMark{11, 10});
  }
}

TEST_CASE("indentation by tabs is refused with a hint") {
  const std::string hint = " (the line is indented with a tab; YAML allows only blanks there)";
  CHECK(refusal("format: kv-workload/1\nmeta:\n\tid: a\n") == "w.yaml:3:4: not valid YAML: illegal map value" + hint);
  CHECK(refusal("format: kv-workload/1\nmeta:\n  id: a\n\ttitle: b\n") ==
        "w.yaml:4:1: not valid YAML: illegal tab when looking for indentation" + hint);
}

TEST_CASE("bytes that are no text are refused at their place") {
  using namespace std::string_literals;
  CHECK(refusal("format: kv\0"s) == "w.yaml:1:11: a NUL byte; the file is not text");
  CHECK(refusal("a: 1\nb: \x01\n") == "w.yaml:2:4: control character 0x01");
  CHECK(refusal("a: \xC3(\n") == "w.yaml:1:4: not valid UTF-8 (byte 0xC3)");
  CHECK(refusal("a: \xC0\x80\n") == "w.yaml:1:4: not valid UTF-8 (byte 0xC0)");
  CHECK(refusal("a: \xED\xA0\x80\n") == "w.yaml:1:4: not valid UTF-8 (byte 0xED)");
  CHECK(refusal("a: \xC3\xA4\xF5\n") == "w.yaml:1:5: not valid UTF-8 (byte 0xF5)");
  CHECK(refusal("\xFF\xFE\x66\0"s) == "w.yaml:1:1: not valid UTF-8 (byte 0xFF); the file looks like UTF-16");
  CHECK(refusal("a: 1\r\r\nb: 2\n") == "w.yaml:1:5: a carriage return that is not part of a CRLF line end");
}

TEST_CASE("columns count characters, not bytes") {
  CHECK(refusal("format: kv-workload/1\nmeta: {id: a, title: \"\xC3\xBC\xE2\x82\xAC\", foo: 1}\n")
            .starts_with("w.yaml:2:28: meta.foo: unknown key 'foo'"));
  CHECK(refusal("format: kv-workload/1\nmeta: {id: a, title: \"\xC3\xBC\xE2\x82\xAC\", foo: &a 1}\n")
            .starts_with("w.yaml:2:33: meta.foo: anchor '&a'"));
}

TEST_CASE("texts without one workload are refused") {
  for (const std::string nothing : {"", "\n\n", "# a comment\n", "---\n", "---\n...\n", "null\n", "~"}) {
    CHECK(refusal(nothing) == "w.yaml: no workload in the file: it is empty");
  }
  CHECK(refusal(good + "---\n" + good) ==
        "w.yaml:4:1: more than one document in the file (from here on); give each its own file");
  CHECK(refusal(good + "---\n") ==
        "w.yaml:4:1: more than one document in the file (from here on); give each its own file");
  CHECK(refusal("---\n" + good + "...\n") == "accepted");
  CHECK(
      refusal("- a\n") ==
      "w.yaml:1:1: expected a map with the keys format, meta, tokenizer, model, streams, events, expect; found a list");
  CHECK(
      refusal("word\n") ==
      "w.yaml:1:1: expected a map with the keys format, meta, tokenizer, model, streams, events, expect; found 'word'");
}

TEST_CASE("text that is not YAML is refused with its place") {
  CHECK(refusal("format: kv-workload/1\nevents: [{new: a}\n") ==
        "w.yaml:3:1: not valid YAML: end of sequence flow not found");
  CHECK(refusal("format: \"kv") == "w.yaml:1:12: not valid YAML: illegal EOF in scalar");
  const std::string open = ": the quote that begins here is not closed";
  CHECK(refusal("format: \"kv\n") == "w.yaml:1:9: format" + open);
  CHECK(refusal("format: \"kv\\\"\n") == "w.yaml:1:9: format" + open);
  CHECK(refusal("format: 'it''s\n") == "w.yaml:1:9: format" + open);
  CHECK(refusal(with_events("- new: a\n- append: \"1 2\n")) == "w.yaml:7:11: events[1].append" + open);
  CHECK(refusal(with_rest("x-a: \"\\\"\n  b\"\nx-b: 'it''s\n  c'\n")) == "accepted");
  CHECK(refusal("format: a\n[a]: 5\n") == "w.yaml:2:1: a key must be text, found a list");
  CHECK(refusal("format: {a: 1}}\n").starts_with("w.yaml:1:"));
}

TEST_CASE("files that cannot be read are refused by name") {
  const auto error_for = [](const std::string& path) {
    try {
      read_workload(path);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "kvreplay-test-reader";
  std::filesystem::create_directories(folder);
  CHECK(error_for(folder) == folder.string() + ": is a directory, expected a file");
  CHECK(error_for(folder / "none.yaml") == (folder / "none.yaml").string() + ": file not found");
  CHECK(error_for(folder / "none" / "x.yaml") == (folder / "none" / "x.yaml").string() + ": file not found");

  const std::string large = folder / "large.yaml";
  std::ofstream(large, std::ios::binary) << std::string((16u << 20) + 1, '#');
  CHECK(error_for(large) == large + ": larger than 16 MiB (16777216 bytes), the largest allowed");
  std::ofstream(large, std::ios::binary) << good << std::string((16u << 20) - good.size(), '#');
  CHECK(error_for(large) == "accepted");
  std::filesystem::remove_all(folder);
}

TEST_CASE("the hash of a workload is that of its bytes") {
  // sha256sum of the same bytes
  const Workload workload = read("format: kv-workload/1\nmeta: {id: a, title: b}\nevents: [{new: s}]\n");
  CHECK(workload.sha256 == "72e4dcdf279bca38f3e83c243b8dc126811c4b95b0506ddf145d4605425fc54a");
}
