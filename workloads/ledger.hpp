// The token list of a sequence as slices of streams.
#pragma once

#include "workloads/token_ids.hpp"

#include <span>
#include <vector>

namespace kvreplay::workloads {

// Appending a slice that continues the last one costs O(1); truncating costs the slices removed.
class Ledger {
 public:
  Count length() const { return ends_.empty() ? 0 : ends_.back(); }

  // slice.count >= 1.
  void append(const Slice& slice);

  // Keeps the first `length` ids; 0 <= length <= length(). Slices cut off go to `cut`, last first, if given.
  void truncate(Count length, std::vector<Slice>* cut = nullptr);

  // Cuts at `length` and returns the rest.
  Ledger split_off(Count length);

  // The ids from `position` on, for comparisons. Valid until the ledger changes.
  SliceRun run_from(Count position) const;

  TokenId id_at(const StreamIds& ids, Count position) const;

  // Writes ids [position, position + out.size()).
  void fill(const StreamIds& ids, Count position, std::span<TokenId> out) const;

  std::span<const Slice> slices() const { return slices_; }

 private:
  std::size_t slice_index_at(Count position) const;

  std::vector<Slice> slices_;
  std::vector<Count> ends_;  // length of the list up to and including each slice
};

}  // namespace kvreplay::workloads
