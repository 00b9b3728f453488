#include "sim/fast_attention.hpp"

#include <algorithm>
#include <cmath>

namespace kvreplay::sim {
namespace {

using policies::KvRun;

// Query heads up to which rows are read once per query: above, arithmetic outweighs memory.
constexpr Count few_query_heads = 4;

}  // namespace

void FastAttention::prepare(const AttentionQueries& queries, const policies::KvView& view) {
  queries_ = queries;
  view_ = view;
  is_faulty_ = false;
  uses_plain_ = !view.visible.empty();
  if (uses_plain_) {
    plain_.prepare(queries, view);
    return;
  }
  parts_.clear();
  unused_.clear();
  for (std::size_t run = 0; run < view.runs.size(); ++run) {
    if (view.runs[run].is_unused() && view.runs[run].count > 0) unused_.push_back({run, 0, view.runs[run].count});
  }
  is_few_ = queries.count == 1 || queries.count * group_size() <= few_query_heads;
  if (is_few_) {
    prepare_few();
  } else {
    prepare_many();
  }
}

void FastAttention::run(std::span<float> out) {
  if (uses_plain_) {
    plain_.run(out);
    return;
  }
  if (is_few_) {
    run_few(out);
  } else {
    run_many(out);
  }
  if (is_faulty_) replace_faulty_rows(out);  // read after a barrier: the same for every thread
}

// A value that is no number reaches queries that give it no weight, as 0 * NaN; the plain attention leaves it out.
void FastAttention::replace_faulty_rows(std::span<float> out) {
#pragma omp single
  {
    plain_.prepare(queries_, view_);
    plain_out_.resize(out.size());
  }
  plain_.run(plain_out_);
  const Count num_rows = queries_.count * shape_.num_heads, head_dim = shape_.head_dim;
#pragma omp for schedule(static)
  for (Count row = 0; row < num_rows; ++row) {
    float* const to = out.data() + row * head_dim;
    const bool is_faulty = std::any_of(to, to + head_dim, [](float value) { return !std::isfinite(value); });
    if (is_faulty) std::copy_n(plain_out_.data() + row * head_dim, head_dim, to);
  }
}

HeadRows FastAttention::rows_of(const Part& part, Count kv_head) const {
  const KvRun& run = view_.runs[part.run];
  const Count offset =
      (part.begin * run.row_stride + kv_head * run.head_stride) * policies::element_bytes(run.element_type);
  return {static_cast<const std::byte*>(run.keys) + offset, static_cast<const std::byte*>(run.values) + offset,
          run.row_stride, part.count, run.element_type};
}

// Divides by the sum of weights, and notes what is no number.
void FastAttention::finish(float sum, float* out) {
  const float factor = 1 / sum;
  float faults = 0;
  for (Count k = 0; k < shape_.head_dim; ++k) {
    out[k] *= factor;
    faults += out[k] - out[k];
  }
  if (!(faults == 0)) is_faulty_ = true;
}

Count FastAttention::scratch_bytes() const {
  return states_.bytes() + thread_scratch_.bytes() + plain_.scratch_bytes();
}

}  // namespace kvreplay::sim
