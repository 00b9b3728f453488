// Norms and activations of the fast stack, element by element. See KernelTable.
#pragma once

#include "sim/kernels/kernel_table.hpp"
#include "sim/kernels/packets.hpp"

#include <cmath>
#include <limits>

namespace kvreplay::sim::KVREPLAY_ISA {
namespace {

// Applies `function` to whole packets, and to the rest in a packet of its own.
template <class Function>
EIGEN_ALWAYS_INLINE void transform(float* values, Count count, const Function& function) {
  Count i = 0;
  for (; i + lanes <= count; i += lanes) store(values + i, function(load(values + i)));
  if (i == count) return;
  float rest[lanes] = {};
  for (Count j = i; j < count; ++j) rest[j - i] = values[j];
  store(rest, function(load(rest)));
  for (Count j = i; j < count; ++j) values[j] = rest[j - i];
}

double sum_of_squares(const float* x, Count size) {
  double sum = 0;
  for (Count i = 0; i < size; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

void rms_norm(const float* x, const float* weight, double eps, Count size, float* out) {
  Floats parts[4] = {splat(0), splat(0), splat(0), splat(0)};
  Count i = 0;
  for (; i + 4 * lanes <= size; i += 4 * lanes) {
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
      const Floats value = load(x + i + part * lanes);
      parts[part] = packet::pmadd(value, value, parts[part]);
    }
  }
  double sum = static_cast<double>(
                   packet::predux(packet::padd(packet::padd(parts[0], parts[1]), packet::padd(parts[2], parts[3])))) +
               sum_of_squares(x + i, size - i);
  // Squares outside the range of floats.
  if (!(sum < static_cast<double>(std::numeric_limits<float>::max())) || sum < 1e-30) sum = sum_of_squares(x, size);
  const auto scale = static_cast<float>(1 / std::sqrt(sum / static_cast<double>(size) + eps));
  const Floats scales = splat(scale), one = splat(1);
  for (i = 0; i + lanes <= size; i += lanes) {
    store(out + i, packet::pmul(packet::pmul(load(x + i), scales), packet::padd(one, load(weight + i))));
  }
  for (; i < size; ++i) out[i] = x[i] * scale * (1 + weight[i]);
}

EIGEN_ALWAYS_INLINE Floats gelu_times(const Floats& gate, const Floats& up) {
  const Floats half = splat(0.5F), one = splat(1), cubic = splat(0.044715F), factor = splat(0.79788456F);
  const Floats cube = packet::pmul(gate, packet::pmul(gate, gate));
  const Floats inner = packet::pmul(factor, packet::pmadd(cubic, cube, gate));
  return packet::pmul(packet::pmul(packet::pmul(half, gate), packet::padd(one, packet::ptanh(inner))), up);
}

void gelu_times(const float* gate, const float* up, Count count, float* out) {
  Count i = 0;
  for (; i + lanes <= count; i += lanes) store(out + i, gelu_times(load(gate + i), load(up + i)));
  if (i == count) return;
  float rest_of_gate[lanes] = {}, rest_of_up[lanes] = {};
  for (Count j = i; j < count; ++j) {
    rest_of_gate[j - i] = gate[j];
    rest_of_up[j - i] = up[j];
  }
  store(rest_of_gate, gelu_times(load(rest_of_gate), load(rest_of_up)));
  for (Count j = i; j < count; ++j) out[j] = rest_of_gate[j - i];
}

void softcap(float* values, Count count, float cap) {
  const Floats caps = splat(cap), inverse = splat(1 / cap);
  transform(values, count, [&](const Floats& value) { return capped(value, caps, inverse); });
}

void add(float* values, const float* other, Count count) {
  for (Count i = 0; i < count; ++i) values[i] += other[i];
}

}  // namespace
}  // namespace kvreplay::sim::KVREPLAY_ISA
