// Large memory straight from the operating system, so that what storage costs does not depend on what a heap happened
// to keep: every new block starts with pages nobody touched.
#pragma once

#include "policies/cache_policy.hpp"

#include <string_view>
#include <utility>

namespace kvreplay::policies {

// small: 4 KiB pages (the system's), mapped when first touched. huge: 2 MiB-aligned, huge pages asked for (madvise);
// mapped when first touched. populate: as huge, and mapped at once. Where a system knows no such advice, all are small.
enum class PageChoice : std::uint8_t { small, huge, populate };
std::string_view name_of(PageChoice choice);

// Blocks below this size come from the heap: a mapping of their own would cost more than they do.
inline constexpr Count least_mapped_bytes = Count{2} << 20;

// Zeroed memory, aligned to 2 MiB. Throws std::bad_alloc. `bytes` > 0.
std::byte* map_pages(Count bytes, PageChoice choice);
void unmap_pages(std::byte* begin, Count bytes) noexcept;

// Owns mapped memory, or nothing.
class MappedPages {
 public:
  MappedPages() = default;
  MappedPages(Count bytes, PageChoice choice) : data_(bytes > 0 ? map_pages(bytes, choice) : nullptr), bytes_(bytes) {}
  MappedPages(MappedPages&& other) noexcept { swap(other); }
  MappedPages& operator=(MappedPages&& other) noexcept {
    MappedPages(static_cast<MappedPages&&>(other)).swap(*this);
    return *this;
  }
  ~MappedPages() {
    if (data_ != nullptr) unmap_pages(data_, bytes_);
  }

  std::byte* data() const { return data_; }
  Count bytes() const { return bytes_; }

 private:
  void swap(MappedPages& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  std::byte* data_ = nullptr;
  Count bytes_ = 0;
};

}  // namespace kvreplay::policies
