#include "sim/plain_kernels.hpp"

#include "policies/bf16.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace kvreplay::sim {
namespace {

// Outputs per block of a product. A constant, so that a block's arithmetic is the same for every number of threads.
constexpr Count block_outputs = 128;

}  // namespace

void rms_norm(const ConstMatrixMap& x, const Eigen::VectorXf& weight, double eps, MatrixMap out) {
  for (Count row = 0; row < x.rows(); ++row) {
    const double mean = x.row(row).cast<double>().squaredNorm() / static_cast<double>(x.cols());
    const auto scale = static_cast<float>(1 / std::sqrt(mean + eps));
    out.row(row).array() = x.row(row).array() * scale * (1 + weight.transpose().array());
  }
}

void multiply(const ConstMatrixMap& x, const Matrix& weights, MatrixMap out) {
  const Count num_outputs = weights.rows();
  const Count num_blocks = (num_outputs + block_outputs - 1) / block_outputs;
#pragma omp for schedule(static)
  for (Count block = 0; block < num_blocks; ++block) {
    const Count begin = block * block_outputs, count = std::min(block_outputs, num_outputs - begin);
    out.middleCols(begin, count).noalias() = x * weights.middleRows(begin, count).transpose();
  }
}

void gelu_tanh_times(ArrayMap gate, const Eigen::Map<const Eigen::ArrayXf>& up) {
  constexpr auto root_2_over_pi = static_cast<float>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  gate = 0.5F * gate * (1 + (root_2_over_pi * (gate + 0.044715F * gate.cube())).tanh()) * up;
}

void softcap(ArrayMap scores, double cap) {
  if (cap == 0) return;
  const auto limit = static_cast<float>(cap);
  scores = limit * (scores / limit).tanh();
}

void softmax(ArrayMap scores) {
  // Eigen's exp stops at e^-88, a subnormal number.
  constexpr float lowest_exponent = -87;
  if (scores.size() == 0) throw std::logic_error("softmax of a query that sees no row");
  const float largest = scores.maxCoeff<Eigen::PropagateNaN>();
  scores -= largest;
  scores = (scores < lowest_exponent).select(0.0F, scores.exp());
  scores /= scores.sum();
}

void round_through_bf16(std::span<float> values) {
  for (float& value : values) value = policies::from_bf16(policies::to_bf16(value));
}

Rope::Rope(Count head_dim, double theta) : half_(head_dim / 2) {
  for (Count pair = 0; pair < half_; ++pair) {
    const float exponent = static_cast<float>(2 * pair) / static_cast<float>(head_dim);
    const auto power = static_cast<float>(std::pow(static_cast<double>(static_cast<float>(theta)), double{exponent}));
    frequencies_.push_back(1.0F / power);
  }
}

void Rope::prepare(Count first_position, Count count) {
  const auto size = static_cast<std::size_t>(count * half_);
  cosines_.resize(size);
  sines_.resize(size);
  std::size_t place = 0;
  for (Count row = 0; row < count; ++row) {
    for (const float frequency : frequencies_) {
      const double angle = static_cast<double>(static_cast<float>(first_position + row) * frequency);
      cosines_[place] = static_cast<float>(std::cos(angle));
      sines_[place++] = static_cast<float>(std::sin(angle));
    }
  }
}

void Rope::turn(std::span<float> rows, Count num_heads, Count first) const {
  using ConstRow = Eigen::Map<const Eigen::ArrayXf>;
  const Count count = static_cast<Count>(rows.size()) / (num_heads * 2 * half_);
  for (Count row = 0; row < count; ++row) {
    const Count angles = (first + row) * half_;
    const ConstRow cosine(cosines_.data() + angles, half_), sine(sines_.data() + angles, half_);
    for (Count head = 0; head < num_heads; ++head) {
      float* const values = rows.data() + (row * num_heads + head) * 2 * half_;
      for (Count pair = 0; pair < half_; ++pair) {
        const float low = values[pair], high = values[half_ + pair];
        values[pair] = low * cosine[pair] - high * sine[pair];
        values[half_ + pair] = high * cosine[pair] + low * sine[pair];
      }
    }
  }
}

std::size_t eigen_alignment_bytes() { return EIGEN_MAX_ALIGN_BYTES; }

}  // namespace kvreplay::sim
