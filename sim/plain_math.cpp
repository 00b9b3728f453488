// The plain kernels of a stack: readable, on Eigen, the reference of all others.

#include "sim/plain_attention.hpp"
#include "sim/plain_kernels.hpp"
#include "sim/plain_weights.hpp"
#include "sim/stack_math.hpp"

#include <algorithm>

namespace kvreplay::sim {
namespace {

// Rows that go through the MLP together; bounds its scratch memory in long pieces.
constexpr Count mlp_rows = 512;

class PlainMath final : public StackMath {
 public:
  explicit PlainMath(const ModelConfig& config)
      : config_(config), weights_(make_plain_weights(config)), attention_(attention_shape(config)) {}

  void prepare(Count count, Count /*num_logits*/) override {
    const auto reserve = [](FloatBuffer& buffer, Count size) {
      if (static_cast<Count>(buffer.size()) < size) buffer.resize(static_cast<std::size_t>(size));
    };
    reserve(normed_, count * config_.hidden_size);
    reserve(branch_, count * config_.hidden_size);
    reserve(gate_, std::min(mlp_rows, count) * config_.intermediate_size);
    reserve(up_, std::min(mlp_rows, count) * config_.intermediate_size);
  }

  void project(Count index, const float* hidden, Count count, const ProjectedRows& out) override {
    const PlainLayer& layer = layer_at(index);
    norm(hidden, count, layer.input_norm, normed_.data());
    const Count key_width = config_.num_kv_heads * config_.head_dim;
    const ConstMatrixMap input(normed_.data(), count, config_.hidden_size);
    multiply(input, layer.q_proj, {out.queries, count, config_.num_heads * config_.head_dim});
    multiply(input, layer.k_proj, {out.keys, count, key_width});
    multiply(input, layer.v_proj, {out.values, count, key_width});
  }

  Attention& attention() override { return attention_; }

  void add_attention(Count index, const float* attended, Count count, float* hidden) override {
    const PlainLayer& layer = layer_at(index);
    const Count width = config_.num_heads * config_.head_dim;
    multiply({attended, count, width}, layer.o_proj, {branch_.data(), count, config_.hidden_size});
    norm(branch_.data(), count, layer.post_attention_norm, branch_.data());
    add(branch_.data(), count, hidden);
  }

  void add_mlp(Count index, Count count, float* hidden) override {
    const PlainLayer& layer = layer_at(index);
    const Count size = config_.hidden_size, inner = config_.intermediate_size;
    for (Count begin = 0; begin < count; begin += mlp_rows) {
      const Count rows = std::min(mlp_rows, count - begin);
      float* const residual = hidden + begin * size;
      norm(residual, rows, layer.pre_mlp_norm, normed_.data());
      multiply({normed_.data(), rows, size}, layer.gate_proj, {gate_.data(), rows, inner});
      multiply({normed_.data(), rows, size}, layer.up_proj, {up_.data(), rows, inner});
#pragma omp for schedule(static)
      for (Count row = 0; row < rows; ++row) {
        gelu_tanh_times({gate_.data() + row * inner, inner}, {up_.data() + row * inner, inner});
      }
      multiply({gate_.data(), rows, inner}, layer.down_proj, {branch_.data(), rows, size});
      norm(branch_.data(), rows, layer.post_mlp_norm, branch_.data());
      add(branch_.data(), rows, residual);
    }
  }

  void final_norm(const float* hidden, Count count, float* out) override {
    norm(hidden, count, weights_.final_norm, out);
  }

  void logits(const float* rows, Count count, float* out) override {
    multiply({rows, count, config_.hidden_size}, weights_.embedding, {out, count, config_.vocab_size});
#pragma omp for schedule(static)
    for (Count row = 0; row < count; ++row) {
      softcap({out + row * config_.vocab_size, config_.vocab_size}, config_.final_softcap);
    }
  }

  void embedding(Count id, float* row) const override {
    std::copy_n(weights_.embedding.row(id).data(), config_.hidden_size, row);
  }

  Count scratch_bytes() const override {
    const std::size_t floats = normed_.capacity() + branch_.capacity() + gate_.capacity() + up_.capacity();
    return static_cast<Count>(floats * sizeof(float)) + attention_.scratch_bytes();
  }

  std::string name() const override { return "plain"; }

 private:
  const PlainLayer& layer_at(Count index) const { return weights_.layers[static_cast<std::size_t>(index)]; }

  // x and out may be the same.
  void norm(const float* x, Count count, const Eigen::VectorXf& weight, float* out) const {
    const Count size = config_.hidden_size;
#pragma omp for schedule(static)
    for (Count row = 0; row < count; ++row) {
      rms_norm({x + row * size, 1, size}, weight, config_.rms_norm_eps, {out + row * size, 1, size});
    }
  }

  void add(const float* branch, Count count, float* hidden) const {
    const Count size = config_.hidden_size;
#pragma omp for schedule(static)
    for (Count row = 0; row < count; ++row) {
      MatrixMap(hidden + row * size, 1, size) += ConstMatrixMap(branch + row * size, 1, size);
    }
  }

  ModelConfig config_;
  PlainWeights weights_;
  PlainAttention attention_;
  FloatBuffer normed_, branch_;  // [count][hidden_size]
  FloatBuffer gate_, up_;        // [<= mlp_rows][intermediate_size]
};

}  // namespace

std::unique_ptr<StackMath> make_plain_math(const ModelConfig& config) { return std::make_unique<PlainMath>(config); }

}  // namespace kvreplay::sim
