#include "workloads/ledger.hpp"

#include <algorithm>

namespace kvreplay::workloads {

void Ledger::append(const Slice& slice) {
  if (!slices_.empty() && continues(slices_.back(), slice)) {
    slices_.back().count += slice.count;
    ends_.back() += slice.count;
    return;
  }
  ends_.push_back(length() + slice.count);
  slices_.push_back(slice);
}

void Ledger::truncate(Count length, std::vector<Slice>* cut) {
  while (!slices_.empty() && ends_.back() > length) {
    Slice& last = slices_.back();
    const Count start = ends_.back() - last.count;
    const Count kept = std::max<Count>(0, length - start);
    if (cut) cut->push_back(tail_of(last, kept));
    if (kept > 0) {
      last = head_of(last, kept);
      ends_.back() = length;
      return;
    }
    slices_.pop_back();
    ends_.pop_back();
  }
}

Ledger Ledger::split_off(Count length) {
  std::vector<Slice> cut;
  truncate(length, &cut);
  Ledger rest;
  for (auto slice = cut.rbegin(); slice != cut.rend(); ++slice) rest.append(*slice);
  return rest;
}

std::size_t Ledger::slice_index_at(Count position) const {
  // Most look-ups concern the end.
  if (ends_.size() >= 2 && position >= ends_[ends_.size() - 2]) return ends_.size() - 1;
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), position) - ends_.begin());
}

SliceRun Ledger::run_from(Count position) const {
  if (position >= length()) return {};
  const std::size_t index = slice_index_at(position);
  const Count start = ends_[index] - slices_[index].count;
  return {slices_.data() + index, slices_.size() - index, 1, position - start};
}

TokenId Ledger::id_at(const StreamIds& ids, Count position) const {
  const std::size_t index = slice_index_at(position);
  const Slice& slice = slices_[index];
  return ids.id_at(slice, position - (ends_[index] - slice.count));
}

void Ledger::fill(const StreamIds& ids, Count position, std::span<TokenId> out) const {
  std::size_t done = 0;
  for (std::size_t index = out.empty() ? 0 : slice_index_at(position); done < out.size(); ++index) {
    const Slice& slice = slices_[index];
    const Count skip = position + static_cast<Count>(done) - (ends_[index] - slice.count);
    const std::size_t count = std::min(static_cast<std::size_t>(slice.count - skip), out.size() - done);
    ids.fill(slice, skip, out.subspan(done, count));
    done += count;
  }
}

}  // namespace kvreplay::workloads
