#include "sim/fast_weights.hpp"

#include <algorithm>

namespace kvreplay::sim {

FastWeights make_fast_weights(const ModelConfig& config) {
  FastWeights weights(config.num_layers);
  read_weights(config, [&](const WeightSlot& slot) -> RowSink {
    if (slot.is_norm()) {
      FloatBuffer& norm = weights.norm_of(slot);
      norm.resize(static_cast<std::size_t>(slot.columns));
      return [&norm](Count, Count, const float* rows) { std::copy_n(rows, norm.size(), norm.data()); };
    }
    PackedMatrix& matrix = weights.matrix_of(slot);
    matrix = PackedMatrix(slot.rows, slot.columns, config.weight_dtype);
    return [&matrix](Count first, Count count, const float* rows) { matrix.store(first, count, rows); };
  });
  return weights;
}

}  // namespace kvreplay::sim
