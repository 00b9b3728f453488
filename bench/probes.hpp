// What this machine can do at this moment: the limits that a benchmark of the same round is held against.
//
// Neighbours and clocks change from second to second, so absolute times say little. A probe runs in the same process
// and round as what it is compared with, with as many threads. It is the fastest of a few passes: an interrupted pass
// is no limit.
#pragma once

#include <cstdint>

namespace kvreplay::bench {

// fp32 multiplications and additions a second of the instruction set the fast kernels use.
double arithmetic_per_second(int threads);

// Bytes a second of reading memory far larger than any cache a core owns, each thread a part of its own.
double read_bytes_per_second(int threads);

}  // namespace kvreplay::bench
