// Attention of few query heads over the rows of their KV head: decoding, where memory is the limit. See KernelTable.
#pragma once

#include "sim/kernels/kernel_table.hpp"
#include "sim/kernels/packets.hpp"

#include <algorithm>
#include <limits>

namespace kvreplay::sim::KVREPLAY_ISA {
namespace {

// Rows of one step of the online softmax: their keys and values stay in the first-level cache.
constexpr Count few_rows = 32;
constexpr int rows_at_once = 4;
constexpr int columns_at_once = many_registers ? 4 : 2;  // packets of a value row, per query

// Reads rows in steps of `step` elements as `packets` packets; bf16 rows give even elements first, then odd ones.
template <class Element>
struct RowReader;

template <>
struct RowReader<float> {
  static constexpr Count step = lanes;
  static constexpr int packets = 1;
  static EIGEN_ALWAYS_INLINE void read(const float* from, Floats* to) { to[0] = load(from); }
  static float element(const float* from) { return *from; }
};

template <>
struct RowReader<std::uint16_t> {
  static constexpr Count step = 2 * lanes;
  static constexpr int packets = 2;
  static EIGEN_ALWAYS_INLINE void read(const std::uint16_t* from, Floats* to) {
    const Pair pair = widen(from);
    to[0] = pair.low;
    to[1] = pair.high;
  }
  static float element(const std::uint16_t* from) {
    const std::uint32_t bits = static_cast<std::uint32_t>(*from) << 16;
    float value = 0;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  }
};

void to_row_order(const float* row, Count head_dim, float* out) {
  constexpr Count step = 2 * lanes;
  Count k = 0;
  for (; k + step <= head_dim; k += step) {
    for (Count lane = 0; lane < lanes; ++lane) {
      out[k + lane] = row[k + 2 * lane];
      out[k + lanes + lane] = row[k + 2 * lane + 1];
    }
  }
  std::copy(row + k, row + head_dim, out + k);
}

void from_row_order(const float* row, Count head_dim, float* out) {
  constexpr Count step = 2 * lanes;
  Count k = 0;
  for (; k + step <= head_dim; k += step) {
    for (Count lane = 0; lane < lanes; ++lane) {
      out[k + 2 * lane] = row[k + lane];
      out[k + 2 * lane + 1] = row[k + lanes + lane];
    }
  }
  std::copy(row + k, row + head_dim, out + k);
}

// Products of Rows rows with Queries queries, into scores[query][row].
template <int Rows, int Queries, class Element>
EIGEN_ALWAYS_INLINE void dot_rows(const Element* keys, Count stride, const float* queries, Count head_dim,
                                  float* scores) {
  using Reader = RowReader<Element>;
  Floats sums[Rows][Queries];
#pragma GCC unroll 4
  for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 4
    for (int query = 0; query < Queries; ++query) sums[row][query] = splat(0);
  }
  Count k = 0;
  for (; k + Reader::step <= head_dim; k += Reader::step) {
    Floats values[Queries][Reader::packets];
#pragma GCC unroll 4
    for (int query = 0; query < Queries; ++query) {
#pragma GCC unroll 2
      for (int p = 0; p < Reader::packets; ++p) values[query][p] = load(queries + query * head_dim + k + p * lanes);
    }
#pragma GCC unroll 4
    for (int row = 0; row < Rows; ++row) {
      const Element* const from = keys + row * stride + k;
      prefetch_far(from + 8 * stride);
      Floats elements[Reader::packets];
      Reader::read(from, elements);
#pragma GCC unroll 4
      for (int query = 0; query < Queries; ++query) {
#pragma GCC unroll 2
        for (int p = 0; p < Reader::packets; ++p) {
          sums[row][query] = packet::pmadd(elements[p], values[query][p], sums[row][query]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 4
    for (int query = 0; query < Queries; ++query) {
      float sum = packet::predux(sums[row][query]);
      for (Count rest = k; rest < head_dim; ++rest) {
        sum += Reader::element(keys + row * stride + rest) * queries[query * head_dim + rest];
      }
      scores[query * few_rows + row] = sum;
    }
  }
}

// outputs[query] = outputs[query] * corrections[query] + sum over rows of weights[query][row] * values[row], for some
// columns.
template <int Packets, int Queries, class Element>
EIGEN_ALWAYS_INLINE void add_values(const Element* values, Count stride, Count count, const float* weights,
                                    const float* corrections, float* outputs, Count head_dim) {
  using Reader = RowReader<Element>;
  constexpr int steps = Packets / Reader::packets;
  Floats sums[Queries][Packets];
#pragma GCC unroll 4
  for (int query = 0; query < Queries; ++query) {
    const Floats correction = splat(corrections[query]);
#pragma GCC unroll 4
    for (int p = 0; p < Packets; ++p) {
      sums[query][p] = packet::pmul(load(outputs + query * head_dim + p * lanes), correction);
    }
  }
  for (Count row = 0; row < count; ++row) {
    Floats elements[Packets];
#pragma GCC unroll 4
    for (int s = 0; s < steps; ++s) {
      const Element* const from = values + row * stride + s * Reader::step;
      prefetch_far(from + 8 * stride);
      Reader::read(from, elements + s * Reader::packets);
    }
#pragma GCC unroll 4
    for (int query = 0; query < Queries; ++query) {
      const Floats weight = splat(weights[query * few_rows + row]);
#pragma GCC unroll 4
      for (int p = 0; p < Packets; ++p) sums[query][p] = packet::pmadd(weight, elements[p], sums[query][p]);
    }
  }
#pragma GCC unroll 4
  for (int query = 0; query < Queries; ++query) {
#pragma GCC unroll 4
    for (int p = 0; p < Packets; ++p) store(outputs + query * head_dim + p * lanes, sums[query][p]);
  }
}

// Scores become weights exp(score - maximum); gives the factor for what was summed before.
inline float weigh(const ScoreRule& rule, float* scores, Count count, float& maximum, float& sum) {
  const Floats cap = splat(rule.softcap), inverse = splat(rule.softcap == 0 ? 0 : 1 / rule.softcap);
  constexpr float lowest = std::numeric_limits<float>::lowest();
  std::fill(scores + count, scores + few_rows, lowest);
  Floats largest = splat(maximum), faults = splat(0);
  for (Count i = 0; i < few_rows; i += lanes) {
    Floats score = load(scores + i);
    faults = packet::padd(faults, packet::psub(score, score));  // NaN for an infinite score and for NaN
    if (rule.softcap != 0 && i < count) score = capped(score, cap, inverse);
    store(scores + i, score);
    largest = packet::pmax(largest, score);
  }
  // Padding stays out of the sum: capped, it would be as large as a real score.
  std::fill(scores + count, scores + few_rows, lowest);
  const float new_maximum = std::max(maximum, packet::predux_max(largest));
  const Floats maxima = splat(new_maximum);
  Floats total = splat(0);
  for (Count i = 0; i < few_rows; i += lanes) {
    const Floats weight = exp_of_difference(packet::psub(load(scores + i), maxima));
    store(scores + i, weight);
    total = packet::padd(total, weight);
  }
  const float correction =
      maximum == lowest ? 0 : packet::pfirst(exp_of_difference(packet::psub(splat(maximum), maxima)));
  sum = sum * correction + packet::predux(total) + packet::predux(faults);
  maximum = new_maximum;
  return correction;
}

template <int Queries, class Element>
void attend_rows(const FewQueries& work, Count first_query, const Element* keys, const Element* values, Count stride,
                 Count count) {
  const Count head_dim = work.rule.head_dim;
  const float* const queries = work.queries + first_query * head_dim;
  float scores[Queries * few_rows], corrections[Queries];
  Count row = 0;
  for (; row + rows_at_once <= count; row += rows_at_once) {
    dot_rows<rows_at_once, Queries>(keys + row * stride, stride, queries, head_dim, scores + row);
  }
  for (; row < count; ++row) dot_rows<1, Queries>(keys + row * stride, stride, queries, head_dim, scores + row);
  for (int query = 0; query < Queries; ++query) {
    corrections[query] = weigh(work.rule, scores + query * few_rows, count, work.maxima[first_query + query],
                               work.sums[first_query + query]);
  }
  float* const outputs = work.outputs + first_query * head_dim;
  constexpr Count wide = columns_at_once * lanes, narrow = RowReader<Element>::step;
  Count k = 0;
  for (; k + wide <= head_dim; k += wide) {
    add_values<columns_at_once, Queries>(values + k, stride, count, scores, corrections, outputs + k, head_dim);
  }
  for (; k + narrow <= head_dim; k += narrow) {
    add_values<RowReader<Element>::packets, Queries>(values + k, stride, count, scores, corrections, outputs + k,
                                                     head_dim);
  }
  for (; k < head_dim; ++k) {
    for (int query = 0; query < Queries; ++query) {
      float sum = outputs[query * head_dim + k] * corrections[query];
      for (Count r = 0; r < count; ++r) {
        sum += scores[query * few_rows + r] * RowReader<Element>::element(values + r * stride + k);
      }
      outputs[query * head_dim + k] = sum;
    }
  }
}

template <class Element>
void attend_few_of(const FewQueries& work, const HeadRows& rows) {
  const auto* const keys = static_cast<const Element*>(rows.keys);
  const auto* const values = static_cast<const Element*>(rows.values);
  for (Count begin = 0; begin < rows.count; begin += few_rows) {
    const Count count = std::min(few_rows, rows.count - begin), offset = begin * rows.row_stride;
    Count query = 0;
    for (; query + 4 <= work.num_queries; query += 4) {
      attend_rows<4>(work, query, keys + offset, values + offset, rows.row_stride, count);
    }
    for (; query + 2 <= work.num_queries; query += 2) {
      attend_rows<2>(work, query, keys + offset, values + offset, rows.row_stride, count);
    }
    for (; query < work.num_queries; ++query) {
      attend_rows<1>(work, query, keys + offset, values + offset, rows.row_stride, count);
    }
  }
}

void attend_few(const FewQueries& work, const HeadRows& rows) {
  if (rows.type == ElementType::fp32) {
    attend_few_of<float>(work, rows);
  } else {
    attend_few_of<std::uint16_t>(work, rows);
  }
}

}  // namespace
}  // namespace kvreplay::sim::KVREPLAY_ISA
