// How much memory this process can still take.
#pragma once

#include <cstdint>

namespace kvreplay::sim {

// The kernel's MemAvailable, or what the control group leaves of its limit where that is less; 0: unknown.
std::int64_t available_memory_bytes();

}  // namespace kvreplay::sim
