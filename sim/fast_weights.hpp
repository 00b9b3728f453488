// The weights of the fast stack: matrices packed in panels, norms as they are.
#pragma once

#include "sim/model_tensors.hpp"
#include "sim/packed_matrix.hpp"

namespace kvreplay::sim {

using FastWeights = ModelTensors<PackedMatrix, FloatBuffer>;
using FastLayer = LayerTensors<PackedMatrix, FloatBuffer>;

// Throws as read_weights() does.
FastWeights make_fast_weights(const ModelConfig& config);

}  // namespace kvreplay::sim
