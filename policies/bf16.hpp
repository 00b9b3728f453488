// bfloat16 as stored in a cache: the upper half of a float, rounded to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace kvreplay::policies {

using Bf16 = std::uint16_t;

// Rounds to nearest, ties to even; too large values become infinite, a NaN stays a (quiet) NaN.
constexpr Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<Bf16>((bits >> 16) | 0x0040u);
  return static_cast<Bf16>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

// Exact.
constexpr float from_bf16(Bf16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

}  // namespace kvreplay::policies
