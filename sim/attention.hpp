// Attention of the queries of one piece over everything a cache policy serves.
//
// Order of a score: q.k * scale, softcap, mask, softmax. A row that a query does not see has no influence on that
// query, so it may hold anything. Results do not depend on how rows are split into runs of memory, apart from the order
// of sums, nor on the number of threads.
#pragma once

#include "policies/cache_policy.hpp"
#include "sim/model_config.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

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

  // First position a query sees.
  Count low(Count query) const { return window == 0 ? 0 : std::max<Count>(0, first_position + query - window + 1); }
  // Last position a query sees: its own.
  Count high(Count query) const { return first_position + query; }
};

// Rows [begin, end) of a run that lie at positions [low, high]; none where begin >= end, as for unused slots.
struct RowRange {
  Count begin = 0, end = 0;
  bool is_empty() const { return begin >= end; }
};
inline RowRange rows_at(const policies::KvRun& run, Count low, Count high) {
  if (run.is_unused()) return {};
  return {std::max(low, run.first_position) - run.first_position,
          std::min(high + 1, run.first_position + run.count) - run.first_position};
}

class Attention {
 public:
  virtual ~Attention() = default;

  // Decides what is read, in one thread; queries and view must live until run() is done. Runs of unused slots are
  // multiplied too, as an engine that attends its whole buffer does, and the products dropped. Throws std::logic_error
  // if a query sees no row at all or the view does not fit together.
  virtual void prepare(const AttentionQueries& queries, const policies::KvView& view) = 0;

  // Computes what prepare() decided; called by every thread of a team, or outside of one. out: [count][num_heads]
  // [head_dim], complete when all threads have returned.
  virtual void run(std::span<float> out) = 0;

  // Bytes of scratch memory it holds.
  virtual Count scratch_bytes() const = 0;

  void attend(const AttentionQueries& queries, const policies::KvView& view, std::span<float> out) {
    prepare(queries, view);
    run(out);
  }

 protected:
  [[noreturn]] static void throw_sees_nothing() {
    throw std::logic_error("the cache policy serves a query no row it sees, not even its own");
  }
};

}  // namespace kvreplay::sim
