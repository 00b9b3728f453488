// calls-jsonl with what a recorder says besides the calls: header, forks, drafts, and what the engine did.
#include "tests/catch.hpp"
#include "tests/workloads/imports.hpp"

#include <random>

namespace kvreplay::workloads {
namespace {

using tests::events_of;
using tests::import_text;
using tests::Ledgers;
using tests::refusal_of;
using tests::workload_of;

const std::string header =
    "{\"format\":\"kv-calls/1\",\"recorder\":{\"name\":\"rec\",\"version\":\"7\"},\"engine\":\"an engine 1\","
    "\"content\":\"permuted-ids\",\"title\":\"a "
    "run\",\"recorded\":\"2026-11-30\",\"tokenizer\":{\"name\":\"t\",\"vocab\":"
    "50},\"model\":{\"num_layers\":2,\"hidden_size\":16,\"num_heads\":2,\"num_kv_heads\":1,\"head_dim\":8,"
    "\"intermediate_size\":32,\"query_pre_attn_scalar\":8,\"sliding_window\":16,\"max_positions\":64,\"vocab_size\":50,"
    "\"dtype\":\"fp32\"}}\n";

std::string call(const std::string& rest) { return "{\"sequence\":\"main\"," + rest + "}\n"; }

}  // namespace

TEST_CASE("the header of a recording becomes that of the workload") {
  const auto imported = import_text("calls-jsonl", header + call("\"keep\":0,\"feed\":[1,2]"));
  CHECK(imported.rows_taken == 1);
  CHECK(imported.text.find("  title: \"a run\"\n  recorder: {name: \"rec\", version: \"7\"}\n") != std::string::npos);
  CHECK(imported.text.find("  recorded: \"2026-11-30\"\n  content: permuted-ids\n") != std::string::npos);
  CHECK(imported.text.find("tokenizer: {name: \"t\", vocab: 50}\nmodel: {dtype: \"fp32\", head_dim: 8,") !=
        std::string::npos);
  CHECK(workload_of(imported).vocab == 50);
  // The policy-free numbers are filled in; without a word on what the engine did there is nothing observed.
  CHECK(imported.text.find("expect:\n  evals: 1\n") != std::string::npos);
  CHECK(imported.text.find("observed") == std::string::npos);
  importers::ImportOptions options;
  options.title = "mine";
  const auto named = import_text("calls-jsonl", header + call("\"keep\":0,\"feed\":[1,2]"), options);
  CHECK(named.text.find("  title: \"mine\"\n") != std::string::npos);
}

TEST_CASE("a header no workload could have is refused at its line in the recording") {
  const auto refused = [](const std::string& from, const std::string& to) {
    std::string text = header;
    text.replace(text.find(from), from.size(), to);
    return refusal_of("calls-jsonl", "\n" + text + call("\"keep\":0,\"feed\":[1,2]"));
  };
  CHECK(refused("\"num_layers\":2", "\"num_layers\":-6") ==
        "FILE:2: model.num_layers: expected a whole number from 1 to 2147483647, found '-6'");
  CHECK(refused("\"num_layers\":2", "\"num_layer\":2").starts_with("FILE:2: model.num_layer: unknown key 'num_layer'"));
  CHECK(refused("fp32", "fp64").starts_with("FILE:2: model.dtype: "));
  CHECK(refused("2026-11-30", "30.11.2026").starts_with("FILE:2: recorded: expected a quoted ISO date"));
  CHECK(refused("a run", " ").starts_with("FILE:2: title: expected text"));
}

TEST_CASE("what the engine did at each call is summed up") {
  const auto imported = import_text(
      "calls-jsonl",
      header +
          call("\"keep\":0,\"feed\":[1,2],\"observed\":{\"fed\":2,\"new_storage\":\"first\",\"bytes_after\":64,"
               "\"peak_bytes\":64,\"policy\":\"doubling\"}") +
          call("\"keep\":2,\"feed\":[3],\"observed\":{\"fed\":3,\"new_storage\":\"yes\",\"bytes_after\":128,"
               "\"peak_bytes\":192}") +
          call("\"keep\":1,\"feed\":[4],\"observed\":{\"fed\":2,\"resets\":1,\"bytes_after\":128,\"peak_bytes\":128}") +
          call("\"keep\":1,\"feed\":[],\"observed\":{\"fed\":1,\"crop_to\":1,\"bytes_after\":128,\"peak_bytes\":128}") +
          call("\"keep\":1,\"feed\":[9,9],\"observed\":{\"fed\":0,\"crop_to\":0,\"bytes_after\":128,\"peak_bytes\":128,"
               "\"error\":\"ValueError: \\\"no\\\"\"}"));
  const Workload workload = workload_of(imported);
  REQUIRE(workload.expect.observed.size() == 1);
  const Observed& observed = workload.expect.observed.front();
  CHECK(observed.engine == "an engine 1");
  CHECK(observed.policy == "doubling");
  CHECK(observed.fed == 8);
  CHECK(observed.allocations == 2);
  CHECK(observed.reallocations == 1);
  CHECK(observed.resets == 1);
  CHECK(observed.crops == 1);  // the refused one cropped nothing
  CHECK(observed.peak_bytes == 192);
  CHECK(observed.bytes_at_end == 128);
  CHECK(observed.then == "ValueError: \"no\"");
  CHECK(observed.then_keep == 1);
  CHECK(observed.then_length == 3);
}

TEST_CASE("one call that does not say what the engine did leaves no totals") {
  const auto imported = import_text("calls-jsonl", header + call("\"keep\":0,\"feed\":[1],\"observed\":{\"fed\":1}") +
                                                       call("\"keep\":1,\"feed\":[2]"));
  CHECK(workload_of(imported).expect.observed.empty());
}

TEST_CASE("engines that verify drafts crop between calls, so that crops are not known") {
  const std::string seen = ",\"observed\":{\"fed\":2,\"bytes_after\":8}";
  const auto imported = import_text("calls-jsonl", header + call("\"keep\":0,\"feed\":[1,2],\"drafts\":1" + seen) +
                                                       call("\"keep\":1,\"feed\":[3]" + seen));
  const Workload workload = workload_of(imported);
  REQUIRE(workload.expect.observed.size() == 1);
  CHECK(workload.expect.observed.front().resets == 0);
  CHECK_FALSE(workload.expect.observed.front().crops.has_value());
}

TEST_CASE("several sequences have totals, but no policy to be compared with") {
  const std::string seen = ",\"observed\":{\"fed\":1,\"policy\":\"crop\"}}\n";
  const auto imported = import_text("calls-jsonl", header + "{\"sequence\":\"a\",\"keep\":0,\"feed\":[1]" + seen +
                                                       "{\"sequence\":\"b\",\"keep\":0,\"feed\":[1]" + seen);
  REQUIRE(workload_of(imported).expect.observed.size() == 1);
  CHECK(workload_of(imported).expect.observed.front().policy == "several-sequences");
}

TEST_CASE("forks and ends become events, behind the evaluation held back") {
  const auto imported = import_text("calls-jsonl",
                                    "{\"sequence\":\"a\",\"keep\":0,\"feed\":[1,2]}\n"
                                    "{\"fork\":{\"from\":\"a\",\"as\":\"b\"}}\n"
                                    "{\"sequence\":\"b\",\"keep\":2,\"feed\":[3]}\n"
                                    "{\"sequence\":\"a\",\"keep\":1,\"feed\":[4]}\n"
                                    "{\"end\":\"b\"}\n"
                                    "{\"sequence\":\"a\",\"keep\":2,\"feed\":[5]}\n");
  CHECK(events_of(imported) ==
        "  - new: a\n"
        "  - append: \"1 2\"\n"
        "  - eval: 1\n"
        "  - fork: {from: a, as: b}\n"
        "  - switch: b\n"
        "  - append: \"3\"\n"
        "  - eval: 1\n"
        "  - switch: a\n"
        "  - rewind: {to: 1}\n"
        "  - append: \"4\"\n"
        "  - eval: 1\n"
        "  - end: b\n"
        "  - switch: a\n"
        "  - append: \"5\"\n"
        "  - eval: 1\n");
  CHECK(imported.rows_taken == 4);
  CHECK(tests::evaluated_lists(workload_of(imported)) == Ledgers{{1, 2}, {1, 2, 3}, {1, 4}, {1, 4, 5}});
}

TEST_CASE("drafts whose successor keeps some of them become steps of verify") {
  const auto imported =
      import_text("calls-jsonl", call("\"keep\":0,\"feed\":[1,2,7,8],\"drafts\":2") +
                                     call("\"keep\":3,\"feed\":[3,5,6],\"drafts\":2") +
                                     call("\"keep\":6,\"feed\":[4,9],\"drafts\":1") + call("\"keep\":7,\"feed\":[2]") +
                                     call("\"keep\":8,\"feed\":[1,0,0],\"drafts\":2"));
  CHECK(imported.text.find("streams:\n  accepted: {ids: \"7 3 5 6 4 2\"}\n  rejected: {ids: \"8 9\"}\n") !=
        std::string::npos);
  CHECK(events_of(imported) ==
        "  - new: main\n"
        "  - append: \"1 2\"\n"
        "  - verify: {k: 2, accepted: \"accepted\", rejected: \"rejected\", accepts: \"1 2\"}\n"
        "  - verify: {k: 1, accepted: \"accepted@5\", rejected: \"rejected@1\", accepts: \"0\"}\n"
        "  - decode: {n: 1, ids: \"1\"}\n"
        "  - append: \"0 0\"\n"
        "  - eval: 1\n");
  CHECK(tests::evaluated_lists(workload_of(imported)) == Ledgers{{1, 2, 7, 8},
                                                                 {1, 2, 7, 3, 5, 6},
                                                                 {1, 2, 7, 3, 5, 6, 4, 9},
                                                                 {1, 2, 7, 3, 5, 6, 4, 2},
                                                                 {1, 2, 7, 3, 5, 6, 4, 2, 1, 0, 0}});
}

TEST_CASE("no list changes, whatever calls have drafts") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::string rows;
    std::vector<TokenId> list;
    Ledgers lists;
    for (int i = 0; i < 60; ++i) {
      const std::size_t keep =
          random() % 3 == 0 ? list.size() - random() % (std::min<std::size_t>(list.size(), 4) + 1) : list.size();
      list.resize(keep);
      std::string feed;
      const std::size_t count = random() % 5 + (keep == 0 ? 1 : 0);
      for (std::size_t k = 0; k < count; ++k) {
        list.push_back(static_cast<TokenId>(random() % 40));
        feed += (k > 0 ? "," : "") + std::to_string(list.back());
      }
      rows += call("\"keep\":" + std::to_string(keep) + ",\"feed\":[" + feed +
                   "],\"drafts\":" + std::to_string(count > 0 ? random() % (count + 1) : 0));
      lists.push_back(list);
    }
    CHECK(tests::evaluated_lists(workload_of(import_text("calls-jsonl", rows))) == lists);
  }
}

TEST_CASE("what is wrong with a recording is said with its line") {
  const std::string one = call("\"keep\":0,\"feed\":[1]");
  const auto refused = [](const std::string& text) { return refusal_of("calls-jsonl", text); };
  CHECK(refused(one + header) == "FILE:2: format: the header of a recording must be its first row");
  CHECK(refused(header + header).find("FILE:2: format:") == 0);
  CHECK(refused("{\"format\":\"kv-calls/2\"}\n").find("FILE:1: format: expected kv-calls/1") == 0);
  CHECK(refused(header + call("\"keep\":0,\"feed\":[50]")) ==
        "FILE:2: feed: id 50 is not below the header's vocabulary of 50");
  CHECK(refused(one + "{\"fork\":{\"from\":\"x\",\"as\":\"y\"}}\n") == "FILE:2: fork.from: there is no sequence 'x'");
  CHECK(refused(one + "{\"fork\":{\"from\":\"main\",\"as\":\"main\"}}\n").find("FILE:2: fork.as:") == 0);
  CHECK(refused(one + "{\"end\":\"x\"}\n") == "FILE:2: end: there is no sequence 'x'");
  CHECK(refused(one + "{\"end\":\"main\"}\n" + one) == "FILE:3: sequence: 'main' has ended");
  CHECK(refused(call("\"keep\":0,\"feed\":[1],\"drafts\":2")).find("FILE:1: drafts:") == 0);
  CHECK(refused(header + call("\"keep\":0,\"feed\":[1],\"observed\":{\"new_storage\":\"no\"}"))
            .find("FILE:2: observed.new_storage: expected first or yes") == 0);
  CHECK(refused(header + call("\"keep\":0,\"feed\":[1],\"observed\":{\"fed\":-1}")).find("FILE:2: observed.fed:") == 0);
  CHECK(
      refused("{\"format\":\"kv-calls/1\",\"recorder\":{\"name\":\"r\",\"version\":\"1\"},\"engine\":\"e\",\"content\":"
              "\"text\"}\n")
          .find("FILE:1: content:") == 0);
}

}  // namespace kvreplay::workloads
