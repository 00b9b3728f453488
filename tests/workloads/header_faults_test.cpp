// Faults in meta, tokenizer, model, streams and expect.
#include "tests/catch.hpp"
#include "tests/workloads/texts.hpp"

#include <vector>

using namespace kvreplay::workloads;
using namespace kvreplay::workloads::tests;

namespace {

struct Refused {
  const char* text;
  const char* message;
};

void check_all(const std::vector<Refused>& cases) {
  for (const Refused& refused : cases) CHECK(refusal(refused.text) == refused.message);
}

}  // namespace

TEST_CASE("keys and values outside the events are checked") {
  check_all({
      {"format: kv-workload/1\n", "w.yaml:1:1: missing key 'meta': expected a map with id and title"},
      {"meta: {id: a, title: b}\nevents: [{new: a}]\n", "w.yaml:1:1: missing key 'format': expected kv-workload/1"},
      {"format: kv-workload/2\n", "w.yaml:1:9: format: expected the format kv-workload/1, found 'kv-workload/2'"},
      {"format: kv-suite/1\nworkloads: [a]\n",
       "w.yaml:1:9: format: this is a suite (kv-suite/1), not a workload; 'run' and 'check' take suites"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents: []\n",
       "w.yaml:3:9: events: no events: expected at least one"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents: {new: a}\n",
       "w.yaml:3:9: events: expected a list of events, found a map"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents:\n",
       "w.yaml:3:1: events: expected a list of events, found nothing"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nwindw: 4\nevents: [{new: a}]\n",
       "w.yaml:3:1: windw: unknown key 'windw'; valid here: format, meta, tokenizer, model, streams, events, expect"},
      {"format: kv-workload/1\nmeta: {id: a, title: b, recorded: 2026-01-01}\nevents: [{new: a}]\n",
       "w.yaml:2:35: meta.recorded: quote the date: \"2026-01-01\""},
      {"format: kv-workload/1\nmeta: {id: a, title: b, recorded: \"2026-02-29\"}\nevents: [{new: a}]\n",
       "w.yaml:2:35: meta.recorded: expected a quoted ISO date such as \"2026-03-23\", found '2026-02-29'"},
      {"format: kv-workload/1\nmeta: {id: a, title: b, content: words}\nevents: [{new: a}]\n",
       "w.yaml:2:34: meta.content: expected the kind of content, one of exact-ids, permuted-ids, block-hashes, "
       "lengths, structure; found 'words'"},
      {"format: kv-workload/1\nmeta: {id: \"a\\nb\", title: b}\nevents: [{new: a}]\n",
       "w.yaml:2:12: meta.id: expected text without control characters and line breaks, found 'a b'"},
      {"format: kv-workload/1\nmeta: {id: \"\", title: b}\nevents: [{new: a}]\n",
       "w.yaml:2:12: meta.id: expected text, found an empty one"},
      {"format: kv-workload/1\nmeta: {id: a, title: null}\nevents: [{new: a}]\n",
       "w.yaml:2:22: meta.title: expected text, found nothing"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nmodel: {profile: x, checkpoint: y}\nevents: [{new: a}]\n",
       "w.yaml:3:33: model.checkpoint: give either a profile or a checkpoint, not both"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nmodel: {sliding_window: 010}\nevents: [{new: a}]\n",
       "w.yaml:3:25: model.sliding_window: expected a whole number from 1 to 2147483647, found '010' (write it without "
       "leading zeros)"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nmodel: {sliding_window: -4}\nevents: [{new: a}]\n",
       "w.yaml:3:25: model.sliding_window: expected a whole number from 1 to 2147483647, found '-4'"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nmodel: {num_layers: 0}\nevents: [{new: a}]\n",
       "w.yaml:3:21: model.num_layers: expected a whole number from 1 to 2147483647, found '0'"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nmodel: {dtype: fp16}\nevents: [{new: a}]\n",
       "w.yaml:3:16: model.dtype: expected the element type of the cache, one of fp32, bf16; found 'fp16'"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nmodel: {rope_theta: nan}\nevents: [{new: a}]\n",
       "w.yaml:3:21: model.rope_theta: expected a decimal number of at least 0, found 'nan'"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\ntokenizer: {vocab: 256}\nstreams: {a: {seed: 1}}\nevents: "
       "[{new: a}]\n",
       "w.yaml:4:14: streams.a: a generated stream needs a vocabulary of more than 256 ids, but it has 256"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nstreams: {a: {seed: 1, ids: 5}}\nevents: [{new: a}]\n",
       "w.yaml:3:14: streams.a: expected either ids (a literal stream) or seed (a generated one)"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nstreams: {a: {seed: 1, indexed: yes}}\nevents: [{new: a}]\n",
       "w.yaml:3:33: streams.a.indexed: expected true or false, found 'yes'"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nstreams: {\"a b\": {seed: 1}}\nevents: [{new: a}]\n",
       "w.yaml:3:11: streams.a b: expected a name of letters, digits and _ that begins with no digit, found 'a b'"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nstreams: {a: {ids: 1 2 b:3}}\nevents: [{new: a}]\n",
       "w.yaml:3:20: streams.a.ids: item 3 'b:3': expected a token id or NAME[.A[-B]]:COUNT[@OFFSET]; numbers are "
       "decimal without leading zeros"},
      {"format: kv-workload/1\nmeta: {id: a, title: \"üü\", foo: 1}\n",
       "w.yaml:2:28: meta.foo: unknown key 'foo'; valid here: id, title, recorder, source, licence, recorded, content, "
       "notes"},
  });
}

TEST_CASE("expectations that do not fit the events are refused") {
  check_all({
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents: [{new: a}]\nexpect: {evals: 1}\n",
       "w.yaml:4:17: expect.evals: the file says 1, but its events give 0"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents: [{new: a}]\nexpect: {final: {b: 1}}\n",
       "w.yaml:4:18: expect.final.b: no sequence is called 'b'"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents: [{new: a}, {append: 1 2 3}, {eval: 1}]\nexpect: "
       "{final: {a: 2}}\n",
       "w.yaml:4:21: expect.final.a: the file says 2, but its events give 3"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents: [{new: a}, {append: 1 2 3}, {eval: 1}]\nexpect: "
       "{final: {a: 3}, ledger_crc32: {a: 1}}\n",
       "w.yaml:4:43: expect.ledger_crc32.a: the file says 1, but its events give 2967478931"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents: [{new: a}, {append: 1 2 3}, {eval: 1}]\nexpect: "
       "{min_fed: 2}\n",
       "w.yaml:4:19: expect.min_fed: the file says 2, but its events give 3"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents: [{new: a}, {append: 1 2 3}, {eval: 1}]\nexpect: "
       "{check: {logits: [1]}}\n",
       "w.yaml:4:17: expect.check: logits names evaluation 1, but there are 1, counted from 0"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents: [{new: a}, {append: 1 2 3}, {eval: 1}]\nexpect: "
       "{check: {logits: [all], tolerance: 1e-4}, observed: [{engine: e}]}\n",
       "w.yaml:4:62: expect.observed[0]: missing key 'policy': expected the --policy text that stands for the engine"},
      {"format: kv-workload/1\nmeta: {id: a, title: b}\nevents: [{new: a}, {append: 1 2 3}, {eval: 1}]\nexpect: "
       "{observed: {engine: e}}\n",
       "w.yaml:4:20: expect.observed: expected a list of observations, found a map"},
  });
}

TEST_CASE("numbers in octal, hexadecimal or scientific form are refused everywhere") {
  for (const std::string number : {"010", "08", "0o10", "0x10", "1e3", "1.0", "1_000", "1,000", "one", "0b1", "--1",
                                   "+", "9223372036854775808", "99999999999999999999"}) {
    CAPTURE(number);
    const std::string window = refusal(with_rest("model: {sliding_window: " + number + "}\n"));
    CHECK(window.starts_with("w.yaml:3:"));
    CHECK(window.find("model") != std::string::npos);
    CHECK(refusal(with_rest("tokenizer: {vocab: \"" + number + "\"}\n"))
              .starts_with("w.yaml:3:20: tokenizer.vocab: expected a whole number"));
  }
  for (const std::string number : {"16", "+16", "'16'", "\" 16 \""}) {
    const Workload workload = read(with_rest("model: {sliding_window: " + number + "}\n"));
    REQUIRE(workload.model.overrides.size() == 1);
    CHECK(workload.model.overrides[0].second.value == "16");
    CHECK(workload.model.overrides[0].second.mark == SourceMark{3, 25});
  }
}

TEST_CASE("seeds have 64 bits, negative ones as two's complement") {
  const auto seed_of = [](const std::string& text) {
    return read(with_rest("streams: {s: {seed: " + text + "}}\n")).streams[0].seed;
  };
  CHECK(seed_of("0") == 0);
  CHECK(seed_of("-1") == 18446744073709551615ull);
  CHECK(seed_of("18446744073709551615") == 18446744073709551615ull);
  CHECK(refusal(with_rest("streams: {s: {seed: 18446744073709551616}}\n"))
            .starts_with("w.yaml:3:21: streams.s.seed: expected a seed"));
  CHECK(refusal(with_rest("streams: {s: {seed: 1.5}}\n")).starts_with("w.yaml:3:21: streams.s.seed: expected a seed"));
}

TEST_CASE("everything a header can say is kept") {
  const Workload workload = read(
      "format: kv-workload/1\n"
      "x-note: {anything: [1, {a: b}]}\n"
      "meta:\n  id: no\n  title: \"off\"\n  recorder: {name: r, version: \"1\"}\n"
      "  source: {repo: o/n, commit: abc, path: p, item: i, url: u, x-more: 1}\n  licence: MIT OR Apache-2.0\n"
      "  recorded: \"2024-02-29\"\n  content: lengths\n  notes: |\n    one\n    two\n  x-mine: 1\n"
      "tokenizer: {name: t, vocab: 300}\n"
      "model: {checkpoint: ../m, num_layers: +2, attn_softcap: off, rope_theta: 1e4, dtype: bf16, seed: -1, "
      "recorded_with: {a: {b: 1}}}\n"
      "streams:\n  lit: {ids: 1 2 3}\n  gen: {seed: 5, indexed: true}\n"
      "events:\n  - new: {as: n, at_ms: 1.5}\n    x-why: because\n");
  CHECK(workload.meta.id == "no");
  CHECK(workload.meta.title == "off");
  CHECK(workload.meta.recorder_name == "r");
  CHECK(workload.meta.recorder_version == "1");
  CHECK(workload.meta.source.size() == 5);
  CHECK(workload.meta.licence == "MIT OR Apache-2.0");
  CHECK(workload.meta.recorded == "2024-02-29");
  CHECK(workload.meta.content == "lengths");
  CHECK(workload.meta.notes == "one\ntwo\n");
  CHECK(workload.vocab == 300);
  CHECK(workload.model.checkpoint->value == "../m");
  std::string overrides;
  for (const auto& [key, given] : workload.model.overrides) overrides += key + "=" + given.value + " ";
  CHECK(overrides == "num_layers=2 attn_softcap=off rope_theta=10000 dtype=bf16 seed=18446744073709551615 ");
  CHECK(workload.streams[0].ids == std::vector<TokenId>{1, 2, 3});
  CHECK(workload.streams[1].generated);
  CHECK(workload.streams[1].indexed);
  CHECK(std::get<NewSequence>(workload.events[0].what).at_ms == 1.5);
}

TEST_CASE("a licence has the form of an SPDX expression") {
  const auto with = [](const std::string& licence) {
    return "format: kv-workload/1\nmeta: {id: a, title: b, licence: \"" + licence + "\"}\nevents: [{new: a}]\n";
  };
  for (const std::string good :
       {"MIT", "NOASSERTION", "GPL-2.0+", "LicenseRef-mine.1", "DocumentRef-a:LicenseRef-b", "MIT OR Apache-2.0",
        "Apache-2.0 AND PSF-2.0", "GPL-2.0-only WITH Classpath-exception-2.0 OR MIT",
        "(MIT OR (Apache-2.0 WITH LLVM-exception)) AND CC0-1.0"}) {
    CHECK(read(with(good)).meta.licence == good);
  }
  for (const std::string bad :
       {"foo bar (((", "foo bar", "AND", "MIT OR", "OR MIT", "MIT and CC0-1.0", "MIT AND OR X", "(MIT", "MIT)", "()",
        "MIT (X)", "(MIT) X", "MIT WITH (X)", "(MIT) WITH X", "MIT WITH X WITH Y", "MIT+X", "+", "MIT;X"}) {
    INFO(bad);
    CHECK(refusal(with(bad)).starts_with("w.yaml:2:34: meta.licence: expected an SPDX licence expression"));
  }
}

TEST_CASE("the vocabulary is the tokenizer's, else the model's, else Gemma 2's") {
  const ModelVocab model_vocab = [](const ModelRequest& model, const std::string& path) {
    CHECK(path == "w.yaml");
    return model.profile && model.profile->value == "small" ? Count{5} : Count{0};
  };
  const auto vocab_of = [&](const std::string& rest) {
    return read_workload_text(with_rest(rest), "w.yaml", model_vocab).vocab;
  };
  CHECK(vocab_of("tokenizer: {vocab: 7}\nmodel: {profile: small, vocab_size: 6}\n") == 7);
  CHECK(vocab_of("model: {profile: small, vocab_size: 6}\n") == 6);
  CHECK(vocab_of("model: {profile: small}\n") == 5);
  CHECK(vocab_of("model: {profile: other}\n") == 256000);
  CHECK(vocab_of("") == 256000);
}
