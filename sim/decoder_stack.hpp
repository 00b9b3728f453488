// The Gemma2 decoder stack: embeds tokens, runs all layers over a cache policy, gives logits.
//
// Its arithmetic is that of one of two kinds of kernels (stack_math.hpp): plain ones, the tested reference, and fast
// ones. An evaluation is one parallel region; results do not depend on the number of threads. Source of the arithmetic:
// Hugging Face transformers modeling_gemma2 (4.47-4.57); docs/model.md.
#pragma once

#include "policies/cache_policy.hpp"
#include "sim/model_config.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kvreplay::sim {

// Called with the rows a part of the stack produced: index 0 = scaled embeddings, i = output of layer i - 1, the
// last one (num_layers) after the final norm, as Hugging Face's hidden_states. rows: [count][hidden_size].
using HiddenObserver = std::function<void(Count index, Count first_position, Count count, std::span<const float> rows)>;

// Nanoseconds spent per part of an evaluation.
struct StackTimes {
  std::int64_t projections_ns = 0;  // norms, Q/K/V and output projections, RoPE, residuals
  std::int64_t attention_ns = 0;
  std::int64_t mlp_ns = 0;
  std::int64_t store_ns = 0;  // rows() and store() of the policy
  std::int64_t head_ns = 0;   // embedding, final norm, logits
};

enum class KernelChoice : std::uint8_t { plain, fast };
std::string_view name_of(KernelChoice choice);

class DecoderStack {
 public:
  // Loads or makes the weights. Throws InputError for an unreadable or unfitting checkpoint, OptionError for a model
  // that is larger than the available memory or does not fit together, std::bad_alloc.
  explicit DecoderStack(const ModelConfig& config, KernelChoice kernels = KernelChoice::fast);
  ~DecoderStack();
  DecoderStack(DecoderStack&&) noexcept;

  const ModelConfig& config() const;

  // Evaluates `tokens` at positions first_position, first_position + 1, ... in pieces of `piece_tokens` (0: one
  // pass), reading and filling `cache`, which has admitted the list they end. Gives the last `num_logits` rows of
  // logits, [num_logits][vocab_size] (for stacks without a head: final hidden rows, [num_logits][hidden_size]).
  // Ids are folded modulo vocab_size. The result is valid until the next call. A policy that breaks its contract (a
  // query that sees no row, a `visible` matrix of another size) is a std::logic_error.
  std::span<const float> evaluate(std::span<const policies::TokenId> tokens, Count first_position, Count piece_tokens,
                                  Count num_logits, policies::CachePolicy& cache, const HiddenObserver& observer = {});

  // A forward pass without any cache: all rows attend to each other. Fresh rows are rounded to the cache's element
  // type. Memory: hidden rows of one layer; the observer sees them all.
  void evaluate_cold(std::span<const policies::TokenId> tokens, const HiddenObserver& observer);

  // Logits of final hidden rows ([count][hidden_size], after the final norm) as evaluate() gives them.
  void logits_of(std::span<const float> final_rows, Count count, std::span<float> logits);

  // Columns of a row that evaluate() gives: vocab_size, or hidden_size without a head.
  Count logits_size() const;

  const StackTimes& times() const;  // since the last reset_times()
  void reset_times();
  std::int64_t weight_bytes() const;
  // Bytes of activations and scratch memory held: they grow with the longest piece and are no part of the cache.
  std::int64_t workspace_bytes() const;
  // "plain", "fast, avx512", ...
  std::string kernels() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kvreplay::sim
