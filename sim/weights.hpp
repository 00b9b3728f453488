// The weights of a decoder stack: fp32, as Hugging Face stores them ([out][in], row-major).
#pragma once

#include "sim/model_config.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::sim {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Scratch memory of kernels. Eigen computes the first and last elements of an unaligned list another way than the rest,
// so buffers start aligned: the same evaluation then gives the same bits wherever memory lies.
using FloatBuffer = std::vector<float, Eigen::aligned_allocator<float>>;

struct LayerWeights {
  Eigen::VectorXf input_norm, post_attention_norm;  // [hidden]
  Matrix q_proj;                                    // [num_heads * head_dim][hidden]
  Matrix k_proj, v_proj;                            // [num_kv_heads * head_dim][hidden]
  Matrix o_proj;                                    // [hidden][num_heads * head_dim]
  // Empty in attention-only models.
  Eigen::VectorXf pre_mlp_norm, post_mlp_norm;  // [hidden]
  Matrix gate_proj, up_proj;                    // [intermediate][hidden]
  Matrix down_proj;                             // [hidden][intermediate]
};

struct Weights {
  Matrix embedding;  // [vocab][hidden]; empty for random models without a head, whose rows are computed by id
  std::vector<LayerWeights> layers;
  Eigen::VectorXf final_norm;  // [hidden]
};

// Reads config.checkpoint, or makes random weights of config.seed. Throws InputError for a checkpoint that is
// unreadable, incomplete or does not fit, OptionError for a model larger than the memory that is available.
Weights make_weights(const ModelConfig& config);

// Row `id` < vocab_size of the embedding table, unscaled.
void copy_embedding(const ModelConfig& config, const Weights& weights, Count id, std::span<float> row);

// Bytes make_weights() takes.
std::int64_t weight_bytes(const ModelConfig& config);

// One tensor of a model: where it lies, its name in a checkpoint, and how random values are spread.
struct WeightSlot {
  std::string name;  // without `model.`
  std::uint64_t id;  // in the generator
  Count rows, columns;
  bool is_vector;
  double centre, spread;  // random values are uniform in centre +- spread
  Matrix* matrix = nullptr;
  Eigen::VectorXf* vector = nullptr;
};

// All tensors that `weights` is to hold, which is resized for them.
std::vector<WeightSlot> weight_slots(const ModelConfig& config, Weights& weights);

// The value number `index` of a tensor, in (-1, 1): a pure function, so that any element can be made alone. Never
// zero and never subnormal.
float random_value(std::uint64_t seed, std::uint64_t tensor_id, std::uint64_t index);

void fill_randomly(std::uint64_t seed, const WeightSlot& slot);
void load_checkpoint(const std::string& folder, std::span<const WeightSlot> slots);

}  // namespace kvreplay::sim
