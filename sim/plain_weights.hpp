// The weights of the plain stack: fp32, as Hugging Face stores them ([out][in], row-major).
#pragma once

#include "sim/weights.hpp"

#include <vector>

namespace kvreplay::sim {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct PlainLayer {
  Eigen::VectorXf input_norm, post_attention_norm;  // [hidden]
  Matrix q_proj, k_proj, v_proj, o_proj;
  // Empty in attention-only models.
  Eigen::VectorXf pre_mlp_norm, post_mlp_norm;  // [hidden]
  Matrix gate_proj, up_proj, down_proj;
};

struct PlainWeights {
  Matrix embedding;  // empty for random models without a head
  std::vector<PlainLayer> layers;
  Eigen::VectorXf final_norm;
};

// Throws as read_weights() does.
PlainWeights make_plain_weights(const ModelConfig& config);

}  // namespace kvreplay::sim
