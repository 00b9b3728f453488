// Eigen's packets of one instruction set, and the few operations the kernels share.
//
// Only for instruction_set.cpp, which is compiled once per instruction set: everything lives in a namespace of its own
// and nothing of Eigen's but packet operations is used, so that no code of one set is linked in place of another's.
#pragma once

#include <Eigen/Core>

#include <cstdint>

#ifndef KVREPLAY_ISA
#define KVREPLAY_ISA native
#define KVREPLAY_LANES 0
#endif

namespace kvreplay::sim::KVREPLAY_ISA {
namespace {

using Count = std::int64_t;
namespace packet = Eigen::internal;
using Floats = packet::packet_traits<float>::type;
using Words = packet::unpacket_traits<Floats>::integer_packet;

constexpr Count lanes = packet::unpacket_traits<Floats>::size;
static_assert(lanes <= 16 && 16 % lanes == 0);
static_assert(KVREPLAY_LANES == 0 || lanes == KVREPLAY_LANES, "compiled for another instruction set than asked for");
// Pairs of packets that make up the 32 columns of a panel: columns c and 16 + c.
constexpr int panel_pairs = static_cast<int>(16 / lanes);
// Accumulators have to fit the registers beside the operands. Eigen's count is that of x86-64 without AVX-512.
constexpr bool many_registers = lanes == 16 || EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS >= 32;
constexpr int tile_rows = many_registers ? 12 : 6;
constexpr int score_rows_at_once = many_registers ? 8 : 4;

EIGEN_ALWAYS_INLINE Floats load(const float* from) { return packet::ploadu<Floats>(from); }
EIGEN_ALWAYS_INLINE void store(float* to, const Floats& value) { packet::pstoreu(to, value); }
EIGEN_ALWAYS_INLINE Floats splat(float value) { return packet::pset1<Floats>(value); }

struct Pair {
  Floats low, high;
};

// Two bf16 numbers a word: the low halves and the high halves.
EIGEN_ALWAYS_INLINE Pair widen(const std::uint16_t* from) {
  const Words words = packet::ploadu<Words>(reinterpret_cast<const std::int32_t*>(from));
  const Words mask = packet::pset1<Words>(static_cast<std::int32_t>(0xFFFF0000U));
  return {packet::preinterpret<Floats>(packet::plogical_shift_left<16>(words)),
          packet::preinterpret<Floats>(packet::pand(words, mask))};
}

EIGEN_ALWAYS_INLINE void prefetch(const void* address) { __builtin_prefetch(address, 0, 3); }
EIGEN_ALWAYS_INLINE void prefetch_far(const void* address) { __builtin_prefetch(address, 0, 2); }

// exp(value) for value <= 0; below e^-87 exactly 0, never a subnormal number.
EIGEN_ALWAYS_INLINE Floats exp_of_difference(const Floats& value) {
  const Floats lowest = splat(-87.0F);
  const Floats too_low = packet::pcmp_lt(value, lowest);
  return packet::pandnot(packet::pexp(packet::pmax(value, lowest)), too_low);
}

EIGEN_ALWAYS_INLINE Floats capped(const Floats& value, const Floats& cap, const Floats& inverse) {
  return packet::pmul(cap, packet::ptanh(packet::pmul(value, inverse)));
}

}  // namespace
}  // namespace kvreplay::sim::KVREPLAY_ISA
