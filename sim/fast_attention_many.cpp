// Pieces of several queries: tiles of query heads over tiles of keys.

#include "sim/fast_attention.hpp"

#include <Eigen/Core>

#include <omp.h>

#include <algorithm>
#include <limits>

namespace kvreplay::sim {
namespace {

using policies::KvRun;

// Query heads of one unit of work in a long piece, and units a piece should give.
constexpr Count block_rows = 512, least_units = 8;
constexpr float lowest = std::numeric_limits<float>::lowest();

Count padded_to_tile(Count rows) { return (rows + query_tile - 1) / query_tile * query_tile; }

}  // namespace

void FastAttention::prepare_many() {
  for (Count query = 0; query < queries_.count; ++query) {
    const bool sees_any = std::any_of(view_.runs.begin(), view_.runs.end(), [&](const KvRun& run) {
      return !rows_at(run, queries_.low(query), queries_.high(query)).is_empty();
    });
    if (!sees_any) throw_sees_nothing();
  }
  const Count blocks_wanted = (least_units + shape_.num_kv_heads - 1) / shape_.num_kv_heads;
  const Count fewest = std::max<Count>(1, query_tile / group_size()),
              most = std::max<Count>(1, block_rows / group_size());
  block_queries_ = std::clamp((queries_.count + blocks_wanted - 1) / blocks_wanted, fewest, std::max(fewest, most));
  const Count rows = padded_to_tile(std::min(block_queries_, queries_.count) * group_size());
  const Count tile_floats = padded_to_line(key_tile * shape_.head_dim);
  thread_floats_ = 2 * rows + 2 * padded_to_line(rows * shape_.head_dim) + key_tile * query_tile + 2 * tile_floats;
  thread_scratch_.grow(thread_floats_ * omp_get_max_threads());
}

FastAttention::ThreadScratch FastAttention::thread_scratch() {
  const Count rows = padded_to_tile(std::min(block_queries_, queries_.count) * group_size());
  float* next = thread_scratch_.data() + thread_floats_ * omp_get_thread_num();
  const auto take = [&next](Count floats) {
    float* const begin = next;
    next += floats;
    return begin;
  };
  ThreadScratch scratch{};
  scratch.state.outputs = take(padded_to_line(rows * shape_.head_dim));
  scratch.panels = take(padded_to_line(rows * shape_.head_dim));
  scratch.scores = take(key_tile * query_tile);
  scratch.keys = take(padded_to_line(key_tile * shape_.head_dim));
  scratch.values = take(padded_to_line(key_tile * shape_.head_dim));
  scratch.state.maxima = take(rows);
  scratch.state.sums = take(rows);
  return scratch;
}

void FastAttention::run_many(std::span<float> out) {
  const Count num_blocks = (queries_.count + block_queries_ - 1) / block_queries_;
  const Count num_units = num_blocks * shape_.num_kv_heads;
  // The last block sees most rows, so it is begun first.
#pragma omp for schedule(dynamic)
  for (Count unit = 0; unit < num_units; ++unit) {
    const Count block = num_blocks - 1 - unit / shape_.num_kv_heads, first_query = block * block_queries_;
    attend_block(unit % shape_.num_kv_heads, first_query, std::min(block_queries_, queries_.count - first_query),
                 thread_scratch(), out);
  }
}

void FastAttention::attend_rows(const ManyQueries& work, const HeadRows& rows, Count first_key,
                                const ThreadScratch& scratch) const {
  const Count bytes = rows.row_stride * policies::element_bytes(rows.type);
  for (Count begin = 0; begin < rows.count; begin += key_tile) {
    HeadRows tile{static_cast<const std::byte*>(rows.keys) + begin * bytes,
                  static_cast<const std::byte*>(rows.values) + begin * bytes, rows.row_stride,
                  std::min(key_tile, rows.count - begin), rows.type};
    // Rows of a token's heads lie a power of two apart, where no cache keeps many of them.
    if (tile.type == ElementType::bf16 || tile.row_stride != shape_.head_dim) {
      kernels_.gather(tile, shape_.head_dim, scratch.keys, scratch.values);
      tile = {scratch.keys, scratch.values, shape_.head_dim, tile.count, ElementType::fp32};
    }
    kernels_.attend_many(work, tile, first_key + begin);
  }
}

void FastAttention::attend_block(Count kv_head, Count first_query, Count num_queries, const ThreadScratch& scratch,
                                 std::span<float> out) {
  const Count group = group_size(), head_dim = shape_.head_dim, num_rows = num_queries * group;
  const auto scale = static_cast<float>(shape_.scale);
  const auto head_of = [&](Count row) {
    return (first_query + row / group) * shape_.num_heads + kv_head * group + row % group;
  };
  std::fill_n(scratch.panels, padded_to_tile(num_rows) * head_dim, 0.0F);
  for (Count row = 0; row < num_rows; ++row) {
    const float* const from = queries_.rows.data() + head_of(row) * head_dim;
    float* const panel = scratch.panels + row / query_tile * query_tile * head_dim + row % query_tile;
    for (Count k = 0; k < head_dim; ++k) panel[k * query_tile] = from[k] * scale;
  }
  const State& state = scratch.state;
  const auto clear = [&] {
    std::fill_n(state.maxima, padded_to_tile(num_rows), lowest);
    std::fill_n(state.sums, padded_to_tile(num_rows), 0.0F);
    std::fill_n(state.outputs, num_rows * head_dim, 0.0F);
  };
  ManyQueries work{{head_dim, static_cast<float>(shape_.softcap)},
                   num_rows,
                   group,
                   queries_.first_position + first_query,
                   queries_.window,
                   scratch.panels,
                   state.maxima,
                   state.sums,
                   state.outputs,
                   scratch.scores};
  for (const Part& part : unused_) {
    clear();
    ManyQueries vain = work;  // sees every row
    vain.first_position = part.count;
    vain.window = 0;
    attend_rows(vain, rows_of(part, kv_head), 0, scratch);
  }
  clear();
  const Count low = queries_.low(first_query), high = queries_.high(first_query + num_queries - 1);
  for (std::size_t index = 0; index < view_.runs.size(); ++index) {
    const KvRun& run = view_.runs[index];
    const RowRange seen = rows_at(run, low, high);
    if (seen.is_empty()) continue;
    attend_rows(work, rows_of({index, seen.begin, seen.end - seen.begin}, kv_head), run.first_position + seen.begin,
                scratch);
  }
  for (Count row = 0; row < num_rows; ++row) {
    float* const to = out.data() + head_of(row) * head_dim;
    std::copy_n(state.outputs + row * head_dim, head_dim, to);
    finish(state.sums[row], to);
  }
}

}  // namespace kvreplay::sim
