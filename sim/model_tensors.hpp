// Where the tensors of a model are kept, whatever layout a kind of kernels keeps them in.
#pragma once

#include "sim/weights.hpp"

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace kvreplay::sim {

template <class Matrix, class Norm>
struct LayerTensors {
  Norm input_norm, post_attention_norm;  // [hidden]
  Matrix q_proj, k_proj, v_proj, o_proj;
  // Empty in attention-only models.
  Norm pre_mlp_norm, post_mlp_norm;  // [hidden]
  Matrix gate_proj, up_proj, down_proj;
};

template <class Matrix, class Norm>
struct ModelTensors {
  Matrix embedding;  // empty for random models without a head
  std::vector<LayerTensors<Matrix, Norm>> layers;
  Norm final_norm;

  explicit ModelTensors(Count num_layers) : layers(static_cast<std::size_t>(num_layers)) {}

  // The place of a slot that is a norm.
  Norm& norm_of(const WeightSlot& slot) {
    if (slot.part == WeightPart::final_norm) return final_norm;
    auto& layer = layers[static_cast<std::size_t>(slot.layer)];
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

  // The place of any other slot.
  Matrix& matrix_of(const WeightSlot& slot) {
    if (slot.part == WeightPart::embedding) return embedding;
    auto& layer = layers[static_cast<std::size_t>(slot.layer)];
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
};

}  // namespace kvreplay::sim
