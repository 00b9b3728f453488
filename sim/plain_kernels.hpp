// The parts of a decoder layer apart from attention, plain on Eigen and in fp32.
//
// They are the tested reference; docs/model.md has the formulas and their sources. Rows are row-major throughout. Every
// output element is computed wholly by one thread in one order, so results do not depend on the number of threads.
#pragma once

#include "sim/model_config.hpp"
#include "sim/plain_weights.hpp"

#include <Eigen/Core>

#include <cstddef>
#include <span>
#include <vector>

namespace kvreplay::sim {

using MatrixMap = Eigen::Map<Matrix>;
using ConstMatrixMap = Eigen::Map<const Matrix>;
using ArrayMap = Eigen::Map<Eigen::ArrayXf>;

// out = x * rsqrt(mean(x^2) + eps) * (1 + weight), row by row; the mean in double. x, out: [rows][hidden], may be the
// same memory.
void rms_norm(const ConstMatrixMap& x, const Eigen::VectorXf& weight, double eps, MatrixMap out);

// out = x * weights^T. x: [rows][in], weights: [out][in], out: [rows][out], no overlap. Called by every thread of a
// team, or outside of one.
void multiply(const ConstMatrixMap& x, const Matrix& weights, MatrixMap out);

// gate = gelu_tanh(gate) * up, elementwise. Overflows for no finite argument that fits the product.
void gelu_tanh_times(ArrayMap gate, const Eigen::Map<const Eigen::ArrayXf>& up);

// scores = cap * tanh(scores / cap); nothing for cap 0.
void softcap(ArrayMap scores, double cap);

// Softmax of a non-empty list with its maximum subtracted. Weights below e^-87 become exactly 0, never subnormal.
// Throws std::logic_error for an empty list: a query always sees itself.
void softmax(ArrayMap scores);

// Rounds each value to bf16 and widens it again.
void round_through_bf16(std::span<float> values);

// Rotate-half RoPE: pairs (i, i + head_dim / 2) turn by position * theta^(-2i / head_dim). Angles are fp32 products
// as in Hugging Face's rotary embedding.
class Rope {
 public:
  Rope(Count head_dim, double theta);
  // Prepares positions first_position ... first_position + count - 1.
  void prepare(Count first_position, Count count);
  // Turns all heads of prepared positions in place, from the `first`-th on. rows: [count][num_heads][head_dim].
  void turn(std::span<float> rows, Count num_heads, Count first = 0) const;

 private:
  Count half_;
  std::vector<float> frequencies_;      // [half]
  std::vector<float> cosines_, sines_;  // [count][half]
};

// Eigen's alignment as this library was compiled; a program must have been compiled with the same.
std::size_t eigen_alignment_bytes();

}  // namespace kvreplay::sim
