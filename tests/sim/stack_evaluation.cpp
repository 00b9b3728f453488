// The stack as a whole: pieces, rewinds, element types, threads and models without a head.

#include "sim/flush_subnormals.hpp"
#include "tests/catch.hpp"
#include "tests/sim/model_config_fixtures.hpp"
#include "tests/sim/stack_fixtures.hpp"

#include <omp.h>

#include <limits>
#include <stdexcept>

namespace kvreplay::sim {
namespace {

using namespace fixtures;
using policies::TokenId;

std::vector<TokenId> some_tokens(std::size_t count) {
  std::vector<TokenId> tokens;
  for (std::size_t index = 0; index < count; ++index) tokens.push_back(static_cast<TokenId>((index * 37 + 11) % 251));
  return tokens;
}

Outputs cold_outputs(DecoderStack& stack, std::span<const TokenId> tokens) {
  Outputs outputs;
  stack.evaluate_cold(tokens, outputs.observer());
  const auto count = static_cast<Count>(tokens.size());
  outputs.logits.resize(static_cast<std::size_t>(count * stack.logits_size()));
  stack.logits_of(outputs.hidden.back(), count, outputs.logits);
  return outputs;
}

Outputs cached_outputs(DecoderStack& stack, std::span<const TokenId> tokens, Count piece) {
  KeepsAll cache(stack.config().geometry(), 5);
  Outputs outputs;
  const auto count = static_cast<Count>(tokens.size());
  outputs.add_logits(stack.evaluate(tokens, 0, piece, count, cache, outputs.observer()));
  return outputs;
}

double difference(const Outputs& a, const Outputs& b) {
  double largest = largest_difference(a.logits, b.logits);
  REQUIRE(a.hidden.size() == b.hidden.size());
  for (std::size_t index = 0; index < a.hidden.size(); ++index) {
    largest = std::max(largest, largest_difference(a.hidden[index], b.hidden[index]));
  }
  return largest;
}

// fp32 sums in another order; activations of random models are O(1).
constexpr double rounding = 1e-4;
// Sums that differ in the last bit may round to neighbouring bf16 values, 2^-8 apart, and a layer passes that on.
constexpr double bf16_rounding = 1e-3;

}  // namespace

TEST_CASE("every window and chunking gives the cache-less outputs, for both element types") {
  const KernelChoice kernels = each_kernels();
  const std::vector<TokenId> tokens = some_tokens(29);
  for (const std::string window : {"1", "4", "8", "29", "64"}) {
    for (const std::string dtype : {"fp32", "bf16"}) {
      DecoderStack stack(resolve(std::string("toy:sliding_window=").append(window).append(",dtype=").append(dtype)),
                         kernels);
      const Outputs cold = cold_outputs(stack, tokens);
      for (const Count piece : {0, 1, 2, 3, 4, 5, 7, 8, 16}) {
        CAPTURE(window, dtype, piece);
        CHECK(difference(cold, cached_outputs(stack, tokens, piece)) < (dtype == "fp32" ? rounding : bf16_rounding));
      }
    }
  }
}

TEST_CASE("a bf16 cache changes outputs by its rounding and no more") {
  const KernelChoice kernels = each_kernels();
  const std::vector<TokenId> tokens = some_tokens(40);
  DecoderStack exact(resolve("toy"), kernels), rounded(resolve("toy:dtype=bf16"), kernels);
  const double change = difference(cold_outputs(exact, tokens), cold_outputs(rounded, tokens));
  CHECK(change > bf16_rounding);
  CHECK(change < 0.1);  // bf16 keeps 8 bits: 2^-9 relative per value
}

TEST_CASE("a window that never slides makes a sliding layer global") {
  const KernelChoice kernels = each_kernels();
  const std::vector<TokenId> tokens = some_tokens(10);
  ModelConfig config = resolve("toy");
  config.slides.assign(4, false);
  DecoderStack global(config, kernels);
  const Outputs wanted = cold_outputs(global, tokens);
  for (const std::string window : {"10", "11", "64"}) {
    DecoderStack stack(resolve("toy:sliding_window=" + window), kernels);
    CHECK(difference(wanted, cold_outputs(stack, tokens)) == 0);
  }
  DecoderStack narrow(resolve("toy:sliding_window=9"), kernels);
  CHECK(difference(wanted, cold_outputs(narrow, tokens)) > 1e-4);
}

TEST_CASE("the maximum number of positions changes nothing about what a query sees") {
  const KernelChoice kernels = each_kernels();
  const std::vector<TokenId> tokens = some_tokens(12);
  DecoderStack narrow(resolve("toy:max_positions=12"), kernels), wide(resolve("toy:max_positions=64"), kernels);
  CHECK(difference(cold_outputs(narrow, tokens), cold_outputs(wide, tokens)) == 0);
}

TEST_CASE("after a rewind new tokens are evaluated at their own positions") {
  const KernelChoice kernels = each_kernels();
  DecoderStack stack(resolve("toy"), kernels);
  std::vector<TokenId> tokens = some_tokens(20);
  KeepsAll cache(stack.config().geometry());
  stack.evaluate(tokens, 0, 0, 1, cache);
  tokens.resize(13);
  const std::vector<TokenId> more{5, 6, 7};
  tokens.insert(tokens.end(), more.begin(), more.end());
  const std::span<const float> answer = stack.evaluate(more, 13, 0, 1, cache);
  const Outputs cold = cold_outputs(stack, tokens);
  const std::span<const float> wanted = std::span(cold.logits).last(answer.size());
  CHECK(largest_difference(answer, wanted) < rounding);
}

TEST_CASE("wanted rows of logits are the last ones, also across pieces") {
  const KernelChoice kernels = each_kernels();
  DecoderStack stack(resolve("toy"), kernels);
  const std::vector<TokenId> tokens = some_tokens(11);
  const Outputs cold = cold_outputs(stack, tokens);
  const Count vocab_size = stack.logits_size();
  for (const Count wanted : {1, 2, 5, 11}) {
    for (const Count piece : {0, 1, 3, 4}) {
      KeepsAll cache(stack.config().geometry());
      const std::span<const float> answer = stack.evaluate(tokens, 0, piece, wanted, cache);
      REQUIRE(static_cast<Count>(answer.size()) == wanted * vocab_size);
      CHECK(largest_difference(answer, std::span(cold.logits).last(answer.size())) < rounding);
    }
  }
}

TEST_CASE("ids beyond the vocabulary are folded at the embedding") {
  const KernelChoice kernels = each_kernels();
  DecoderStack stack(resolve("toy:vocab_size=50"), kernels);
  const std::vector<TokenId> large{7 + 50, 49 + 500, 4294967295U}, folded{7, 49, 4294967295U % 50};
  CHECK(difference(cold_outputs(stack, large), cold_outputs(stack, folded)) == 0);
}

TEST_CASE("a model without a head gives final hidden rows") {
  const KernelChoice kernels = each_kernels();
  DecoderStack stack(resolve("toy-attention"), kernels);
  CHECK(stack.logits_size() == 64);
  const std::vector<TokenId> tokens = some_tokens(9);
  const Outputs cold = cold_outputs(stack, tokens);
  CHECK(cold.hidden.size() == 5);
  CHECK(cold.logits == cold.hidden.back());
  CHECK(difference(cold, cached_outputs(stack, tokens, 2)) < rounding);
}

TEST_CASE("results do not depend on the number of threads and repeat bit for bit") {
  const KernelChoice kernels = each_kernels();
  const std::vector<TokenId> tokens = some_tokens(37);
  const ModelConfig config = resolve("toy:hidden_size=320,intermediate_size=700,num_heads=6,num_kv_heads=3");
  DecoderStack stack(config, kernels);
  const int threads = omp_get_max_threads();
  for (const Count piece : {0, 1, 16}) {
    omp_set_num_threads(1);
    const Outputs one = cached_outputs(stack, tokens, piece);
    for (const int num_threads : {1, 2, 4}) {
      omp_set_num_threads(num_threads);
      CHECK(difference(one, cached_outputs(stack, tokens, piece)) == 0);
    }
  }
  omp_set_num_threads(threads);
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST_CASE("numbers below the normal ones are zero within an evaluation and themselves again after it") {
  const auto tenth_of_the_least = [] {
    volatile float least = std::numeric_limits<float>::min();
    return least * 0.1F;
  };
  DecoderStack stack(resolve("toy"), each_kernels());
  float within = -1;
  stack.evaluate_cold(some_tokens(3),
                      [&](Count, Count, Count, std::span<const float>) { within = tenth_of_the_least(); });
  CHECK(within == 0);
  CHECK(tenth_of_the_least() > 0);
}
#endif

TEST_CASE("time goes to the parts of an evaluation and can be reset") {
  const KernelChoice kernels = each_kernels();
  DecoderStack stack(resolve("toy"), kernels);
  KeepsAll cache(stack.config().geometry());
  stack.evaluate(some_tokens(20), 0, 0, 1, cache);
  const StackTimes times = stack.times();
  CHECK(times.projections_ns > 0);
  CHECK(times.attention_ns > 0);
  CHECK(times.mlp_ns > 0);
  CHECK(times.store_ns > 0);
  CHECK(times.head_ns > 0);
  stack.reset_times();
  CHECK(stack.times().mlp_ns == 0);
}

TEST_CASE("an evaluation of nothing, or of fewer tokens than rows wanted, is a broken contract") {
  const KernelChoice kernels = each_kernels();
  DecoderStack stack(resolve("toy"), kernels);
  KeepsAll cache(stack.config().geometry());
  CHECK_THROWS_AS(stack.evaluate({}, 0, 0, 1, cache), std::logic_error);
  CHECK_THROWS_AS(stack.evaluate(some_tokens(2), 0, 0, 3, cache), std::logic_error);
  CHECK_THROWS_AS(stack.evaluate(some_tokens(2), 0, 0, 0, cache), std::logic_error);
  CHECK_THROWS_AS(stack.evaluate(some_tokens(2), -1, 0, 1, cache), std::logic_error);
  CHECK_THROWS_AS(stack.evaluate_cold({}, {}), std::logic_error);
  std::vector<float> rows(64), logits(512);
  CHECK_THROWS_AS(stack.logits_of(rows, 2, logits), std::logic_error);
}

}  // namespace kvreplay::sim
