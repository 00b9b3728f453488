// The fast kernels of a stack: packed weights and the kernels of this processor's instruction set.

#include "sim/fast_attention.hpp"
#include "sim/fast_weights.hpp"
#include "sim/kernels/kernel_table.hpp"
#include "sim/stack_math.hpp"
#include "sim/work_buffer.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>

namespace kvreplay::sim {
namespace {

// Most rows that go through the MLP together; bounds its scratch memory in long pieces.
constexpr Count most_mlp_rows = 1024;
// Panels of the gate, and as many of up, whose products a thread makes before it applies the activation.
constexpr Count gated_panels = 16;

// A thread's part of some items: as many as the others', or one more.
struct Share {
  Count begin, end;
};

Share share_of(Count num_items) {
  const Count thread = omp_get_thread_num(), num_threads = omp_get_num_threads();
  return {num_items * thread / num_threads, num_items * (thread + 1) / num_threads};
}

class FastMath final : public StackMath {
 public:
  FastMath(const ModelConfig& config, const KernelTable& kernels)
      : config_(config),
        kernels_(kernels),
        weights_(make_fast_weights(config)),
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
  WorkBuffer packed_;          // rows of a product, in tiles
  WorkBuffer branch_;          // [count][hidden_size]
  WorkBuffer inner_;           // [<= mlp rows][intermediate_size]
  WorkBuffer thread_scratch_;  // per thread: a tile of normed rows, or products of gated panels
};

// Pieces of equal size, whole tiles but for the last one.
Count FastMath::mlp_rows(Count count) const {
  const Count pieces = (count + most_mlp_rows - 1) / most_mlp_rows, rows = (count + pieces - 1) / pieces;
  return (rows + kernels_.tile_rows - 1) / kernels_.tile_rows * kernels_.tile_rows;
}

void FastMath::prepare(Count count, Count num_logits) {
  const Count hidden = config_.hidden_size, inner = config_.intermediate_size;
  const Count inner_rows = inner == 0 ? 0 : std::min(count, mlp_rows(count));
  const Count most = std::max(count, num_logits);
  packed_.grow(std::max({most * hidden, count * config_.num_heads * config_.head_dim, inner_rows * inner}));
  branch_.grow(count * hidden);
  inner_.grow(inner_rows * inner);
  const Count floats =
      std::max(kernels_.tile_rows * hidden, inner == 0 ? 0 : inner_rows * 2 * gated_panels * panel_columns);
  thread_floats_ = std::max(thread_floats_, padded_to_line(floats));
  thread_scratch_.grow(thread_floats_ * omp_get_max_threads());
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

// Each thread takes a share of all panels together: one after the other, so that it can work on groups of them.
void FastMath::multiply(const float* packed_rows, Count count, std::span<const Product> products) {
  Count num_panels = 0;
  for (const Product& product : products) num_panels += product.matrix->num_panels();
  const Share share = share_of(num_panels);
  Count first = 0;  // of the product, among all panels
  for (const Product& product : products) {
    const PackedMatrix& matrix = *product.matrix;
    const Count begin = std::clamp<Count>(share.begin - first, 0, matrix.num_panels());
    const Count end = std::clamp<Count>(share.end - first, 0, matrix.num_panels());
    first += matrix.num_panels();
    if (begin == end) continue;
    kernels_.multiply({packed_rows, count, matrix.inputs(), matrix.panels(), matrix.type(), begin, end,
                       product.out + begin * panel_columns, matrix.outputs(), matrix.outputs()});
  }
#pragma omp barrier
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

// Panels of the gate and the same of up, then their activation, by one thread while they are in its cache.
void FastMath::multiply_gated(const FastLayer& layer, const float* packed_rows, Count count) {
  constexpr Count width = gated_panels * panel_columns;
  const Count inner = config_.intermediate_size;
  const Share share = share_of(layer.gate_proj.num_panels());
  float *const gate = thread_rows(), *const up = gate + count * width;
  for (Count panel = share.begin; panel < share.end; panel += gated_panels) {
    const Count end = std::min(panel + gated_panels, share.end);
    const auto multiply_panels = [&](const PackedMatrix& matrix, float* out) {
      kernels_.multiply({packed_rows, count, matrix.inputs(), matrix.panels(), matrix.type(), panel, end, out, width,
                         matrix.outputs()});
    };
    multiply_panels(layer.gate_proj, gate);
    multiply_panels(layer.up_proj, up);
    const Count first_column = panel * panel_columns, columns = std::min(end * panel_columns, inner) - first_column;
    for (Count row = 0; row < count; ++row) {
      kernels_.gelu_times(gate + row * width, up + row * width, columns, inner_.data() + row * inner + first_column);
    }
  }
#pragma omp barrier
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

void FastMath::embedding(Count id, float* row) const { weights_.embedding.load(id, row); }

Count FastMath::scratch_bytes() const {
  return packed_.bytes() + branch_.bytes() + inner_.bytes() + thread_scratch_.bytes() + attention_.scratch_bytes();
}

}  // namespace

std::unique_ptr<StackMath> make_fast_math(const ModelConfig& config) {
  return std::make_unique<FastMath>(config, *available_kernels().front());
}

}  // namespace kvreplay::sim
