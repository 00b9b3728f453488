// What this machine can do at this moment, and work held against it.
//
// Neighbours and clocks change from second to second, so absolute times say little. Probes run in the same process just
// before and after every measured round, with as many threads; a round counts as a percentage of their mean, a
// benchmark as the median of its rounds.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>

namespace kvreplay::bench {

// fp32 multiplications and additions a second of the instruction set the fast kernels use.
double arithmetic_per_second(int threads);

// Bytes a second of reading memory far larger than any cache a core owns, each thread a part of its own.
double read_bytes_per_second(int threads);

// What one call of the measured work has to do; 0 leaves the counter out.
struct Demand {
  double bytes = 0;  // read (and written, for copies) -> counter %read
  double flops = 0;  // -> counter %fma
};

// Runs `work` in rounds of at least 20 ms. The benchmark must use manual time.
void measure(benchmark::State& state, int threads, const Demand& demand, const std::function<void()>& work);

}  // namespace kvreplay::bench
