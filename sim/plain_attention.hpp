// Attention of the queries of one piece over everything a cache policy serves, plain on Eigen and in fp32.
//
// Order of a score: q.k * scale, softcap, mask, softmax. A row that a query does not see takes no part in any product
// of that query, so it may hold anything. Results do not depend on how rows are split into runs of memory, apart from
// the order of sums, nor on the other queries of the piece, nor on the number of threads.
#pragma once

#include "policies/cache_policy.hpp"
#include "sim/model_config.hpp"
#include "sim/weights.hpp"

#include <span>
#include <vector>

namespace kvreplay::sim {

struct AttentionShape {
  Count num_heads = 1;
  Count num_kv_heads = 1;  // query head h reads KV head h / (num_heads / num_kv_heads)
  Count head_dim = 1;
  double scale = 1;
  double softcap = 0;  // 0: off
};

// The scale is query_pre_attn_scalar^-0.5, whatever head_dim is.
AttentionShape attention_shape(const ModelConfig& config);

struct AttentionQueries {
  std::span<const float> rows;  // [count][num_heads][head_dim], after RoPE
  Count first_position = 0;
  Count count = 0;
  Count window = 0;  // keys a query sees, itself included; 0: all
};

class PlainAttention {
 public:
  explicit PlainAttention(const AttentionShape& shape) : shape_(shape) {}

  // out: [count][num_heads][head_dim]. Runs of unused slots are multiplied too, as an engine that attends its whole
  // buffer does, and the products dropped. Throws std::logic_error if a query sees no row at all.
  void attend(const AttentionQueries& queries, const policies::KvView& view, std::span<float> out);

 private:
  // Consecutive rows of a run that one query sees, or that all queries read in vain.
  struct Segment {
    std::size_t run;
    Count begin, count;
  };
  // Rows of a run that anybody reads.
  struct Range {
    Count begin = 0, end = 0;
  };
  // A run as floats: head h of its row i is at (i - first_row) * row_stride + h * head_stride.
  struct FloatRun {
    const float* keys;
    const float* values;
    std::ptrdiff_t row_stride, head_stride;
    Count first_row;
  };

  void find_segments(const AttentionQueries& queries, const policies::KvView& view);
  void add_by_position(Count low, Count high, std::span<const policies::KvRun> runs);
  void add_by_mask(const std::uint8_t* visible, std::span<const policies::KvRun> runs);
  void end_query();
  void widen_runs(std::span<const policies::KvRun> runs);
  void attend_head(const float* query, Count kv_head, std::span<const Segment> seen, float* scores, float* out) const;
  void read_in_vain(const float* query, Count kv_head, float* scores) const;

  AttentionShape shape_;
  std::vector<Segment> segments_;          // of query 0, of query 1, ...
  std::vector<std::size_t> query_begins_;  // [count + 1], into segments_
  std::vector<Segment> unused_;
  Count longest_ = 0;        // rows the busiest query reads
  std::vector<Range> read_;  // per run
  std::vector<FloatRun> runs_;
  FloatBuffer widened_;  // bf16 rows as floats
  FloatBuffer scratch_;  // per thread: scores, then one dropped output row
};

}  // namespace kvreplay::sim
