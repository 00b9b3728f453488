// Where the weights of a decoder stack come from: a checkpoint, or a seed. Each kind of kernels keeps them in a layout
// of its own; this gives every tensor row by row.
#pragma once

#include "sim/model_config.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kvreplay::sim {

// Scratch memory of kernels. Eigen computes the first and last elements of an unaligned list another way than the rest,
// so buffers start aligned: the same evaluation then gives the same bits wherever memory lies.
using FloatBuffer = std::vector<float, Eigen::aligned_allocator<float>>;

enum class WeightPart : std::uint8_t {
  embedding,  // [vocab][hidden]; absent from random models without a head, whose rows are computed by id
  final_norm,
  input_norm,
  q_proj,  // [num_heads * head_dim][hidden]
  k_proj,  // [num_kv_heads * head_dim][hidden]
  v_proj,
  o_proj,  // [hidden][num_heads * head_dim]
  post_attention_norm,
  // Absent from attention-only models.
  pre_mlp_norm,
  gate_proj,  // [intermediate][hidden]
  up_proj,
  down_proj,  // [hidden][intermediate]
  post_mlp_norm,
};

// One tensor of a model. Norms are one row of `columns` values.
struct WeightSlot {
  std::string name;  // in a checkpoint, without `model.`
  WeightPart part;
  Count layer;       // -1: of the whole model
  std::uint64_t id;  // in the generator
  Count rows, columns;
  double centre, spread;  // random values are uniform in centre +- spread

  bool is_norm() const {
    return part == WeightPart::final_norm || part == WeightPart::input_norm ||
           part == WeightPart::post_attention_norm || part == WeightPart::pre_mlp_norm ||
           part == WeightPart::post_mlp_norm;
  }
};

// All tensors of a model.
std::vector<WeightSlot> weight_slots(const ModelConfig& config);

// Takes rows [first_row, first_row + count) of a tensor, [count][columns]; called from several threads at once, with at
// most `rows_at_once` rows that start at a multiple of it.
using RowSink = std::function<void(Count first_row, Count count, const float* rows)>;
inline constexpr Count rows_at_once = 32;

// Gives every tensor to the sink that `place` makes for it. Matrices of a model with `weight_dtype` bf16 hold bf16
// values. Throws InputError for a checkpoint that is unreadable, incomplete or does not fit, OptionError for a model of
// more than `bytes` available bytes of memory (0 where the system does not tell).
void read_weights(const ModelConfig& config, const std::function<RowSink(const WeightSlot&)>& place);

// Row `id` < vocab_size of the embedding table of a random model without a head, unscaled.
void random_embedding(const ModelConfig& config, Count id, std::span<float> row);

// Whether the model has an embedding table in memory.
bool has_embedding(const ModelConfig& config);

// Bytes the weights take: matrices in `weight_dtype`, norms in fp32.
std::int64_t weight_bytes(const ModelConfig& config);

// The value number `index` of a tensor, in (-1, 1): a pure function, so that any element can be made alone. Never
// zero and never subnormal.
float random_value(std::uint64_t seed, std::uint64_t tensor_id, std::uint64_t index);

// Rows of a random tensor.
void random_rows(std::uint64_t seed, const WeightSlot& slot, Count first_row, Count count, float* rows);

// Writes rows [first_row, first_row + count) of a tensor, [count][columns]; called from several threads at once.
using RowSource = std::function<void(Count first_row, Count count, float* rows)>;

// Takes a whole tensor from its source to its sink.
void for_row_groups(const WeightSlot& slot, bool as_bf16, const RowSink& sink, const RowSource& source);

// read_weights() of a checkpoint.
void read_checkpoint(const std::string& folder, std::span<const WeightSlot> slots, bool as_bf16,
                     const std::function<RowSink(const WeightSlot&)>& place);

}  // namespace kvreplay::sim
