// One instruction set's kernels; compiled once per set, each time with another KVREPLAY_ISA.

#include "sim/kernels/elementwise.hpp"
#include "sim/kernels/few_queries.hpp"
#include "sim/kernels/kernel_table.hpp"
#include "sim/kernels/many_queries.hpp"
#include "sim/kernels/probes.hpp"
#include "sim/kernels/products.hpp"

#define KVREPLAY_TEXT_OF(name) #name
#define KVREPLAY_TEXT(name) KVREPLAY_TEXT_OF(name)

namespace kvreplay::sim::KVREPLAY_ISA {

const KernelTable& kernels() {
  static constexpr KernelTable table{KVREPLAY_TEXT(KVREPLAY_ISA),
                                     tile_rows,
                                     multiply,
                                     pack_tile,
                                     rms_norm,
                                     gelu_times,
                                     softcap,
                                     add,
                                     to_row_order,
                                     from_row_order,
                                     attend_few,
                                     attend_many,
                                     gather,
                                     probe_arithmetic,
                                     probe_read};
  return table;
}

}  // namespace kvreplay::sim::KVREPLAY_ISA
