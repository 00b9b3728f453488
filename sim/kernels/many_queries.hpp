// Attention of many query heads over a tile of keys: prefill and chunks, where arithmetic is the limit. Scores lie
// [key][query], so that maxima, masks and sums work on whole packets of queries and keys and values are read as they
// lie in the cache. See KernelTable.
#pragma once

#include "sim/kernels/kernel_table.hpp"
#include "sim/kernels/packets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvreplay::sim::KVREPLAY_ISA {
namespace {

// Query rows [begin, end) of a tile that a key is seen by.
struct SeenBy {
  Count begin, end;
};

inline SeenBy seen_by(const ManyQueries& work, Count first_row, Count num_rows, Count key) {
  const Count first_query = key - work.first_position;  // the first that is not before the key
  Count begin = first_query * work.group_size - first_row;
  Count end = work.window == 0 ? num_rows : (first_query + work.window) * work.group_size - first_row;
  begin = std::clamp<Count>(begin, 0, num_rows);
  return {begin, std::clamp<Count>(end, begin, num_rows)};
}

// scores[row][first_column + 0 ... Packets * lanes - 1] = keys[row] . queries, for Rows keys.
template <int Rows, int Packets>
void score_rows(const float* keys, const float* values, Count stride, const float* panel, Count head_dim,
                float* scores) {
  Floats sums[Rows][Packets];
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 2
    for (int p = 0; p < Packets; ++p) sums[row][p] = splat(0);
  }
  const float* from[Rows];
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) from[row] = keys + row * stride;
  // Meanwhile the next keys come closer, and the values of these.
  const Count step = Rows * stride / head_dim;
  const float *next_keys = keys + Rows * stride, *these_values = values;
  for (Count k = 0; k < head_dim; ++k, next_keys += step, these_values += step) {
    prefetch(next_keys);
    prefetch_far(these_values);
    Floats columns[Packets];
#pragma GCC unroll 2
    for (int p = 0; p < Packets; ++p) columns[p] = load(panel + k * query_tile + p * lanes);
#pragma GCC unroll 8
    for (int row = 0; row < Rows; ++row) {
      const Floats value = splat(from[row][k]);
#pragma GCC unroll 2
      for (int p = 0; p < Packets; ++p) sums[row][p] = packet::pmadd(value, columns[p], sums[row][p]);
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 2
    for (int p = 0; p < Packets; ++p) store(scores + row * query_tile + p * lanes, sums[row][p]);
  }
}

template <int Packets>
void score_keys(const float* keys, const float* values, Count stride, Count count, const float* panel, Count head_dim,
                float* scores) {
  Count key = 0;
  for (; key + score_rows_at_once <= count; key += score_rows_at_once) {
    score_rows<score_rows_at_once, Packets>(keys + key * stride, values + key * stride, stride, panel, head_dim,
                                            scores + key * query_tile);
  }
  for (; key < count; ++key) {
    score_rows<1, Packets>(keys + key * stride, values + key * stride, stride, panel, head_dim,
                           scores + key * query_tile);
  }
}

// outputs[row][columns] = outputs * correction + weights^T * values, for Rows query rows.
template <int Rows, int Packets>
void add_weighted(const float* weights, Count count, const float* values, Count stride, const float* corrections,
                  float* outputs, Count head_dim) {
  Floats sums[Rows][Packets];
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    const Floats correction = splat(corrections[row]);
#pragma GCC unroll 2
    for (int p = 0; p < Packets; ++p) {
      sums[row][p] = packet::pmul(load(outputs + row * head_dim + p * lanes), correction);
    }
  }
  for (Count key = 0; key < count; ++key) {
    Floats columns[Packets];
#pragma GCC unroll 2
    for (int p = 0; p < Packets; ++p) columns[p] = load(values + key * stride + p * lanes);
#pragma GCC unroll 8
    for (int row = 0; row < Rows; ++row) {
      const Floats weight = splat(weights[key * query_tile + row]);
#pragma GCC unroll 2
      for (int p = 0; p < Packets; ++p) sums[row][p] = packet::pmadd(weight, columns[p], sums[row][p]);
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 2
    for (int p = 0; p < Packets; ++p) store(outputs + row * head_dim + p * lanes, sums[row][p]);
  }
}

template <int Rows>
void add_weighted_rows(const float* weights, Count count, const float* values, Count stride, const float* corrections,
                       float* outputs, Count head_dim) {
  Count k = 0;
  for (; k + 2 * lanes <= head_dim; k += 2 * lanes) {
    add_weighted<Rows, 2>(weights, count, values + k, stride, corrections, outputs + k, head_dim);
  }
  for (; k + lanes <= head_dim; k += lanes) {
    add_weighted<Rows, 1>(weights, count, values + k, stride, corrections, outputs + k, head_dim);
  }
  for (; k < head_dim; ++k) {
    for (int row = 0; row < Rows; ++row) {
      float sum = outputs[row * head_dim + k] * corrections[row];
      for (Count key = 0; key < count; ++key) sum += weights[key * query_tile + row] * values[key * stride + k];
      outputs[row * head_dim + k] = sum;
    }
  }
}

// Caps and masks the scores of some keys; gives per query the largest, in `largest`.
void mask_scores(const ManyQueries& work, Count first_row, Count num_rows, Count first_key, Count num_keys,
                 Count padded, Floats* faults, Floats* largest) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  const Floats cap = splat(work.rule.softcap);
  const Floats inverse = splat(work.rule.softcap == 0 ? 0 : 1 / work.rule.softcap);
  for (Count key = 0; key < num_keys; ++key) {
    float* const row = work.scores + key * query_tile;
    const SeenBy seen = seen_by(work, first_row, num_rows, first_key + key);
    const bool all = seen.begin == 0 && seen.end == num_rows;
    if (!all) {
      // Masked before the cap, so that what a hidden key holds can not matter; again after it, because the cap is
      // finite.
      std::fill(row, row + seen.begin, lowest);
      std::fill(row + seen.end, row + num_rows, lowest);
    }
    for (Count p = 0; p < padded; p += lanes) {
      Floats score = load(row + p);
      faults[p / lanes] = packet::padd(faults[p / lanes], packet::psub(score, score));
      if (work.rule.softcap != 0) store(row + p, score = capped(score, cap, inverse));
      if (all) largest[p / lanes] = packet::pmax(largest[p / lanes], score);
    }
    if (all) continue;
    std::fill(row, row + seen.begin, lowest);
    std::fill(row + seen.end, row + num_rows, lowest);
    for (Count p = 0; p < padded; p += lanes) largest[p / lanes] = packet::pmax(largest[p / lanes], load(row + p));
  }
}

// Scores become weights; `corrections` the factors for what was summed before.
void weigh_scores(const ManyQueries& work, Count first_row, Count num_rows, Count first_key, Count num_keys,
                  Count padded, float* corrections) {
  constexpr Count most = query_tile / lanes;
  Floats faults[most], largest[most], totals[most];
  float* const maxima = work.maxima + first_row;
  float* const sums = work.sums + first_row;
  for (Count p = 0; p < padded / lanes; ++p) {
    faults[p] = totals[p] = splat(0);
    largest[p] = load(maxima + p * lanes);
  }
  mask_scores(work, first_row, num_rows, first_key, num_keys, padded, faults, largest);
  for (Count p = 0; p < padded / lanes; ++p) {
    const Floats before = load(maxima + p * lanes);
    store(maxima + p * lanes, largest[p]);
    store(corrections + p * lanes, exp_of_difference(packet::psub(before, largest[p])));
  }
  for (Count key = 0; key < num_keys; ++key) {
    for (Count p = 0; p < padded / lanes; ++p) {
      float* const at = work.scores + key * query_tile + p * lanes;
      // A query that sees none of these keys yet has the lowest maximum: its weights are no numbers to sum.
      const Floats score = load(at);
      const Floats hidden = packet::pcmp_eq(score, splat(std::numeric_limits<float>::lowest()));
      const Floats weight = packet::pandnot(exp_of_difference(packet::psub(score, largest[p])), hidden);
      store(at, weight);
      totals[p] = packet::padd(totals[p], weight);
    }
  }
  for (Count p = 0; p < padded / lanes; ++p) {
    const Floats before = packet::pmul(load(sums + p * lanes), load(corrections + p * lanes));
    store(sums + p * lanes, packet::padd(packet::padd(before, totals[p]), faults[p]));
  }
}

void attend_many(const ManyQueries& work, const HeadRows& rows, Count first_key) {
  const Count head_dim = work.rule.head_dim, stride = rows.row_stride;
  const auto* const keys = static_cast<const float*>(rows.keys);
  const auto* const values = static_cast<const float*>(rows.values);
  for (Count first_row = 0; first_row < work.num_rows; first_row += query_tile) {
    const Count num_rows = std::min(query_tile, work.num_rows - first_row);
    const Count first_query = work.first_position + first_row / work.group_size;
    const Count last_query = work.first_position + (first_row + num_rows - 1) / work.group_size;
    const Count low = work.window == 0 ? 0 : std::max<Count>(0, first_query - work.window + 1);
    const Count begin = std::max(low, first_key) - first_key;
    const Count end = std::min(last_query + 1, first_key + rows.count) - first_key;
    if (begin >= end) continue;
    const float* const panel = work.query_panels + first_row * head_dim;
    const Count padded = num_rows <= lanes ? lanes : query_tile;
    if (num_rows <= lanes) {
      score_keys<1>(keys + begin * stride, values + begin * stride, stride, end - begin, panel, head_dim, work.scores);
    } else {
      for (Count column = 0; column < query_tile; column += 2 * lanes) {
        score_keys<2>(keys + begin * stride, values + begin * stride, stride, end - begin, panel + column, head_dim,
                      work.scores + column);
      }
    }
    float corrections[query_tile];
    weigh_scores(work, first_row, num_rows, first_key + begin, end - begin, padded, corrections);
    for (Count row = 0; row < num_rows;) {
      const float* const weights = work.scores + row;
      float* const outputs = work.outputs + (first_row + row) * head_dim;
      const bool whole = row + score_rows_at_once <= num_rows;
      (whole ? add_weighted_rows<score_rows_at_once> : add_weighted_rows<1>)(weights, end - begin,
                                                                             values + begin * stride, stride,
                                                                             corrections + row, outputs, head_dim);
      row += whole ? score_rows_at_once : 1;
    }
  }
}

inline void gather_row(const float* from, Count head_dim, float* to) { std::copy_n(from, head_dim, to); }

inline void gather_row(const std::uint16_t* from, Count head_dim, float* to) {
  for (Count k = 0; k < head_dim; ++k) {
    const std::uint32_t bits = static_cast<std::uint32_t>(from[k]) << 16;
    __builtin_memcpy(to + k, &bits, sizeof bits);
  }
}

template <class Element>
void gather_rows(const HeadRows& rows, Count head_dim, float* keys, float* values) {
  for (Count row = 0; row < rows.count; ++row) {
    gather_row(static_cast<const Element*>(rows.keys) + row * rows.row_stride, head_dim, keys + row * head_dim);
    gather_row(static_cast<const Element*>(rows.values) + row * rows.row_stride, head_dim, values + row * head_dim);
  }
}

void gather(const HeadRows& rows, Count head_dim, float* keys, float* values) {
  if (rows.type == ElementType::fp32) {
    gather_rows<float>(rows, head_dim, keys, values);
  } else {
    gather_rows<std::uint16_t>(rows, head_dim, keys, values);
  }
}

}  // namespace
}  // namespace kvreplay::sim::KVREPLAY_ISA
