// Verification finds wrong outputs, and exactly those: recordings of a real engine that answered wrongly.

#include "reports/engine_log.hpp"
#include "sim/verifier.hpp"
#include "tests/catch.hpp"
#include "tests/sim/replays.hpp"

namespace kvreplay::sim {
namespace {

using testing::replay_of;
using testing::source_path;

reports::Verification verify(const LoadedWorkload& loaded, const std::string& policy, DecoderStack& stack) {
  Reference reference(loaded.workload, stack);
  Verifier verifier(reference, stack, 0);
  ReplayListener* listener = &verifier;
  (void)replay_of(loaded, policy, {.depth = Depth::compute}, &stack, std::span(&listener, 1));
  return verifier.result();
}

struct Wrong {
  const char* recording;
  Count first;  // call; -1: none
};

// First wrong calls as the engine itself gave them (last rows of logits against a run without a cache).
const Wrong wrong_recordings[] = {{"plain_w64", 11},   {"plain_w1024", 11},  {"stop_w64", 4},  {"stop_w1024", 4},
                                  {"fork_w64", 18},    {"fork_w1024", 18},   {"json_w64", 17}, {"json_w1024", -1},
                                  {"fewshot_w64", 20}, {"fewshot_w1024", -1}};

}  // namespace

TEST_CASE("the guidance 0.2 preset answers wrongly exactly where the engine did") {
  for (const Wrong& wrong : wrong_recordings) {
    INFO(wrong.recording);
    const std::string stem = source_path("workloads/recorded/guidance-0.2.1_transformers-4.47.1/") + wrong.recording;
    const LoadedWorkload loaded = load_workload(stem + ".yaml", {}, false);
    DecoderStack stack(loaded.model);
    const auto result = verify(loaded, "guidance-0.2+transformers-4.47", stack);
    CHECK(result.evaluations_compared == loaded.facts.evaluations);
    CHECK(result.unexpected_differences.empty());
    CHECK(result.unexpected_equalities.empty());
    CHECK(result.passed() == (wrong.first < 0));
    if (wrong.first >= 0) {
      REQUIRE(result.first_difference);
      CHECK(result.first_difference->evaluation == wrong.first);
    }
  }
}

TEST_CASE("a window filled at once and slid by one token is right, the next token is not") {
  const LoadedWorkload loaded = testing::loaded_text(
      "format: kv-workload/1\nmeta: {id: w, title: w}\ntokenizer: {name: t, vocab: 256}\n"
      "model: {profile: toy, sliding_window: 4}\nevents:\n  - new: s\n  - call: {keep: 0, feed: \"10 11\"}\n"
      "  - call: {keep: 2, feed: \"12 13\"}\n  - call: {keep: 4, feed: \"14\"}\n  - call: {keep: 5, feed: \"15\"}\n");
  DecoderStack stack(loaded.model);
  const auto result = verify(loaded, "guidance-0.2+transformers-4.47", stack);
  CHECK(result.differing == std::vector<Count>{3});
  CHECK(result.unexpected_differences.empty());
  CHECK(result.unexpected_equalities.empty());
}

TEST_CASE("the five seed policies answer every recording as a run without a cache does") {
  for (const char* recording : {"fewshot_w64", "json_w64", "stop_w64"}) {
    const LoadedWorkload loaded = load_workload(
        source_path("workloads/recorded/guidance-0.2.1_transformers-4.47.1/") + recording + ".yaml", {}, false);
    DecoderStack stack(loaded.model);
    for (const std::string& policy : policies::seed_policies()) {
      INFO(recording << " through " << policy);
      const auto result = verify(loaded, policy, stack);
      CHECK(result.passed());
      CHECK(result.evaluations_compared == loaded.facts.evaluations);
      CHECK(result.max_difference_exact < 1e-4);
    }
  }
}

TEST_CASE("bf16 caches answer as a cold run that rounds the same way") {
  const LoadedWorkload loaded =
      load_workload(source_path("workloads/recorded/guidance-0.2.1_transformers-4.47.1/fewshot_w64.yaml"),
                    {.model = {}, .weights = {}, .kv_dtype = "bf16", .max_positions = {}}, false);
  DecoderStack stack(loaded.model);
  for (const std::string& policy : policies::seed_policies()) {
    INFO(policy);
    const auto result = verify(loaded, policy, stack);
    CHECK(result.tolerance == tolerance_bf16);
    CHECK(result.passed());
  }
}

}  // namespace kvreplay::sim
