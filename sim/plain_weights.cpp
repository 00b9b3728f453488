#include "sim/plain_weights.hpp"

#include <algorithm>
#include <stdexcept>

namespace kvreplay::sim {
namespace {

Eigen::VectorXf& norm_of(PlainWeights& weights, const WeightSlot& slot) {
  if (slot.part == WeightPart::final_norm) return weights.final_norm;
  PlainLayer& layer = weights.layers[static_cast<std::size_t>(slot.layer)];
  switch (slot.part) {
    case WeightPart::input_norm:
      return layer.input_norm;
    case WeightPart::post_attention_norm:
      return layer.post_attention_norm;
    case WeightPart::pre_mlp_norm:
      return layer.pre_mlp_norm;
    case WeightPart::post_mlp_norm:
      return layer.post_mlp_norm;
    default:
      throw std::logic_error("not a norm");
  }
}

Matrix& matrix_of(PlainWeights& weights, const WeightSlot& slot) {
  if (slot.part == WeightPart::embedding) return weights.embedding;
  PlainLayer& layer = weights.layers[static_cast<std::size_t>(slot.layer)];
  switch (slot.part) {
    case WeightPart::q_proj:
      return layer.q_proj;
    case WeightPart::k_proj:
      return layer.k_proj;
    case WeightPart::v_proj:
      return layer.v_proj;
    case WeightPart::o_proj:
      return layer.o_proj;
    case WeightPart::gate_proj:
      return layer.gate_proj;
    case WeightPart::up_proj:
      return layer.up_proj;
    case WeightPart::down_proj:
      return layer.down_proj;
    default:
      throw std::logic_error("not a matrix");
  }
}

}  // namespace

PlainWeights make_plain_weights(const ModelConfig& config) {
  PlainWeights weights;
  weights.layers.resize(static_cast<std::size_t>(config.num_layers));
  read_weights(config, [&weights](const WeightSlot& slot) {
    float* values = nullptr;
    if (slot.is_norm()) {
      Eigen::VectorXf& vector = norm_of(weights, slot);
      vector.resize(slot.columns);
      values = vector.data();
    } else {
      Matrix& matrix = matrix_of(weights, slot);
      matrix.resize(slot.rows, slot.columns);
      values = matrix.data();
    }
    return [values, columns = slot.columns](Count first_row, Count count, const float* rows) {
      std::copy_n(rows, count * columns, values + first_row * columns);
    };
  });
  return weights;
}

}  // namespace kvreplay::sim
