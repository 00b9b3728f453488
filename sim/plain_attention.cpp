#include "sim/plain_attention.hpp"

#include "policies/bf16.hpp"
#include "sim/plain_kernels.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace kvreplay::sim {
namespace {

using policies::ElementType;
using policies::KvRun;
using Rows = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
using ConstVector = Eigen::Map<const Eigen::VectorXf>;
using VectorMap = Eigen::Map<Eigen::VectorXf>;

void widen_row(const void* source, std::ptrdiff_t offset, Count size, float* out) {
  const std::uint16_t* const bits = static_cast<const std::uint16_t*>(source) + offset;
  for (Count index = 0; index < size; ++index) out[index] = policies::from_bf16(bits[index]);
}

}  // namespace

AttentionShape attention_shape(const ModelConfig& config) {
  return {config.num_heads, config.num_kv_heads, config.head_dim, 1 / std::sqrt(config.query_pre_attn_scalar),
          config.attn_softcap};
}

void PlainAttention::add_by_position(Count low, Count high, std::span<const KvRun> runs) {
  for (std::size_t index = 0; index < runs.size(); ++index) {
    const RowRange rows = rows_at(runs[index], low, high);
    if (!rows.is_empty()) segments_.push_back({index, rows.begin, rows.end - rows.begin});
  }
}

void PlainAttention::add_by_mask(const std::uint8_t* visible, std::span<const KvRun> runs) {
  for (std::size_t index = 0; index < runs.size(); ++index) {
    for (Count row = 0; row < runs[index].count;) {
      const Count begin = row;
      while (row < runs[index].count && visible[row] != 0) ++row;
      if (row > begin) {
        segments_.push_back({index, begin, row - begin});
      } else {
        ++row;
      }
    }
    visible += runs[index].count;
  }
}

void PlainAttention::end_query() {
  Count num_rows = 0;
  for (std::size_t index = query_begins_.back(); index < segments_.size(); ++index) num_rows += segments_[index].count;
  if (num_rows == 0) throw_sees_nothing();
  longest_ = std::max(longest_, num_rows);
  query_begins_.push_back(segments_.size());
}

void PlainAttention::find_segments(const AttentionQueries& queries, const policies::KvView& view) {
  segments_.clear();
  query_begins_.assign(1, 0);
  unused_.clear();
  longest_ = 0;
  Count num_rows = 0;
  for (std::size_t index = 0; index < view.runs.size(); ++index) {
    const KvRun& run = view.runs[index];
    num_rows += run.count;
    const bool unused = view.visible.empty() && run.is_unused() && run.count > 0;
    if (!unused) continue;
    unused_.push_back({index, 0, run.count});
    longest_ = std::max(longest_, run.count);
  }
  if (!view.visible.empty() && static_cast<Count>(view.visible.size()) != queries.count * num_rows) {
    throw std::logic_error("the visible matrix of a cache policy does not fit its rows");
  }
  for (Count query = 0; query < queries.count; ++query) {
    if (view.visible.empty()) {
      add_by_position(queries.low(query), queries.high(query), view.runs);
    } else {
      add_by_mask(view.visible.data() + query * num_rows, view.runs);
    }
    end_query();
  }
}

void PlainAttention::widen_runs(std::span<const KvRun> runs) {
  read_.assign(runs.size(), {});
  const auto include = [&](const Segment& segment) {
    Range& range = read_[segment.run];
    const bool is_first = range.begin == range.end;
    range.begin = is_first ? segment.begin : std::min(range.begin, segment.begin);
    range.end = std::max(range.end, segment.begin + segment.count);
  };
  std::for_each(segments_.begin(), segments_.end(), include);
  std::for_each(unused_.begin(), unused_.end(), include);

  const Count row_size = shape_.num_kv_heads * shape_.head_dim;
  Count num_rows = 0;
  for (std::size_t index = 0; index < runs.size(); ++index) {
    if (runs[index].element_type == ElementType::bf16) num_rows += read_[index].end - read_[index].begin;
  }
  widened_.resize(static_cast<std::size_t>(2 * num_rows * row_size));
  float* next = widened_.data();
  runs_.clear();
  for (std::size_t index = 0; index < runs.size(); ++index) {
    const KvRun& run = runs[index];
    if (run.element_type == ElementType::fp32) {
      runs_.push_back({static_cast<const float*>(run.keys), static_cast<const float*>(run.values), run.row_stride,
                       run.head_stride, 0});
      continue;
    }
    const Count count = read_[index].end - read_[index].begin;
    float* const keys = next;
    float* const values = next + count * row_size;
    next = values + count * row_size;
    for (Count row = 0; row < count; ++row) {
      for (Count head = 0; head < shape_.num_kv_heads; ++head) {
        const std::ptrdiff_t offset = (read_[index].begin + row) * run.row_stride + head * run.head_stride;
        widen_row(run.keys, offset, shape_.head_dim, keys + row * row_size + head * shape_.head_dim);
        widen_row(run.values, offset, shape_.head_dim, values + row * row_size + head * shape_.head_dim);
      }
    }
    runs_.push_back({keys, values, row_size, shape_.head_dim, read_[index].begin});
  }
}

void PlainAttention::attend_head(const float* query, Count kv_head, std::span<const Segment> seen, float* scores,
                                 float* out) const {
  const ConstVector q(query, shape_.head_dim);
  Count num_rows = 0;
  for (const Segment& segment : seen) {
    const FloatRun& run = runs_[segment.run];
    const std::ptrdiff_t offset = (segment.begin - run.first_row) * run.row_stride + kv_head * run.head_stride;
    const Rows keys(run.keys + offset, segment.count, shape_.head_dim, Eigen::OuterStride<>(run.row_stride));
    VectorMap(scores + num_rows, segment.count).noalias() = keys * q;
    num_rows += segment.count;
  }
  ArrayMap all_scores(scores, num_rows);
  all_scores *= static_cast<float>(shape_.scale);
  softcap(all_scores, shape_.softcap);
  softmax(all_scores);
  VectorMap result(out, shape_.head_dim);
  result.setZero();
  num_rows = 0;
  for (const Segment& segment : seen) {
    const FloatRun& run = runs_[segment.run];
    const std::ptrdiff_t offset = (segment.begin - run.first_row) * run.row_stride + kv_head * run.head_stride;
    const Rows values(run.values + offset, segment.count, shape_.head_dim, Eigen::OuterStride<>(run.row_stride));
    result.noalias() += values.transpose() * ConstVector(scores + num_rows, segment.count);
    num_rows += segment.count;
  }
}

void PlainAttention::read_in_vain(const float* query, Count kv_head, float* scores) const {
  const ConstVector q(query, shape_.head_dim);
  for (const Segment& segment : unused_) {
    const FloatRun& run = runs_[segment.run];
    const std::ptrdiff_t offset = (segment.begin - run.first_row) * run.row_stride + kv_head * run.head_stride;
    const Rows keys(run.keys + offset, segment.count, shape_.head_dim, Eigen::OuterStride<>(run.row_stride));
    const Rows values(run.values + offset, segment.count, shape_.head_dim, Eigen::OuterStride<>(run.row_stride));
    VectorMap products(scores, segment.count);
    products.noalias() = keys * q;
    VectorMap(scores + longest_, shape_.head_dim).noalias() = values.transpose() * products;
  }
}

void PlainAttention::prepare(const AttentionQueries& queries, const policies::KvView& view) {
  queries_ = queries;
  find_segments(queries, view);
  widen_runs(view.runs);
  // In large steps, so that decoding rarely takes more; each thread's part starts aligned.
  constexpr Count step = 1024;
  scratch_size_ = (longest_ + shape_.head_dim + step - 1) / step * step;
  scratch_.resize(static_cast<std::size_t>(scratch_size_) * static_cast<std::size_t>(omp_get_max_threads()));
}

void PlainAttention::run(std::span<float> out) {
  const Count head_dim = shape_.head_dim, num_heads = shape_.num_heads;
  const Count group_size = num_heads / shape_.num_kv_heads;
  // KV heads outermost: a thread keeps one head's rows in its cache over many queries.
  const Count num_items = shape_.num_kv_heads * queries_.count;
#pragma omp for schedule(static)
  for (Count item = 0; item < num_items; ++item) {
    const Count kv_head = item / queries_.count, query = item % queries_.count;
    float* const scores = scratch_.data() + scratch_size_ * omp_get_thread_num();
    const std::size_t begin = query_begins_[static_cast<std::size_t>(query)];
    const std::span<const Segment> seen(segments_.data() + begin,
                                        query_begins_[static_cast<std::size_t>(query) + 1] - begin);
    for (Count head = kv_head * group_size; head < (kv_head + 1) * group_size; ++head) {
      const Count offset = (query * num_heads + head) * head_dim;
      read_in_vain(queries_.rows.data() + offset, kv_head, scores);
      attend_head(queries_.rows.data() + offset, kv_head, seen, scores, out.data() + offset);
    }
  }
}

Count PlainAttention::scratch_bytes() const {
  return static_cast<Count>((widened_.capacity() + scratch_.capacity()) * sizeof(float) +
                            segments_.capacity() * sizeof(Segment));
}

}  // namespace kvreplay::sim
