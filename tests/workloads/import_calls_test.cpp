// calls-jsonl: folded calls evaluate the very lists the raw stream has.
#include "tests/catch.hpp"
#include "tests/workloads/imports.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <random>
#include <sstream>

namespace kvreplay::workloads {
namespace {

using nlohmann::json;
using tests::events_of;
using tests::import_text;
using tests::Ledgers;
using tests::workload_of;

// One call on a list: cut to keep, add feed. Nothing but that is the meaning of a call.
void apply(const json& call, std::vector<TokenId>& list, Ledgers& evaluated) {
  list.resize(call.at("keep").get<std::size_t>());
  for (const json& id : call.at("feed")) list.push_back(id.get<TokenId>());
  evaluated.push_back(list);
}

// The lists of a stream in either form, without the importer.
Ledgers raw_lists(const std::string& jsonl) {
  Ledgers evaluated;
  std::map<std::string, std::vector<TokenId>> sequences;
  std::istringstream lines(jsonl);
  for (std::string line; std::getline(lines, line);) {
    const json row = json::parse(line);
    if (!row.contains("calls")) {
      apply(row, sequences[row.value("sequence", "main")], evaluated);
      continue;
    }
    std::vector<TokenId> list = row.value("prompt_tokens", std::vector<TokenId>{});
    bool first = true;
    for (json call : row.at("calls")) {
      if (first) call["keep"] = list.size();
      first = false;
      apply(call, list, evaluated);
    }
  }
  return evaluated;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Calls as engines make them: mostly one more token, sometimes many, a rewind, nothing new.
std::string random_stream(unsigned seed, bool with_switches) {
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t n) { return random() % n; };
  std::map<std::string, std::size_t> lengths;
  std::string text;
  for (int i = 0; i < 120; ++i) {
    const std::string name = with_switches && below(4) == 0 ? "other" : "main";
    std::size_t& length = lengths[name];
    const std::size_t keep = below(5) == 0 ? below(length + 1) : length;
    std::size_t added = below(3) == 0 ? below(6) : 1;
    if (keep + added == 0) added = 2;
    json call{
        {"sequence", name}, {"keep", keep}, {"feed", json::array()}, {"len", keep + added}, {"rewind", length - keep}};
    for (std::size_t k = 0; k < added; ++k) call["feed"].push_back(below(50));
    length = keep + added;
    text += call.dump() + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("calls that keep everything fold into decode and append") {
  const std::string rows =
      "{\"keep\": 0, \"feed\": [1, 2, 3]}\n"
      "{\"keep\": 3, \"feed\": [4]}\n"
      "{\"keep\": 4, \"feed\": [5]}\n"
      "{\"keep\": 5, \"feed\": [6, 7, 8]}\n"
      "{\"keep\": 6, \"feed\": [9]}\n"
      "{\"keep\": 7, \"feed\": []}\n"
      "{\"keep\": 7, \"feed\": [3], \"logits\": \"all\"}\n"
      "{\"keep\": 8, \"feed\": [2]}\n";
  const auto imported = import_text("calls-jsonl", rows);
  CHECK(events_of(imported) ==
        "  - new: main\n"
        "  - append: \"1 2 3\"\n"
        "  - decode: {n: 3, ids: \"4 5 6\"}\n"
        "  - append: \"7 8\"\n"
        "  - eval: 1\n"
        "  - rewind: {to: 6}\n"
        "  - append: \"9\"\n"
        "  - eval: 1\n"
        "  - decode: {n: 1, ids: \"3\"}\n"
        "  - eval: {logits: all}\n"
        "  - append: \"2\"\n"
        "  - eval: 1\n");
  CHECK(tests::evaluated_lists(workload_of(imported)) == raw_lists(rows));
}

TEST_CASE("folding a recorded stream changes no list") {
  const std::string path = tests::trace_path("bfcl_calls_10.jsonl");
  const Workload workload = workload_of(tests::import_file("calls-jsonl", path));
  const Ledgers raw = raw_lists(content_of(path));
  CHECK(raw.size() > 80);
  CHECK(tests::evaluated_lists(workload) == raw);
  CHECK(facts_of(workload, {}).rewinds > 0);
}

TEST_CASE("folding random streams changes no list, whether sequences take turns or not") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    const std::string rows = random_stream(seed, seed % 2 == 0);
    CHECK(tests::evaluated_lists(workload_of(import_text("calls-jsonl", rows))) == raw_lists(rows));
  }
}

TEST_CASE("ids above Gemma's vocabulary make the vocabulary larger") {
  const Workload workload = workload_of(import_text("calls-jsonl", "{\"keep\": 0, \"feed\": [262143]}\n"));
  CHECK(workload.vocab == 262144);
  CHECK(workload_of(import_text("calls-jsonl", "{\"keep\": 0, \"feed\": [7]}\n")).vocab == 256000);
}

}  // namespace kvreplay::workloads
