// Token ids of streams: counter-based, so that any slice can be had in any order.
#pragma once

#include "workloads/workload.hpp"

#include <span>

namespace kvreplay::workloads {

// The id of a generated stream (docs/workload-format.md, "Generated ids"):
// 256 + mix(mix(mix(seed) ^ index) ^ position) mod (vocab - 256). `vocab` must exceed 256.
TokenId generated_id(std::uint64_t seed, std::uint64_t index, std::uint64_t position, Count vocab);

// Slices to be read in order. `step` is +1 or -1: tails that were cut off are kept as a stack.
struct SliceRun {
  const Slice* first = nullptr;
  std::size_t num_slices = 0;
  std::ptrdiff_t step = 1;
  Count skip = 0;  // leading ids left out; smaller than the count of the first slice, or 0
};

// The ids behind the slices of one workload.
class StreamIds {
 public:
  // `workload` must outlive this object.
  explicit StreamIds(const Workload& workload);

  // The id at `offset` of `slice`; 0 <= offset < slice.count.
  TokenId id_at(const Slice& slice, Count offset) const;

  // Writes ids [offset, offset + out.size()) of `slice`.
  void fill(const Slice& slice, Count offset, std::span<TokenId> out) const;

  // How many leading ids of `a` and `b` are equal, at most `limit`. Equal places of a stream are skipped unread.
  Count common_prefix(SliceRun a, SliceRun b, Count limit) const;

 private:
  TokenId generated(std::uint64_t state, std::uint64_t position) const;
  Count common_prefix_of_slices(const Slice& a, Count a_offset, const Slice& b, Count b_offset, Count limit) const;
  Count same_place(const Slice& a, Count a_offset, const Slice& b, Count b_offset, Count limit) const;

  std::span<const Stream> streams_;
  std::uint64_t num_generated_;  // ids a generated stream can have
  std::uint64_t reciprocal_;     // of num_generated_, times 2^64
};

// The first `count` ids of a slice, and the slice without them; 0 <= count <= slice.count.
Slice head_of(const Slice& slice, Count count);
Slice tail_of(const Slice& slice, Count count);

// Whether `next` continues `slice` without a gap, so that both are one slice.
bool continues(const Slice& slice, const Slice& next);

}  // namespace kvreplay::workloads
