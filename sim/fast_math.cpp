// The fast kernels of a stack: packed weights and the kernels of this processor's instruction set.

#include "sim/fast_attention.hpp"
#include "sim/kernels/kernel_table.hpp"
#include "sim/packed_matrix.hpp"
#include "sim/stack_math.hpp"
#include "sim/weights.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace kvreplay::sim {
namespace {

// Most rows that go through the MLP together; bounds its scratch memory in long pieces.
constexpr Count most_mlp_rows = 1024;

struct FastLayer {
  FloatBuffer input_norm, post_attention_norm, pre_mlp_norm, post_mlp_norm;
  PackedMatrix q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj;
};

struct FastWeights {
  PackedMatrix embedding;
  std::vector<FastLayer> layers;
  FloatBuffer final_norm;
};

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

FastWeights make_weights(const ModelConfig& config) {
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

class FastMath final : public StackMath {
 public:
  FastMath(const ModelConfig& config, const KernelTable& kernels)
      : config_(config),
        kernels_(kernels),
        weights_(make_weights(config)),
        attention_(attention_shape(config), kernels) {}

  void prepare(Count count, Count num_logits) override;
  void project(Count index, const float* hidden, Count count, const ProjectedRows& out) override;
  Attention& attention() override { return attention_; }
  void add_attention(Count index, const float* attended, Count count, float* hidden) override;
  void add_mlp(Count index, Count count, float* hidden) override;
  void final_norm(const float* hidden, Count count, float* out) override;
  void logits(const float* rows, Count count, float* out) override;
  void embedding(Count id, float* row) const override;
  Count scratch_bytes() const override;
  std::string name() const override { return fmt::format("fast, {}", kernels_.name); }

 private:
  // A matrix and where its products go.
  struct Product {
    const PackedMatrix* matrix;
    float* out;
  };

  const FastLayer& layer_at(Count index) const { return weights_.layers[static_cast<std::size_t>(index)]; }
  Count mlp_rows(Count count) const;
  float* thread_rows() { return thread_scratch_.data() + thread_floats_ * omp_get_thread_num(); }
  const float* packed(const float* rows, Count count, Count size);
  const float* normed_and_packed(const float* rows, Count count, const FloatBuffer& norm);
  void multiply(const float* packed_rows, Count count, std::span<const Product> products);
  void multiply_gated(const FastLayer& layer, const float* packed_rows, Count count);
  void add_normed(const FloatBuffer& norm, Count count, float* hidden);

  ModelConfig config_;
  const KernelTable& kernels_;
  FastWeights weights_;
  FastAttention attention_;
  Count thread_floats_ = 0;
  FloatBuffer packed_;          // rows of a product, in tiles
  FloatBuffer branch_;          // [count][hidden_size]
  FloatBuffer inner_;           // [<= mlp rows][intermediate_size]
  FloatBuffer thread_scratch_;  // per thread: a tile of normed rows, or products of two panels
};

// Pieces of equal size, whole tiles but for the last one.
Count FastMath::mlp_rows(Count count) const {
  const Count pieces = (count + most_mlp_rows - 1) / most_mlp_rows, rows = (count + pieces - 1) / pieces;
  return (rows + kernels_.tile_rows - 1) / kernels_.tile_rows * kernels_.tile_rows;
}

void FastMath::prepare(Count count, Count num_logits) {
  const auto reserve = [](FloatBuffer& buffer, Count size) {
    if (static_cast<Count>(buffer.size()) < size) buffer.resize(static_cast<std::size_t>(size));
  };
  const Count hidden = config_.hidden_size, inner = config_.intermediate_size;
  const Count inner_rows = inner == 0 ? 0 : std::min(count, mlp_rows(count));
  const Count most = std::max(count, num_logits);
  reserve(packed_, std::max({most * hidden, count * config_.num_heads * config_.head_dim, inner_rows * inner}));
  reserve(branch_, count * hidden);
  reserve(inner_, inner_rows * inner);
  constexpr Count line = 16;
  const Count floats = std::max(kernels_.tile_rows * hidden, inner == 0 ? 0 : inner_rows * 2 * panel_columns);
  thread_floats_ = std::max(thread_floats_, (floats + line - 1) / line * line);
  reserve(thread_scratch_, thread_floats_ * omp_get_max_threads());
}

// Rows as products read them; a single row is itself.
const float* FastMath::packed(const float* rows, Count count, Count size) {
  if (count == 1) return rows;
  const Count tile_rows = kernels_.tile_rows, num_tiles = (count + tile_rows - 1) / tile_rows;
#pragma omp for schedule(static)
  for (Count tile = 0; tile < num_tiles; ++tile) {
    const Count first = tile * tile_rows;
    kernels_.pack_tile(rows + first * size, size, std::min(tile_rows, count - first), size,
                       packed_.data() + first * size);
  }
  return packed_.data();
}

const float* FastMath::normed_and_packed(const float* rows, Count count, const FloatBuffer& norm) {
  const Count size = config_.hidden_size, tile_rows = kernels_.tile_rows;
  const Count num_tiles = (count + tile_rows - 1) / tile_rows;
#pragma omp for schedule(static)
  for (Count tile = 0; tile < num_tiles; ++tile) {
    const Count first = tile * tile_rows, tile_count = std::min(tile_rows, count - first);
    float* const to = packed_.data() + first * size;
    float* const normed = tile_count == 1 ? to : thread_rows();
    for (Count row = 0; row < tile_count; ++row) {
      kernels_.rms_norm(rows + (first + row) * size, norm.data(), config_.rms_norm_eps, size, normed + row * size);
    }
    if (tile_count > 1) kernels_.pack_tile(normed, size, tile_count, size, to);
  }
  return packed_.data();
}

void FastMath::multiply(const float* packed_rows, Count count, std::span<const Product> products) {
  Count num_panels = 0;
  for (const Product& product : products) num_panels += product.matrix->num_panels();
#pragma omp for schedule(static)
  for (Count index = 0; index < num_panels; ++index) {
    Count panel = index;
    const Product* product = products.data();
    while (panel >= product->matrix->num_panels()) panel -= (product++)->matrix->num_panels();
    const PackedMatrix& matrix = *product->matrix;
    kernels_.multiply({packed_rows, count, matrix.inputs(), matrix.panels(), matrix.type(), panel, panel + 1,
                       product->out + panel * panel_columns, matrix.outputs(), matrix.outputs()});
  }
}

void FastMath::project(Count index, const float* hidden, Count count, const ProjectedRows& out) {
  const FastLayer& layer = layer_at(index);
  const float* const rows = normed_and_packed(hidden, count, layer.input_norm);
  const std::array products{Product{&layer.q_proj, out.queries}, Product{&layer.k_proj, out.keys},
                            Product{&layer.v_proj, out.values}};
  multiply(rows, count, products);
}

void FastMath::add_normed(const FloatBuffer& norm, Count count, float* hidden) {
  const Count size = config_.hidden_size;
#pragma omp for schedule(static)
  for (Count row = 0; row < count; ++row) {
    float* const branch = branch_.data() + row * size;
    kernels_.rms_norm(branch, norm.data(), config_.rms_norm_eps, size, branch);
    kernels_.add(hidden + row * size, branch, size);
  }
}

void FastMath::add_attention(Count index, const float* attended, Count count, float* hidden) {
  const FastLayer& layer = layer_at(index);
  const float* const rows = packed(attended, count, config_.num_heads * config_.head_dim);
  const std::array products{Product{&layer.o_proj, branch_.data()}};
  multiply(rows, count, products);
  add_normed(layer.post_attention_norm, count, hidden);
}

// A panel of the gate and the same of up, then their activation, by one thread while they are in its cache.
void FastMath::multiply_gated(const FastLayer& layer, const float* packed_rows, Count count) {
  const Count inner = config_.intermediate_size, num_panels = layer.gate_proj.num_panels();
#pragma omp for schedule(static)
  for (Count panel = 0; panel < num_panels; ++panel) {
    constexpr Count both = 2 * panel_columns;
    float* const products = thread_rows();
    const auto multiply_panel = [&](const PackedMatrix& matrix, float* out) {
      kernels_.multiply({packed_rows, count, matrix.inputs(), matrix.panels(), matrix.type(), panel, panel + 1, out,
                         both, matrix.outputs()});
    };
    multiply_panel(layer.gate_proj, products);
    multiply_panel(layer.up_proj, products + panel_columns);
    const Count columns = std::min(panel_columns, inner - panel * panel_columns);
    for (Count row = 0; row < count; ++row) {
      kernels_.gelu_times(products + row * both, columns, inner_.data() + row * inner + panel * panel_columns);
    }
  }
}

void FastMath::add_mlp(Count index, Count count, float* hidden) {
  const FastLayer& layer = layer_at(index);
  const Count size = config_.hidden_size, inner = config_.intermediate_size, step = mlp_rows(count);
  for (Count begin = 0; begin < count; begin += step) {
    const Count rows = std::min(step, count - begin);
    float* const residual = hidden + begin * size;
    multiply_gated(layer, normed_and_packed(residual, rows, layer.pre_mlp_norm), rows);
    const std::array products{Product{&layer.down_proj, branch_.data()}};
    multiply(packed(inner_.data(), rows, inner), rows, products);
    add_normed(layer.post_mlp_norm, rows, residual);
  }
}

void FastMath::final_norm(const float* hidden, Count count, float* out) {
  const Count size = config_.hidden_size;
#pragma omp for schedule(static)
  for (Count row = 0; row < count; ++row) {
    kernels_.rms_norm(hidden + row * size, weights_.final_norm.data(), config_.rms_norm_eps, size, out + row * size);
  }
}

void FastMath::logits(const float* rows, Count count, float* out) {
  const std::array products{Product{&weights_.embedding, out}};
  multiply(packed(rows, count, config_.hidden_size), count, products);
  if (config_.final_softcap == 0) return;
  constexpr Count block = 4096;
  const Count size = count * config_.vocab_size, num_blocks = (size + block - 1) / block;
#pragma omp for schedule(static)
  for (Count index = 0; index < num_blocks; ++index) {
    kernels_.softcap(out + index * block, std::min(block, size - index * block),
                     static_cast<float>(config_.final_softcap));
  }
}

void FastMath::embedding(Count id, float* row) const {
  if (has_embedding(config_)) {
    weights_.embedding.load(id, row);
  } else {
    random_embedding(config_, id, {row, static_cast<std::size_t>(config_.hidden_size)});
  }
}

Count FastMath::scratch_bytes() const {
  const std::size_t floats = packed_.capacity() + branch_.capacity() + inner_.capacity() + thread_scratch_.capacity();
  return static_cast<Count>(floats * sizeof(float)) + attention_.scratch_bytes();
}

}  // namespace

std::unique_ptr<StackMath> make_fast_math(const ModelConfig& config) {
  return std::make_unique<FastMath>(config, *available_kernels().front());
}

}  // namespace kvreplay::sim
