// Attention by the kernels of one instruction set: few queries at the speed of memory, many at that of arithmetic.
//
// Views that only an engine's preset makes (a mask of its own) and outputs that are no numbers go through the plain
// attention, so that both kinds of kernels agree on them.
#pragma once

#include "sim/attention.hpp"
#include "sim/kernels/kernel_table.hpp"
#include "sim/plain_attention.hpp"
#include "sim/work_buffer.hpp"

#include <atomic>
#include <vector>

namespace kvreplay::sim {

// Floats of whole cache lines, so that what follows in a buffer starts with a line.
constexpr Count padded_to_line(Count floats) { return (floats + 15) / 16 * 16; }

class FastAttention final : public Attention {
 public:
  FastAttention(const AttentionShape& shape, const KernelTable& kernels)
      : shape_(shape), kernels_(kernels), plain_(shape) {}

  void prepare(const AttentionQueries& queries, const policies::KvView& view) override;
  void run(std::span<float> out) override;
  Count scratch_bytes() const override;

 private:
  // Consecutive rows of a run, at consecutive positions.
  struct Part {
    std::size_t run;
    Count begin, count;
  };
  // Few queries: some rows that one query sees, all of one element type.
  struct Share {
    Count query;
    std::size_t begin_part, end_part;
    bool is_bf16;
  };
  // Online softmax of some query heads.
  struct State {
    float* maxima;
    float* sums;
    float* outputs;
  };
  // Many queries: what a thread works with.
  struct ThreadScratch {
    State state;
    float *panels, *scores, *keys, *values;
  };

  Count group_size() const { return shape_.num_heads / shape_.num_kv_heads; }
  void prepare_few();
  void prepare_many();
  void add_parts(Count query);
  void add_shares(Count query, std::size_t begin_part);
  void run_few(std::span<float> out);
  void run_many(std::span<float> out);
  void attend_share(const Share& share, Count kv_head, const State& state, float* queries) const;
  void combine(Count query, Count kv_head, std::span<float> out);
  void attend_block(Count kv_head, Count first_query, Count num_queries, const ThreadScratch& scratch,
                    std::span<float> out);
  void attend_rows(const ManyQueries& work, const HeadRows& rows, Count first_key, const ThreadScratch& scratch) const;
  HeadRows rows_of(const Part& part, Count kv_head) const;
  State share_state(std::size_t share, Count kv_head);
  ThreadScratch thread_scratch();
  void finish(float sum, float* out);
  void replace_faulty_rows(std::span<float> out);

  AttentionShape shape_;
  const KernelTable& kernels_;
  PlainAttention plain_;
  bool uses_plain_ = false;
  bool is_few_ = false;
  std::atomic<bool> is_faulty_ = false;  // some output is no number

  AttentionQueries queries_;
  policies::KvView view_;
  std::vector<Part> parts_, unused_;
  std::vector<Share> shares_;
  std::vector<std::size_t> query_shares_;  // first share of each query, and the end
  Count block_queries_ = 1;                // many: queries of one unit of work
  Count thread_floats_ = 0;                // of thread_scratch_, per thread
  WorkBuffer states_, thread_scratch_;
  FloatBuffer plain_out_;  // of a piece with faulty rows
};

}  // namespace kvreplay::sim
