// The bf16 element type: the upper half of a float, rounded to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace kvreplay::sim {

constexpr float widen_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// Ties go to even, values beyond the largest bf16 to infinity, every NaN to a quiet one of the same sign.
constexpr std::uint16_t round_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign_and_quiet_nan = ((bits >> 16) & 0x8000U) | 0x7FC0U;
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? sign_and_quiet_nan : rounded);
}

}  // namespace kvreplay::sim
