// The weights of the fast stack: matrices packed in panels, norms as they are.
#pragma once

#include "sim/packed_matrix.hpp"
#include "sim/weights.hpp"

#include <vector>

namespace kvreplay::sim {

struct FastLayer {
  FloatBuffer input_norm, post_attention_norm, pre_mlp_norm, post_mlp_norm;
  PackedMatrix q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj;
};

struct FastWeights {
  PackedMatrix embedding;
  std::vector<FastLayer> layers;
  FloatBuffer final_norm;
};

// Throws as read_weights() does.
FastWeights make_fast_weights(const ModelConfig& config);

}  // namespace kvreplay::sim
