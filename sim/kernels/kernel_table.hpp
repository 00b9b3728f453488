// The inner loops of the fast stack, compiled once per instruction set and chosen when the program starts.
//
// Plain pointers and structs only: nothing here depends on the width of a register, so every translation unit agrees on
// it. A function does the share of work its arguments name, in one thread, and allocates nothing. All results depend on
// the arguments' values and the instruction set, never on how work is split between threads.
#pragma once

#include "policies/cache_policy.hpp"

#include <span>
#include <string_view>

namespace kvreplay::sim {

using policies::Count;
using policies::ElementType;

// Columns of a panel: weights lie as [outputs / 32][inputs][32], the last panel padded with zeros. bf16 panels hold
// columns j and 16 + j in the low and high half of a 32-bit word, so that one shift and one mask widen them.
inline constexpr Count panel_columns = 32;

// Keys and scores of many queries are worked on in tiles of this many query rows.
inline constexpr Count query_tile = 32;
// Most keys of one tile.
inline constexpr Count key_tile = 256;

// out[row][column] = sum over k of rows[row][k] * weights[column][k], for the columns of some panels.
struct PanelProduct {
  const float* packed_rows = nullptr;  // tiles of KernelTable::tile_rows rows, [tile][inputs][rows of the tile]
  Count num_rows = 0;
  Count inputs = 0;
  const void* panels = nullptr;  // of the whole matrix
  ElementType type = ElementType::fp32;
  Count begin_panel = 0, end_panel = 0;
  float* out = nullptr;  // [num_rows][out_stride], from the first column of begin_panel on
  Count out_stride = 0;
  Count outputs = 0;  // columns that exist; the padding is not written
};

// Rows of one KV head that lie evenly spaced: row i starts at keys + i * row_stride elements.
struct HeadRows {
  const void* keys = nullptr;
  const void* values = nullptr;
  Count row_stride = 0;
  Count count = 0;
  ElementType type = ElementType::fp32;
};

struct ScoreRule {
  Count head_dim = 0;
  float softcap = 0;  // 0: off
};

// Online softmax of `num_queries` query heads that see the same rows: after some rows, `sums` and `outputs` are those
// of exp(score - maximum). Queries are already scaled. For bf16 rows queries and outputs are in the order of
// KernelTable::to_row_order.
struct FewQueries {
  ScoreRule rule;
  Count num_queries = 0;
  const float* queries = nullptr;  // [num_queries][head_dim]
  float* maxima = nullptr;         // [num_queries]
  float* sums = nullptr;           // [num_queries]; NaN if a score was not finite
  float* outputs = nullptr;        // [num_queries][head_dim]
};

// The same for the query heads of consecutive positions: query row r is of position first_position + r / group_size.
// A position p sees keys at [0, p], with a window those at [p - window + 1, p].
struct ManyQueries {
  ScoreRule rule;
  Count num_rows = 0;
  Count group_size = 1;
  Count first_position = 0;
  Count window = 0;                     // 0: none
  const float* query_panels = nullptr;  // [ceil(num_rows / 32)][head_dim][32], padded with zeros
  float* maxima = nullptr;              // [rows padded to 32]
  float* sums = nullptr;                // the same; NaN if a score was not finite
  float* outputs = nullptr;             // [num_rows][head_dim]
  float* scores = nullptr;              // scratch, [key_tile][32]
};

struct KernelTable {
  std::string_view name;
  Count tile_rows;  // rows of a packed tile; the last one may be narrower

  void (*multiply)(const PanelProduct&);
  // rows: [num_rows][size] with a stride, packed as PanelProduct wants the rows of one tile (num_rows <= tile_rows).
  void (*pack_tile)(const float* rows, Count stride, Count num_rows, Count size, float* packed);
  // out = x * rsqrt(mean(x^2) + eps) * (1 + weight); x and out may be the same. Also right where squares overflow.
  void (*rms_norm)(const float* x, const float* weight, double eps, Count size, float* out);
  // out = gelu_tanh(gate) * up.
  void (*gelu_times)(const float* gate, const float* up, Count count, float* out);
  // values = cap * tanh(values / cap).
  void (*softcap)(float* values, Count count, float cap);
  void (*add)(float* values, const float* other, Count count);

  // Order of elements in which bf16 rows are worked on, and back.
  void (*to_row_order)(const float* row, Count head_dim, float* out);
  void (*from_row_order)(const float* row, Count head_dim, float* out);
  void (*attend_few)(const FewQueries&, const HeadRows&);
  // `rows`: fp32, of consecutive positions from `first_key` on, at most key_tile.
  void (*attend_many)(const ManyQueries&, const HeadRows& rows, Count first_key);
  // `rows` as floats side by side, count * head_dim each.
  void (*gather)(const HeadRows& rows, Count head_dim, float* keys, float* values);

  // Probes of the machine. `steps` of multiplications and additions that never leave the registers; gives their number.
  double (*probe_arithmetic)(Count steps);
  // Reads memory from begin to end as fast as it comes; gives the sum.
  float (*probe_read)(const float* values, Count count);
};

// What this program holds and this processor runs, the best first; never empty.
std::span<const KernelTable* const> available_kernels();

}  // namespace kvreplay::sim
