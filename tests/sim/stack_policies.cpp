// The goldens through every seed policy: what a policy keeps, drops or moves must not change an output.

#include "tests/catch.hpp"

#include "policies/registry.hpp"
#include "tests/sim/stack_fixtures.hpp"

namespace kvreplay::sim {
namespace {

using namespace fixtures;
using policies::TokenId;

constexpr double tolerance = 1e-4;  // as in stack_goldens.cpp

// An engine in small: a stack, a policy and the calls between them.
class Engine {
 public:
  Engine(DecoderStack& stack, const std::string& policy, bool poison_unused = true)
      : stack_(stack),
        policy_(policies::make_policy(policies::parse_policy(policy),
                                      {stack.config().geometry(), true, 0, poison_unused})) {}

  // Evaluates `tokens`, the complete list, and gives the last `num_logits` rows of logits.
  std::span<const float> ask(std::span<const TokenId> tokens, Count num_logits, const HiddenObserver& observer) {
    policies::Request request;
    request.tokens = tokens;
    request.num_logits = num_logits;
    const policies::Admission admission = policy_->admit(request);
    const auto total = static_cast<Count>(tokens.size());
    REQUIRE(admission.reused <= total - num_logits);
    const std::span<const float> answer =
        stack_.evaluate(tokens.subspan(static_cast<std::size_t>(admission.reused)), admission.reused,
                        admission.piece_tokens, num_logits, *policy_, observer);
    policy_->finish();
    return answer;
  }

 private:
  DecoderStack& stack_;
  std::unique_ptr<policies::CachePolicy> policy_;
};

// Feeds a list in calls of `step` tokens (0: one call), after a first call of `first` tokens.
Outputs outputs_in_calls(Engine& engine, std::span<const TokenId> tokens, std::size_t step, std::size_t first = 0) {
  Outputs outputs;
  if (step == 0) step = tokens.size();
  if (first > 0) outputs.add_logits(engine.ask(tokens.first(first), static_cast<Count>(first), outputs.observer()));
  for (std::size_t begin = first; begin < tokens.size(); begin += step) {
    const std::size_t end = std::min(begin + step, tokens.size());
    outputs.add_logits(engine.ask(tokens.first(end), static_cast<Count>(end - begin), outputs.observer()));
  }
  return outputs;
}

void check_through(const std::string& policy, const Golden& golden, const ModelConfig& config, std::size_t first = 0) {
  DecoderStack stack(config);
  for (const std::size_t step : {0, 1, 3, 7}) {
    CAPTURE(policy, step);
    Engine engine(stack, policy);
    CHECK(difference_to(golden, outputs_in_calls(engine, golden.tokens, step, step == 0 ? 0 : first)) <= tolerance);
  }
}

std::vector<std::string> policies_to_try() {
  std::vector<std::string> specs = policies::seed_policies();
  for (const std::string& name : policies::seed_policies()) {
    specs.push_back(name + ":sliding=window");
    specs.push_back(name + ":sliding=full,hold_old=false");
    specs.push_back(name + ":sliding=full,attend=capacity");
    specs.push_back(name + ":sliding=full,write=before");
  }
  return specs;
}

ModelConfig tiny_model(Count window) {
  ModelConfig config = read_checkpoint_config(std::string(KVREPLAY_SOURCE_DIR) + "/workloads/models/tiny-gemma2");
  config.sliding_window = window;
  return config;
}

void check_tiny_model(const std::string& name, Count window) {
  const Golden golden(golden_path("tiny-gemma2/" + name + ".safetensors"));
  for (const std::string& policy : policies::seed_policies()) {
    // These two evaluate the complete list in every call; the odd models show that from the first token on.
    const bool starts_over = policy == "discard" || policy == "reset";
    check_through(policy, golden, tiny_model(window), starts_over ? golden.tokens.size() - 24 : 0);
  }
}

}  // namespace

TEST_CASE("odd random models give Hugging Face's outputs through every seed policy") {
  for (const std::string name : {"gqa2_odd_layers", "gqa4_scalar", "big_scores", "large_eps", "mha_one_window",
                                 "tight_caps", "wide_heads", "window_longer", "window_one", "long_prompt"}) {
    const std::string folder = golden_path(std::string("gemma2/") + name);
    const Golden golden(folder + "/expected.safetensors");
    // All knobs on short lists; the long prompt, which re-evaluates most, with the policies as they come.
    const bool is_long = golden.tokens.size() > 100;
    for (const std::string& policy : is_long ? policies::seed_policies() : policies_to_try()) {
      CAPTURE(name);
      check_through(policy, golden, read_checkpoint_config(folder));
    }
  }
}

// One case per golden, so that they run side by side.
TEST_CASE("the trained tiny model gives Hugging Face's outputs through every seed policy: fewshot, window 64") {
  check_tiny_model("fewshot_w64", 64);
}
TEST_CASE("the trained tiny model gives Hugging Face's outputs through every seed policy: json, window 1024") {
  check_tiny_model("json_w1024", 1024);
}
TEST_CASE("the trained tiny model gives Hugging Face's outputs through every seed policy: plain, window 1024") {
  check_tiny_model("plain_w1024", 1024);
}
TEST_CASE("the trained tiny model gives Hugging Face's outputs through every seed policy: plain, window 64") {
  check_tiny_model("plain_w64", 64);
}

TEST_CASE("rewinds of every depth leave the outputs those of a cold run") {
  const KernelChoice kernels = each_kernels();
  const Golden golden(golden_path("tiny-gemma2/plain_w64.safetensors"));
  const std::span<const TokenId> tokens(golden.tokens);
  DecoderStack stack(tiny_model(64), kernels);
  // Other continuations of the first 99, 96, 64, 63 and 0 tokens, with their last row of logits.
  std::vector<std::pair<std::vector<TokenId>, std::vector<float>>> branches;
  for (const std::size_t keep : {99, 96, 64, 63, 0}) {
    std::vector<TokenId> branch(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(keep));
    for (TokenId id = 1; id <= 3; ++id) branch.push_back((golden.tokens[keep] + id) % 2048);
    Outputs cold;
    std::vector<float> logits(static_cast<std::size_t>(stack.logits_size()));
    stack.evaluate_cold(branch, cold.observer());
    stack.logits_of(std::span(cold.hidden.back()).last(128), 1, logits);
    branches.emplace_back(branch, logits);
  }
  for (const std::string& policy : policies_to_try()) {
    Engine engine(stack, policy);
    for (const auto& [branch, logits] : branches) {
      CAPTURE(policy, branch.size());
      engine.ask(tokens.first(100), 1, {});
      CHECK(largest_difference(engine.ask(branch, 1, {}), logits) <= tolerance);
    }
    Outputs all;
    all.add_logits(engine.ask(tokens, static_cast<Count>(tokens.size()), all.observer()));
    CHECK(difference_to(golden, all) <= tolerance);
  }
}

}  // namespace kvreplay::sim
