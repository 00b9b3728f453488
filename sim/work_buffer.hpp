// Scratch memory that grows with the longest piece and is never given back: large ones in huge pages, where kernels
// that stream through them meet fewer translations. Contents are lost when it grows.
#pragma once

#include "policies/tensor.hpp"

namespace kvreplay::sim {

class WorkBuffer {
 public:
  // Room for at least `floats`. Throws std::bad_alloc; the buffer is then empty.
  void grow(policies::Count floats) {
    if (floats <= size_) return;
    const policies::Count grown = std::max(floats, size_ + size_ / 2);
    size_ = 0;
    memory_ = policies::Tensor();
    memory_ = policies::Tensor(grown * bytes_each, meter_);
    size_ = grown;
  }

  // Aligned to a cache line.
  float* data() const { return reinterpret_cast<float*>(memory_.data()); }
  policies::Count size() const { return size_; }
  policies::Count bytes() const { return memory_.bytes(); }

 private:
  static constexpr policies::Count bytes_each = sizeof(float);

  policies::AllocationMeter meter_;
  policies::Tensor memory_;
  policies::Count size_ = 0;
};

}  // namespace kvreplay::sim
