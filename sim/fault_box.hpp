// Exceptions out of a parallel region, which none may leave.
#pragma once

#include <exception>
#include <utility>

namespace kvreplay::sim {

// Keeps the first exception of code that may not throw out of a parallel region.
class FaultBox {
 public:
  template <class Work>
  void run(Work&& work) noexcept {
    try {
      work();
    } catch (...) {
      if (fault_ == nullptr) fault_ = std::current_exception();
    }
  }
  bool is_empty() const { return fault_ == nullptr; }
  void rethrow() {
    if (fault_ != nullptr) std::rethrow_exception(std::exchange(fault_, nullptr));
  }

 private:
  std::exception_ptr fault_;
};

}  // namespace kvreplay::sim
