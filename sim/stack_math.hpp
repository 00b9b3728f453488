// The arithmetic of a decoder layer apart from RoPE and the cache, in one of several kinds of kernels.
//
// prepare() and begin_attention() are called by one thread. Every other method is called by all threads of a team, or
// outside of one, and splits its work with OpenMP's orphaned worksharing; its results are complete for every thread
// when it returns. Rows are row-major, [count][size].
#pragma once

#include "sim/attention.hpp"
#include "sim/model_config.hpp"

#include <memory>
#include <string>

namespace kvreplay::sim {

struct ProjectedRows {
  float* queries;  // [count][num_heads][head_dim]
  float* keys;     // [count][num_kv_heads][head_dim]
  float* values;
};

class StackMath {
 public:
  virtual ~StackMath() = default;

  // Takes the scratch memory for a piece of `count` rows and `num_logits` rows of logits.
  virtual void prepare(Count count, Count num_logits) = 0;

  // Input norm and the projections, before RoPE.
  virtual void project(Count layer, const float* hidden, Count count, const ProjectedRows& out) = 0;

  virtual Attention& attention() = 0;

  // hidden += post_attention_norm(attended * o_proj^T).
  virtual void add_attention(Count layer, const float* attended, Count count, float* hidden) = 0;

  // hidden += post_mlp_norm(mlp(pre_mlp_norm(hidden))).
  virtual void add_mlp(Count layer, Count count, float* hidden) = 0;

  virtual void final_norm(const float* hidden, Count count, float* out) = 0;

  // Softcapped logits of rows after the final norm; out: [count][vocab_size]. Only for models with a head.
  virtual void logits(const float* rows, Count count, float* out) = 0;

  // Row `id` of the embedding table, unscaled. Any thread alone; only for models that have a table (has_embedding()).
  virtual void embedding(Count id, float* row) const = 0;

  // Bytes of scratch memory held, the attention's included.
  virtual Count scratch_bytes() const = 0;

  // "plain", "fast avx512", ...: for reports.
  virtual std::string name() const = 0;
};

// Make the weights (read_weights() says what they throw).
std::unique_ptr<StackMath> make_plain_math(const ModelConfig& config);
std::unique_ptr<StackMath> make_fast_math(const ModelConfig& config);

}  // namespace kvreplay::sim
