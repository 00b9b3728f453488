#include "sim/cold_state.hpp"

#include <cstddef>

// glibc's (malloc.h); weak, so that other C libraries link without it.
extern "C" __attribute__((weak)) int malloc_trim(std::size_t pad) noexcept;

namespace kvreplay::sim {

void return_free_memory() {
  if (malloc_trim != nullptr) malloc_trim(0);
}

}  // namespace kvreplay::sim
