// Attention, plain on Eigen and in fp32: the reference that attention.hpp's rules are tested with.
//
// A row that a query does not see takes no part in any product of that query.
#pragma once

#include "sim/attention.hpp"
#include "sim/plain_weights.hpp"

#include <span>
#include <vector>

namespace kvreplay::sim {

class PlainAttention final : public Attention {
 public:
  explicit PlainAttention(const AttentionShape& shape) : shape_(shape) {}

  void prepare(const AttentionQueries& queries, const policies::KvView& view) override;
  void run(std::span<float> out) override;
  Count scratch_bytes() const override;

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
  AttentionQueries queries_;
  std::vector<Segment> segments_;          // of query 0, of query 1, ...
  std::vector<std::size_t> query_begins_;  // [count + 1], into segments_
  std::vector<Segment> unused_;
  Count longest_ = 0;        // rows the busiest query reads
  std::vector<Range> read_;  // per run
  std::vector<FloatRun> runs_;
  FloatBuffer widened_;  // bf16 rows as floats
  Count scratch_size_ = 0;
  FloatBuffer scratch_;  // per thread: scores, then one dropped output row
};

}  // namespace kvreplay::sim
