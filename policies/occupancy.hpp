// Which rows of a rolling buffer are non-zero, as transformers 4.42 to 4.51 count them to learn a cache's length.
#pragma once

#include "policies/cache_policy.hpp"

#include <algorithm>
#include <vector>

namespace kvreplay::policies {

// HybridCache._sliding_update on flags. Costs O(tokens) an update.
class Occupancy {
 public:
  // `rows` slots, all of them zero.
  explicit Occupancy(Count rows = 0) : flags_(static_cast<std::size_t>(rows), 0) {}

  Count rows() const { return static_cast<Count>(flags_.size()); }
  Count count() const { return count_; }

  void clear() {
    std::fill(flags_.begin(), flags_.end(), std::uint8_t{0});
    count_ = 0;
  }

  // Positions are clamped to the last slot; the buffer rolls by one as soon as the last slot is written, one step too
  // early (huggingface/transformers issue 37574).
  bool rolls(Count first_position, Count count) const { return first_position + count >= rows(); }

  // `count` tokens are written from `first_position` on.
  void update(Count first_position, Count count) {
    if (count > rows()) {
      std::fill(flags_.begin(), flags_.end(), std::uint8_t{1});
      count_ = rows();
      return;
    }
    if (rolls(first_position, count)) start_ = (start_ + 1) % rows();
    const Count last_slot = rows() - 1;
    for (Count slot = std::min(first_position, last_slot); slot <= std::min(first_position + count - 1, last_slot);
         ++slot) {
      std::uint8_t& flag = flags_[static_cast<std::size_t>((start_ + slot) % rows())];
      count_ += 1 - flag;
      flag = 1;
    }
  }

 private:
  std::vector<std::uint8_t> flags_;
  Count start_ = 0;  // flag of slot 0
  Count count_ = 0;
};

}  // namespace kvreplay::policies
