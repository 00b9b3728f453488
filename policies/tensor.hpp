// Memory of one K or V tensor, and a meter of what was really taken from the allocator.
#pragma once

#include "policies/cache_policy.hpp"
#include "policies/pages.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace kvreplay::policies {

// Adds up the requested bytes of living tensors, and says which pages they take; must outlive them.
class AllocationMeter {
 public:
  explicit AllocationMeter(PageChoice pages = PageChoice::huge) : pages_(pages) {}

  PageChoice pages() const { return pages_; }
  void add(Count bytes) {
    bytes_.now += bytes;
    bytes_.peak = std::max(bytes_.peak, bytes_.now);
  }
  void subtract(Count bytes) { bytes_.now -= bytes; }
  BufferBytes bytes() const { return bytes_; }

 private:
  PageChoice pages_;
  BufferBytes bytes_;
};

// Owns uninitialised, cache-line aligned memory. Taken and given back as a whole: never resized, so that a policy that
// copies really copies.
class Tensor {
 public:
  Tensor() = default;
  // Throws std::bad_alloc.
  Tensor(Count bytes, AllocationMeter& meter)
      : data_(bytes >= least_mapped_bytes
                  ? map_pages(bytes, meter.pages())
                  : static_cast<std::byte*>(::operator new(static_cast<std::size_t>(bytes), alignment))),
        bytes_(bytes),
        meter_(&meter) {
    meter.add(bytes);
  }
  Tensor(Tensor&& other) noexcept { swap(other); }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor(std::move(other)).swap(*this);
    return *this;
  }
  ~Tensor() {
    if (data_ == nullptr) return;
    if (bytes_ >= least_mapped_bytes) {
      unmap_pages(data_, bytes_);
    } else {
      ::operator delete(data_, alignment);
    }
    meter_->subtract(bytes_);
  }

  std::byte* data() const { return data_; }
  Count bytes() const { return bytes_; }

 private:
  static constexpr std::align_val_t alignment{64};

  void swap(Tensor& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(meter_, other.meter_);
  }

  std::byte* data_ = nullptr;
  Count bytes_ = 0;
  AllocationMeter* meter_ = nullptr;
};

}  // namespace kvreplay::policies
