// Products of rows with packed weights. See KernelTable for the layouts.
#pragma once

#include "sim/kernels/kernel_table.hpp"
#include "sim/kernels/packets.hpp"

#include <algorithm>
#include <type_traits>

namespace kvreplay::sim::KVREPLAY_ISA {
namespace {

// Blocks of many rows: at most row_block x input_block packed rows stay in the second-level cache while panels pass by,
// and the same part of a panel while the tiles of rows do. A group of panels shares what is read from further away.
constexpr Count row_block = 240;
constexpr Count input_block = 256;
constexpr Count panel_group = 8;
static_assert(row_block % tile_rows == 0);
constexpr Count prefetch_bytes = 4096;

EIGEN_ALWAYS_INLINE Pair panel_pair(const float* row, int pair) {
  return {load(row + pair * lanes), load(row + 16 + pair * lanes)};
}
EIGEN_ALWAYS_INLINE Pair panel_pair(const std::uint16_t* row, int pair) { return widen(row + 2 * pair * lanes); }

// Memory that is asked for while a tile is worked on, `step` bytes further with each input. One tile alone asks for
// what it reads itself a little later; several tiles share out the part of the next panel, so that it comes at an even
// pace.
struct Ahead {
  const char* memory;
  Count step;
};

// Sums of Rows rows times Pairs pairs of columns over some inputs; Unroll sums run side by side where few rows alone
// would wait for each addition.
template <int Rows, int Pairs, int Unroll>
struct TileSums {
  Floats part[Unroll][Rows][Pairs][2];

  EIGEN_ALWAYS_INLINE void clear() {
#pragma GCC unroll 4
    for (int u = 0; u < Unroll; ++u) {
#pragma GCC unroll 12
      for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
        for (int pair = 0; pair < Pairs; ++pair) part[u][row][pair][0] = part[u][row][pair][1] = splat(0);
      }
    }
  }

  template <class Weight>
  EIGEN_ALWAYS_INLINE void add_input(int u, const float* a, const Weight* b, const char* ahead, int first_pair) {
    prefetch(ahead);
    if constexpr (sizeof(Weight) == 4) prefetch(ahead + 64);
    Pair columns[Pairs];
#pragma GCC unroll 8
    for (int pair = 0; pair < Pairs; ++pair) columns[pair] = panel_pair(b, first_pair + pair);
#pragma GCC unroll 12
    for (int row = 0; row < Rows; ++row) {
      const Floats value = splat(a[row]);
#pragma GCC unroll 8
      for (int pair = 0; pair < Pairs; ++pair) {
        part[u][row][pair][0] = packet::pmadd(value, columns[pair].low, part[u][row][pair][0]);
        part[u][row][pair][1] = packet::pmadd(value, columns[pair].high, part[u][row][pair][1]);
      }
    }
  }

  template <class Weight>
  EIGEN_ALWAYS_INLINE void add_inputs(const float* a, const Weight* b, Count count, Ahead ahead, int first_pair) {
    Count k = 0;
    for (; k + Unroll <= count; k += Unroll) {
#pragma GCC unroll 4
      for (int u = 0; u < Unroll; ++u) {
        add_input(u, a + u * Rows, b + u * panel_columns, ahead.memory + u * ahead.step, first_pair);
      }
      a += Unroll * Rows;
      b += Unroll * panel_columns;
      ahead.memory += Unroll * ahead.step;
    }
    for (; k < count; ++k, a += Rows, b += panel_columns, ahead.memory += ahead.step) {
      add_input(0, a, b, ahead.memory, first_pair);
    }
  }

  EIGEN_ALWAYS_INLINE Floats total(int row, int pair, int half) const {
    Floats sum = part[0][row][pair][half];
#pragma GCC unroll 4
    for (int u = 1; u < Unroll; ++u) sum = packet::padd(sum, part[u][row][pair][half]);
    return sum;
  }
};

// One tile of rows times one panel, inputs [0, count) of what the pointers point to. `before`: sums of earlier inputs,
// [rows][32], or null.
template <int Rows, class Weight>
void multiply_tile(const float* a, const Weight* b, Count count, Ahead ahead, const float* before, float* out,
                   Count out_stride) {
  // Few rows wait for memory, so they read whole lines of the panel once; many rows fill the registers with sums.
  constexpr int pairs = Rows == 1 ? panel_pairs : 1;
  constexpr int sums = Rows * pairs * 2;
  constexpr int unroll = sums >= 8 ? 1 : sums >= 4 ? 2 : 4;
#pragma GCC unroll 1
  for (int first_pair = 0; first_pair < panel_pairs; first_pair += pairs) {
    TileSums<Rows, pairs, unroll> tile;
    tile.clear();
    tile.add_inputs(a, b, count, ahead, first_pair);
#pragma GCC unroll 12
    for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
      for (int pair = 0; pair < pairs; ++pair) {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
          const Count column = half * 16 + (first_pair + pair) * lanes;
          const Floats sum = tile.total(row, pair, half);
          store(out + row * out_stride + column,
                before == nullptr ? sum : packet::padd(load(before + row * panel_columns + column), sum));
        }
      }
    }
  }
}

template <class Weight>
using TileFunction = void (*)(const float*, const Weight*, Count, Ahead, const float*, float*, Count);

template <class Weight>
EIGEN_ALWAYS_INLINE TileFunction<Weight> tile_function(Count rows) {
  static constexpr TileFunction<Weight> functions[] = {multiply_tile<1, Weight>,
                                                       multiply_tile<2, Weight>,
                                                       multiply_tile<3, Weight>,
                                                       multiply_tile<4, Weight>,
                                                       multiply_tile<5, Weight>,
                                                       multiply_tile<6, Weight>,
                                                       multiply_tile<std::min(7, tile_rows), Weight>,
                                                       multiply_tile<std::min(8, tile_rows), Weight>,
                                                       multiply_tile<std::min(9, tile_rows), Weight>,
                                                       multiply_tile<std::min(10, tile_rows), Weight>,
                                                       multiply_tile<std::min(11, tile_rows), Weight>,
                                                       multiply_tile<std::min(12, tile_rows), Weight>};
  return functions[rows - 1];
}

// The rows and inputs of a block of a product.
struct Block {
  Count first_row, end_row;
  Count first_input, num_inputs;
  Count num_tiles() const { return (end_row - first_row + tile_rows - 1) / tile_rows; }
};

// One panel's share of a block. `sums`: what a panel's rows came to so far, [row_block][32], or null where one block
// has all inputs. They lie close together: rows of the output itself can be a power of two apart, and no cache keeps
// many of those.
template <class Weight>
void multiply_block(const PanelProduct& work, const Block& block, Count panel, const Weight* weights, Ahead ahead,
                    float* sums) {
  const Count columns = std::min(panel_columns, work.outputs - panel * panel_columns);
  const bool is_last = block.first_input + block.num_inputs == work.inputs;
  for (Count row = block.first_row; row < block.end_row; row += tile_rows) {
    const Count rows = std::min<Count>(tile_rows, work.num_rows - row);
    const float* const a = work.packed_rows + row * work.inputs + block.first_input * rows;
    float* const so_far = sums == nullptr ? nullptr : sums + (row - block.first_row) * panel_columns;
    const float* const before = block.first_input > 0 ? so_far : nullptr;
    const auto function = tile_function<Weight>(rows);
    float* const to = work.out + (panel - work.begin_panel) * panel_columns + row * work.out_stride;
    if (!is_last) {
      function(a, weights, block.num_inputs, ahead, before, so_far, panel_columns);
    } else if (columns == panel_columns) {
      function(a, weights, block.num_inputs, ahead, before, to, work.out_stride);
    } else {
      float whole[tile_rows * panel_columns];
      function(a, weights, block.num_inputs, ahead, before, whole, panel_columns);
      for (Count r = 0; r < rows; ++r) std::copy_n(whole + r * panel_columns, columns, to + r * work.out_stride);
    }
    ahead.memory += block.num_inputs * ahead.step;
  }
}

// Tiles of rows that make it worth to widen their part of a bf16 panel once, outside of the sums.
constexpr Count widening_tiles = 3;

EIGEN_ALWAYS_INLINE const float* widened(const float* weights, Count, float*) { return weights; }

EIGEN_ALWAYS_INLINE const float* widened(const std::uint16_t* weights, Count num_inputs, float* out) {
  for (Count k = 0; k < num_inputs; ++k) {
#pragma GCC unroll 4
    for (int pair = 0; pair < panel_pairs; ++pair) {
      const Pair columns = panel_pair(weights + k * panel_columns, pair);
      store(out + k * panel_columns + pair * lanes, columns.low);
      store(out + k * panel_columns + 16 + pair * lanes, columns.high);
    }
  }
  return out;
}

template <class Weight>
void multiply_panels(const PanelProduct& work) {
  const Weight* const all = static_cast<const Weight*>(work.panels);
  constexpr Count input_bytes = panel_columns * static_cast<Count>(sizeof(Weight));
  if (work.num_rows <= tile_rows) {
    for (Count panel = work.begin_panel; panel < work.end_panel; ++panel) {
      const Weight* const weights = all + panel * work.inputs * panel_columns;
      multiply_block(work, {0, work.num_rows, 0, work.inputs}, panel, weights,
                     {reinterpret_cast<const char*>(weights) + prefetch_bytes, input_bytes}, nullptr);
    }
    return;
  }
  alignas(64) float floats[input_block * panel_columns], sums[panel_group * row_block * panel_columns];
  // Blocks of equal size: a small last one would read every panel for few rows.
  const Count num_blocks = (work.num_rows + row_block - 1) / row_block;
  const Count tiles = (work.num_rows + tile_rows - 1) / tile_rows, block_tiles = (tiles + num_blocks - 1) / num_blocks;
  const Count block_rows = block_tiles * tile_rows;
  for (Count group = work.begin_panel; group < work.end_panel; group += panel_group) {
    const Count end_panel = std::min(group + panel_group, work.end_panel);
    for (Count row = 0; row < work.num_rows; row += block_rows) {
      for (Count input = 0; input < work.inputs; input += input_block) {
        const Block block{row, std::min(row + block_rows, work.num_rows), input,
                          std::min(input_block, work.inputs - input)};
        for (Count panel = group; panel < end_panel; ++panel) {
          const Weight* const weights = all + (panel * work.inputs + input) * panel_columns;
          // The same part of the next panel; after the last one, the next part of the first.
          const bool is_last = panel + 1 == end_panel;
          const Weight* const next = is_last ? all + (group * work.inputs + input + block.num_inputs) * panel_columns
                                             : weights + work.inputs * panel_columns;
          const Ahead ahead{reinterpret_cast<const char*>(next), input_bytes / block.num_tiles() + 1};
          float* const panel_sums = sums + (panel - group) * row_block * panel_columns;
          if (block.num_tiles() < widening_tiles) {
            multiply_block(work, block, panel, weights, ahead, panel_sums);
          } else {
            multiply_block(work, block, panel, widened(weights, block.num_inputs, floats), ahead, panel_sums);
          }
        }
      }
    }
  }
}

void multiply(const PanelProduct& work) {
  if (work.type == ElementType::fp32) {
    multiply_panels<float>(work);
  } else {
    multiply_panels<std::uint16_t>(work);
  }
}

void pack_tile(const float* rows, Count stride, Count num_rows, Count size, float* packed) {
  // Blocks of inputs, so that the lines written stay in the first-level cache while all rows fill them.
  constexpr Count block = 128;
  for (Count begin = 0; begin < size; begin += block) {
    const Count end = std::min(size, begin + block);
    for (Count row = 0; row < num_rows; ++row) {
      const float* const from = rows + row * stride;
      for (Count k = begin; k < end; ++k) packed[k * num_rows + row] = from[k];
    }
  }
}

}  // namespace
}  // namespace kvreplay::sim::KVREPLAY_ISA
