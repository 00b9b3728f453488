#include "sim/kernels/kernel_table.hpp"

#include <vector>

namespace kvreplay::sim {

#ifdef KVREPLAY_X86_64_KERNELS
namespace avx2 {
const KernelTable& kernels();
}
namespace avx512 {
const KernelTable& kernels();
}
#else
namespace native {
const KernelTable& kernels();
}
#endif

std::span<const KernelTable* const> available_kernels() {
#ifdef KVREPLAY_X86_64_KERNELS
  static const std::vector<const KernelTable*> tables = [] {
    std::vector<const KernelTable*> found;
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (has_avx512) found.push_back(&avx512::kernels());
    found.push_back(&avx2::kernels());
    return found;
  }();
#else
  static const std::vector<const KernelTable*> tables{&native::kernels()};
#endif
  return tables;
}

}  // namespace kvreplay::sim
