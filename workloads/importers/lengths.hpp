// What a length in a trace may be.
#pragma once

#include "workloads/workload.hpp"

namespace kvreplay::workloads::importers {

// Tokens; the most a whole workload may add up to.
inline constexpr Count max_length = 1'000'000'000;

}  // namespace kvreplay::workloads::importers
