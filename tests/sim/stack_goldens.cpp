// The stack against Hugging Face's own outputs (tests/golden/README.md).

#include "tests/catch.hpp"
#include "tests/sim/stack_fixtures.hpp"

#include <filesystem>
#include <memory>

namespace kvreplay::sim {
namespace {

using namespace fixtures;

// fp32 sums in another order than PyTorch's; docs/model.md has the differences measured.
constexpr double tolerance = 1e-4;

const std::vector<std::string> odd_models{"big_scores",    "gqa2_odd_layers", "gqa4_scalar", "large_eps",
                                          "long_prompt",   "mha_one_window",  "tight_caps",  "wide_heads",
                                          "window_longer", "window_one"};

// The same with keys and values rounded to bf16 (8 bits): the outputs of an engine that keeps them in fp32 are missed
// by about 2^-8 of their size of up to ten. big_scores magnifies what its scores miss.
constexpr double bf16_cache_tolerance = 0.08, bf16_cache_tolerance_of_big_scores = 0.25;

// Every way to feed a list: the whole at once (0), token by token, in pieces.
const std::vector<Count> piece_sizes{0, 1, 3, 7};

Outputs evaluate_in_pieces(DecoderStack& stack, const std::vector<policies::TokenId>& tokens, Count piece,
                           policies::CachePolicy& cache) {
  Outputs outputs;
  const auto count = static_cast<Count>(tokens.size());
  outputs.add_logits(stack.evaluate(tokens, 0, piece, count, cache, outputs.observer()));
  return outputs;
}

// One call per piece, as an engine that decodes: only the call's own rows of logits.
Outputs evaluate_in_calls(DecoderStack& stack, const std::vector<policies::TokenId>& tokens, Count piece,
                          policies::CachePolicy& cache) {
  Outputs outputs;
  const auto total = static_cast<Count>(tokens.size());
  for (Count begin = 0; begin < total; begin += piece) {
    const Count count = std::min(piece, total - begin);
    const std::span<const policies::TokenId> fed(tokens.data() + begin, static_cast<std::size_t>(count));
    outputs.add_logits(stack.evaluate(fed, begin, 0, count, cache, outputs.observer()));
  }
  return outputs;
}

void check_against(const Golden& golden, const ModelConfig& config, KernelChoice kernels) {
  DecoderStack stack(config, kernels);
  for (const Count piece : piece_sizes) {
    for (const Count run_rows : {1, 5, 1000}) {
      KeepsAll cache(config.geometry(), run_rows, run_rows == 5 ? 3 : 0);
      const double difference = difference_to(golden, evaluate_in_pieces(stack, golden.tokens, piece, cache));
      INFO("pieces of " << piece << ", runs of " << run_rows << " rows");
      CHECK(difference <= tolerance);
    }
    if (piece == 0) continue;
    KeepsAll cache(config.geometry());
    CHECK(difference_to(golden, evaluate_in_calls(stack, golden.tokens, piece, cache)) <= tolerance);
  }
  Outputs cold;
  stack.evaluate_cold(golden.tokens, cold.observer());
  const auto count = static_cast<Count>(golden.tokens.size());
  cold.logits.resize(static_cast<std::size_t>(count * stack.logits_size()));
  stack.logits_of(cold.hidden.back(), count, cold.logits);
  CHECK(difference_to(golden, cold) <= tolerance);
}

double difference_fed_in_pieces(const Golden& golden, const ModelConfig& config, KernelChoice kernels) {
  DecoderStack stack(config, kernels);
  double largest = 0;
  for (const Count piece : piece_sizes) {
    KeepsAll cache(config.geometry());
    largest = std::max(largest, difference_to(golden, evaluate_in_pieces(stack, golden.tokens, piece, cache)));
  }
  return largest;
}

ModelConfig tiny_gemma2(Count window) {
  ModelConfig config = read_checkpoint_config(std::string(KVREPLAY_SOURCE_DIR) + "/workloads/models/tiny-gemma2");
  config.sliding_window = window;
  return config;
}

}  // namespace

TEST_CASE("odd random models give Hugging Face's logits and hidden states in every chunking") {
  const KernelChoice kernels = each_kernels();
  for (const std::string& name : odd_models) {
    DYNAMIC_SECTION(name) {
      const std::string folder = golden_path("gemma2/" + name);
      check_against(Golden(folder + "/expected.safetensors"), read_checkpoint_config(folder), kernels);
    }
  }
}

TEST_CASE("the trained tiny model gives Hugging Face's logits and hidden states in every chunking") {
  const KernelChoice kernels = each_kernels();
  const std::vector<std::pair<std::string, Count>> goldens{
      {"fewshot_w64", 64}, {"json_w1024", 1024}, {"plain_w1024", 1024}, {"plain_w64", 64}};
  for (const auto& [name, window] : goldens) {
    DYNAMIC_SECTION(name) {
      check_against(Golden(golden_path("tiny-gemma2/" + name + ".safetensors")), tiny_gemma2(window), kernels);
    }
  }
}

TEST_CASE("a bf16 cache rounds keys and values and keeps its distance to Hugging Face's fp32 outputs") {
  const KernelChoice kernels = each_kernels();
  for (const std::string& name : odd_models) {
    const std::string folder = golden_path("gemma2/" + name);
    ModelConfig config = read_checkpoint_config(folder);
    config.cache_dtype = policies::ElementType::bf16;
    const double difference = difference_fed_in_pieces(Golden(folder + "/expected.safetensors"), config, kernels);
    INFO(name);
    CHECK(difference > 1e-3);
    CHECK(difference < (name == "big_scores" ? bf16_cache_tolerance_of_big_scores : bf16_cache_tolerance));
  }
}

TEST_CASE("weights kept in bf16 change nothing for a bf16 checkpoint, and something for others") {
  const KernelChoice kernels = each_kernels();
  ModelConfig tiny = tiny_gemma2(64);
  tiny.weight_dtype = policies::ElementType::bf16;
  CHECK(difference_fed_in_pieces(Golden(golden_path("tiny-gemma2/plain_w64.safetensors")), tiny, kernels) <= tolerance);
  const std::string folder = golden_path("gemma2/window_one");
  ModelConfig odd = read_checkpoint_config(folder);
  odd.weight_dtype = policies::ElementType::bf16;
  CHECK(difference_fed_in_pieces(Golden(folder + "/expected.safetensors"), odd, kernels) > 1e-3);
}

}  // namespace kvreplay::sim
