#include "sim/plain_weights.hpp"

#include <algorithm>

namespace kvreplay::sim {

PlainWeights make_plain_weights(const ModelConfig& config) {
  PlainWeights weights(config.num_layers);
  read_weights(config, [&weights](const WeightSlot& slot) {
    float* values = nullptr;
    if (slot.is_norm()) {
      Eigen::VectorXf& vector = weights.norm_of(slot);
      vector.resize(slot.columns);
      values = vector.data();
    } else {
      Matrix& matrix = weights.matrix_of(slot);
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
