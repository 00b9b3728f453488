// The weights of the plain stack: fp32, as Hugging Face stores them ([out][in], row-major).
#pragma once

#include "sim/model_tensors.hpp"

namespace kvreplay::sim {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using PlainWeights = ModelTensors<Matrix, Eigen::VectorXf>;
using PlainLayer = LayerTensors<Matrix, Eigen::VectorXf>;

// Throws as read_weights() does.
PlainWeights make_plain_weights(const ModelConfig& config);

}  // namespace kvreplay::sim
