// One query, or a few query heads: every row is read once a query, by shares of rows.

#include "sim/fast_attention.hpp"

#include <Eigen/Core>

#include <omp.h>

#include <algorithm>
#include <limits>

namespace kvreplay::sim {
namespace {

// Rows of one share; the sums of several are put together afterwards.
constexpr Count share_rows = 1024;
constexpr float lowest = std::numeric_limits<float>::lowest();

float weight_of(float maximum, float largest) {
  const float difference = maximum - largest;
  return difference < -87 ? 0 : Eigen::Array<float, 8, 1>::Constant(difference).exp()(0);
}

}  // namespace

// The rows a query sees, in the order of the runs.
void FastAttention::add_parts(Count query) {
  for (std::size_t index = 0; index < view_.runs.size(); ++index) {
    const RowRange rows = rows_at(view_.runs[index], queries_.low(query), queries_.high(query));
    for (Count row = rows.begin; row < rows.end; row += share_rows) {
      parts_.push_back({index, row, std::min(share_rows, rows.end - row)});
    }
  }
}

void FastAttention::add_shares(Count query, std::size_t begin_part) {
  Count rows = share_rows;  // the first part opens a share
  for (std::size_t part = begin_part; part < parts_.size(); ++part) {
    const bool is_bf16 = view_.runs[parts_[part].run].element_type == ElementType::bf16;
    const bool fits = rows + parts_[part].count <= share_rows && shares_.back().is_bf16 == is_bf16;
    if (!fits) {
      shares_.push_back({query, part, part, is_bf16});
      rows = 0;
    }
    shares_.back().end_part = part + 1;
    rows += parts_[part].count;
  }
}

void FastAttention::prepare_few() {
  shares_.clear();
  query_shares_.assign(1, 0);
  for (Count query = 0; query < queries_.count; ++query) {
    const std::size_t begin_part = parts_.size();
    add_parts(query);
    if (parts_.size() == begin_part) throw_sees_nothing();
    add_shares(query, begin_part);
    query_shares_.push_back(shares_.size());
  }
  const Count state_floats = padded_to_line(group_size() * (shape_.head_dim + 2));
  states_.grow(static_cast<Count>(shares_.size()) * shape_.num_kv_heads * state_floats);
  // Per thread: the queries of a group, a state for rows read in vain, a row to unscramble.
  thread_floats_ = 2 * state_floats + padded_to_line(shape_.head_dim);
  thread_scratch_.grow(thread_floats_ * omp_get_max_threads());
}

FastAttention::State FastAttention::share_state(std::size_t share, Count kv_head) {
  const Count group = group_size(), floats = padded_to_line(group * (shape_.head_dim + 2));
  float* const begin = states_.data() + (static_cast<Count>(share) * shape_.num_kv_heads + kv_head) * floats;
  return {begin + group * shape_.head_dim, begin + group * (shape_.head_dim + 1), begin};
}

void FastAttention::run_few(std::span<float> out) {
  const Count num_units = static_cast<Count>(shares_.size()) * shape_.num_kv_heads;
#pragma omp for schedule(static)
  for (Count unit = 0; unit < num_units; ++unit) {
    const auto share = static_cast<std::size_t>(unit / shape_.num_kv_heads);
    const Count kv_head = unit % shape_.num_kv_heads;
    attend_share(shares_[share], kv_head, share_state(share, kv_head),
                 thread_scratch_.data() + thread_floats_ * omp_get_thread_num());
  }
  const Count num_heads = queries_.count * shape_.num_kv_heads;
#pragma omp for schedule(static)
  for (Count unit = 0; unit < num_heads; ++unit) combine(unit / shape_.num_kv_heads, unit % shape_.num_kv_heads, out);
}

void FastAttention::attend_share(const Share& share, Count kv_head, const State& state, float* scratch) const {
  const Count group = group_size(), head_dim = shape_.head_dim, state_floats = padded_to_line(group * (head_dim + 2));
  float* const queries = scratch;
  float* const row = scratch + 2 * state_floats;
  const float* const from = queries_.rows.data() + (share.query * shape_.num_heads + kv_head * group) * head_dim;
  const auto scale = static_cast<float>(shape_.scale);
  for (Count head = 0; head < group; ++head) {
    for (Count k = 0; k < head_dim; ++k) row[k] = from[head * head_dim + k] * scale;
    if (share.is_bf16) {
      kernels_.to_row_order(row, head_dim, queries + head * head_dim);
    } else {
      std::copy_n(row, head_dim, queries + head * head_dim);
    }
  }
  const auto clear = [&](const State& cleared) {
    std::fill_n(cleared.maxima, group, lowest);
    std::fill_n(cleared.sums, group, 0.0F);
    std::fill_n(cleared.outputs, group * head_dim, 0.0F);
  };
  const ScoreRule rule{head_dim, static_cast<float>(shape_.softcap)};
  clear(state);
  for (std::size_t part = share.begin_part; part < share.end_part; ++part) {
    kernels_.attend_few({rule, group, queries, state.maxima, state.sums, state.outputs},
                        rows_of(parts_[part], kv_head));
  }
  const bool is_first =
      query_shares_[static_cast<std::size_t>(share.query)] == static_cast<std::size_t>(&share - shares_.data());
  if (!is_first) return;
  float* const vain = scratch + state_floats;
  for (const Part& part : unused_) {
    const State dropped{vain + group * head_dim, vain + group * (head_dim + 1), vain};
    clear(dropped);
    kernels_.attend_few({rule, group, queries, dropped.maxima, dropped.sums, dropped.outputs}, rows_of(part, kv_head));
  }
}

void FastAttention::combine(Count query, Count kv_head, std::span<float> out) {
  const Count group = group_size(), head_dim = shape_.head_dim;
  const std::size_t begin = query_shares_[static_cast<std::size_t>(query)];
  const std::size_t end = query_shares_[static_cast<std::size_t>(query) + 1];
  float* const row = thread_scratch_.data() + thread_floats_ * omp_get_thread_num();
  for (Count head = 0; head < group; ++head) {
    float* const to = out.data() + (query * shape_.num_heads + kv_head * group + head) * head_dim;
    float largest = lowest, sum = 0;
    for (std::size_t share = begin; share < end; ++share) {
      largest = std::max(largest, share_state(share, kv_head).maxima[head]);
    }
    std::fill_n(to, head_dim, 0.0F);
    for (std::size_t share = begin; share < end; ++share) {
      const State state = share_state(share, kv_head);
      const float weight = weight_of(state.maxima[head], largest);
      const float* outputs = state.outputs + head * head_dim;
      if (shares_[share].is_bf16) {
        kernels_.from_row_order(outputs, head_dim, row);
        outputs = row;
      }
      sum += weight * state.sums[head];
      for (Count k = 0; k < head_dim; ++k) to[k] += weight * outputs[k];
    }
    finish(sum, to);
  }
}

}  // namespace kvreplay::sim
