// What an instruction set can do at best: the limits its kernels are held against. See KernelTable.
#pragma once

#include "sim/kernels/kernel_table.hpp"
#include "sim/kernels/packets.hpp"

namespace kvreplay::sim::KVREPLAY_ISA {
namespace {

// Independent sums, enough to hide the latency of an addition and few enough for the registers.
constexpr int num_sums = many_registers ? 16 : 12;

double probe_arithmetic(Count steps) {
  Floats sums[num_sums];
  for (Floats& sum : sums) sum = splat(1);
  const Floats factor = splat(0.999F), term = splat(0.001F);
  for (Count step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (int i = 0; i < num_sums; ++i) sums[i] = packet::pmadd(sums[i], factor, term);
  }
  Floats total = splat(0);
  for (const Floats& sum : sums) total = packet::padd(total, sum);
  // The sums go to 1 in every lane; a compiler that left them out would give another number of operations.
  return packet::predux(total) > 0 ? 2.0 * static_cast<double>(steps * num_sums * lanes) : 0;
}

float probe_read(const float* values, Count count) {
  constexpr int streams = 8;
  Floats sums[streams];
  for (Floats& sum : sums) sum = splat(0);
  for (Count i = 0; i + streams * lanes <= count; i += streams * lanes) {
#pragma GCC unroll 8
    for (int stream = 0; stream < streams; ++stream) {
      prefetch(reinterpret_cast<const char*>(values + i + stream * lanes) + 4096);
      sums[stream] = packet::padd(sums[stream], load(values + i + stream * lanes));
    }
  }
  Floats total = splat(0);
  for (const Floats& sum : sums) total = packet::padd(total, sum);
  return packet::predux(total);
}

}  // namespace
}  // namespace kvreplay::sim::KVREPLAY_ISA
