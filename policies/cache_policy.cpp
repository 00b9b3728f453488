#include "policies/cache_policy.hpp"

#include <algorithm>
#include <array>

namespace kvreplay::policies {

Count CacheGeometry::num_sliding_layers() const { return std::count(slides.begin(), slides.end(), true); }

std::string_view name_of(Action action) {
  static constexpr std::array<std::string_view, 9> names{"first",   "append", "cached",  "crop",    "reset",
                                                         "discard", "grow",   "refused", "exceeded"};
  return names[static_cast<std::size_t>(action)];
}

void CachePolicy::release(SequenceId /*sequence*/) {}

bool CachePolicy::truncate(SequenceId /*sequence*/, Count /*length*/) { return false; }

void CachePolicy::fork(SequenceId /*from*/, SequenceId /*as*/) {}

BufferBytes CachePolicy::buffer_bytes() const { return {}; }

}  // namespace kvreplay::policies
