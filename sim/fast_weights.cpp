#include "sim/fast_weights.hpp"

#include <algorithm>
#include <stdexcept>

namespace kvreplay::sim {
namespace {

FloatBuffer& norm_of(FastWeights& weights, const WeightSlot& slot) {
  if (slot.part == WeightPart::final_norm) return weights.final_norm;
  FastLayer& layer = weights.layers[static_cast<std::size_t>(slot.layer)];
  if (slot.part == WeightPart::input_norm) return layer.input_norm;
  if (slot.part == WeightPart::post_attention_norm) return layer.post_attention_norm;
  return slot.part == WeightPart::pre_mlp_norm ? layer.pre_mlp_norm : layer.post_mlp_norm;
}

PackedMatrix& matrix_of(FastWeights& weights, const WeightSlot& slot) {
  if (slot.part == WeightPart::embedding) return weights.embedding;
  FastLayer& layer = weights.layers[static_cast<std::size_t>(slot.layer)];
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

FastWeights make_fast_weights(const ModelConfig& config) {
  FastWeights weights;
  weights.layers.resize(static_cast<std::size_t>(config.num_layers));
  read_weights(config, [&](const WeightSlot& slot) -> RowSink {
    if (slot.is_norm()) {
      FloatBuffer& norm = norm_of(weights, slot);
      norm.resize(static_cast<std::size_t>(slot.columns));
      return [&norm](Count, Count, const float* rows) { std::copy_n(rows, norm.size(), norm.data()); };
    }
    PackedMatrix& matrix = matrix_of(weights, slot);
    matrix = PackedMatrix(slot.rows, slot.columns, config.weight_dtype);
    return [&matrix](Count first, Count count, const float* rows) { matrix.store(first, count, rows); };
  });
  return weights;
}

}  // namespace kvreplay::sim
