#include "sim/weights.hpp"

namespace kvreplay::sim {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

constexpr std::uint64_t golden_step = 0x9E3779B97F4A7C15U;

std::uint64_t stream_of(std::uint64_t seed, std::uint64_t tensor_id) {
  return mix(mix(seed + golden_step) + (tensor_id + 1) * golden_step);
}

// An odd multiple of 2^-23: exact in a float, symmetric around zero and never zero.
float value_at(std::uint64_t stream, std::uint64_t index) {
  const std::uint64_t bits = mix(stream + (index + 1) * golden_step);
  const auto odd = static_cast<std::int32_t>((bits >> 41) << 1) + 1 - (1 << 23);
  return static_cast<float>(odd) * 0x1p-23F;
}

}  // namespace

float random_value(std::uint64_t seed, std::uint64_t tensor_id, std::uint64_t index) {
  return value_at(stream_of(seed, tensor_id), index);
}

void random_rows(std::uint64_t seed, const WeightSlot& slot, Count first_row, Count count, float* rows) {
  const std::uint64_t stream = stream_of(seed, slot.id);
  const auto first = static_cast<std::uint64_t>(first_row * slot.columns);
  const auto size = static_cast<std::uint64_t>(count * slot.columns);
  const auto centre = static_cast<float>(slot.centre), spread = static_cast<float>(slot.spread);
  for (std::uint64_t index = 0; index < size; ++index) {
    rows[index] = centre + spread * value_at(stream, first + index);
  }
}

}  // namespace kvreplay::sim
