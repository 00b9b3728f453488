// Kernels by hand-worked numbers and at the edges of fp32.

#include "tests/catch.hpp"

#include "policies/bf16.hpp"
#include "sim/plain_kernels.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace kvreplay::sim {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

ArrayMap array_of(std::vector<float>& values) { return {values.data(), static_cast<Count>(values.size())}; }

std::vector<float> softmax_of(std::vector<float> scores) {
  softmax(array_of(scores));
  return scores;
}

std::vector<float> softcap_of(std::vector<float> scores, double cap) {
  softcap(array_of(scores), cap);
  return scores;
}

float gelu_of(float value) {
  // Nine lanes, so that the packet path computes it.
  std::vector<float> gate(9, value);
  const std::vector<float> ones(9, 1);
  gelu_tanh_times(array_of(gate), {ones.data(), 9});
  return gate[3];
}

}  // namespace

TEST_CASE("softmax subtracts the maximum") {
  CHECK(softmax_of({1000, 1000}) == std::vector<float>{0.5F, 0.5F});
  CHECK(softmax_of({1000, 0}) == std::vector<float>{1, 0});
  CHECK(softmax_of({-1000, -1000}) == std::vector<float>{0.5F, 0.5F});
  const std::vector<float> close = softmax_of({89, 88});
  CHECK(close[0] == Approx(0.731059).margin(1e-6));
  CHECK(close[1] == Approx(0.268941).margin(1e-6));
  CHECK(softmax_of({-infinity, 0}) == std::vector<float>{0, 1});
}

TEST_CASE("softmax of nothing is a broken contract and NaN stays NaN") {
  CHECK_THROWS_AS(softmax_of({}), std::logic_error);
  for (std::size_t place = 0; place < 17; ++place) {
    std::vector<float> scores(17, 1);
    scores[place] = nan_value;
    for (const float weight : softmax_of(scores)) CHECK(std::isnan(weight));
  }
}

TEST_CASE("softmax gives no subnormal weights") {
  const std::vector<float> scores{0, -86, -87.2F, -88, -95, -120, -200, -1e30F, -1};
  for (const float weight : softmax_of(scores)) CHECK((weight == 0 || std::isnormal(weight)));
}

TEST_CASE("the softcap is cap * tanh(x / cap)") {
  const std::vector<float> capped = softcap_of({10, 50, 100, 300, 1e4F, infinity, -infinity, -50, 0}, 50);
  const std::vector<double> wanted{9.868766, 38.079708, 48.201379, 49.999386, 50, 50, -50, -38.079708, 0};
  for (std::size_t index = 0; index < wanted.size(); ++index) {
    CHECK(capped[index] == Approx(wanted[index]).epsilon(1e-6));
  }
  CHECK(softcap_of({10, -3e38F}, 0) == std::vector<float>{10, -3e38F});
  for (const float value : softcap_of(std::vector<float>(9, nan_value), 50)) CHECK(std::isnan(value));
}

TEST_CASE("gelu_tanh is right from large negative to large positive arguments") {
  const std::vector<std::pair<float, double>> wanted{{-40, 0},      {-10, 0},      {-3, -0.003637}, {0, 0},
                                                     {1, 0.841192}, {3, 2.996363}, {11.5, 11.5},    {40, 40},
                                                     {1e4, 1e4},    {-1e4, 0}};
  for (const auto& [argument, value] : wanted) CHECK(gelu_of(argument) == Approx(value).epsilon(1e-6).margin(5e-7));
  CHECK(gelu_of(1e30F) == 1e30F);
  CHECK(gelu_of(-1e30F) == 0);
  CHECK(std::isnan(gelu_of(nan_value)));
}

TEST_CASE("RMSNorm divides by the root mean square and multiplies by one plus its weight") {
  const std::vector<float> rows{3, 4, 0, 0, /**/ 1e20F, 0, 0, 0};
  std::vector<float> out(8);
  Eigen::VectorXf weight(4);
  weight << 0, 1, 5, -0.5F;
  rms_norm({rows.data(), 2, 4}, weight, 0, {out.data(), 2, 4});
  CHECK(out[0] == Approx(1.2));
  CHECK(out[1] == Approx(3.2));
  CHECK(out[4] == Approx(2));  // squares beyond fp32 do not overflow
  rms_norm({rows.data(), 1, 4}, weight, 93.75, {out.data(), 1, 4});
  CHECK(out[0] == Approx(0.3));  // mean of squares 6.25, plus eps: 100
  const std::vector<float> zeros(4, 0);
  rms_norm({zeros.data(), 1, 4}, weight, 1e-6, {out.data(), 1, 4});
  CHECK(out[0] == 0);
}

TEST_CASE("rotate-half RoPE turns pairs half a head apart") {
  // Head size 4, theta 100: frequencies 1 and 0.1.
  Rope rope(4, 100);
  rope.prepare(3, 2);
  std::vector<float> rows{1, 0, 0, 1, 0, 0, 0, 0, /**/ 0, 2, 0, 0, 1, 1, 1, 1};
  rope.turn(rows, 2);
  CHECK(rows[0] == Approx(std::cos(3.0)));
  CHECK(rows[2] == Approx(std::sin(3.0)));
  CHECK(rows[1] == Approx(-std::sin(0.3)));
  CHECK(rows[3] == Approx(std::cos(0.3)));
  CHECK(rows[8 + 1] == Approx(2 * std::cos(0.4)));
  CHECK(rows[8 + 3] == Approx(2 * std::sin(0.4)));
  CHECK(rows[12] == Approx(std::cos(4.0) - std::sin(4.0)));
}

TEST_CASE("products match a double sum for every shape around a block's edge") {
  for (const Count inputs : {1, 7, 40}) {
    for (const Count outputs : {1, 127, 128, 129, 300}) {
      for (const Count rows : {1, 2, 5}) {
        const Matrix x = Matrix::Random(rows, inputs), weights = Matrix::Random(outputs, inputs);
        Matrix out = Matrix::Constant(rows, outputs, nan_value);
        multiply({x.data(), rows, inputs}, weights, {out.data(), rows, outputs});
        const Eigen::MatrixXd exact = x.cast<double>() * weights.cast<double>().transpose();
        CHECK((out.cast<double>() - exact).cwiseAbs().maxCoeff() < 1e-5);
      }
    }
  }
}

TEST_CASE("bf16 rounds to nearest even and keeps NaN a NaN") {
  const auto rounded = [](std::uint32_t bits) { return policies::to_bf16(std::bit_cast<float>(bits)); };
  CHECK(policies::to_bf16(0.2691408770292272F) == 0x3E8A);
  CHECK(policies::from_bf16(0x3E8A) == 0.26953125F);
  CHECK(std::isnan(policies::from_bf16(rounded(0x7F800001))));
  CHECK(std::isnan(policies::from_bf16(rounded(0xFFFFFFFF))));
  CHECK(rounded(0x3F808000) == 0x3F80);
  CHECK(rounded(0x3F818000) == 0x3F82);
  CHECK(rounded(0x7F7FFFFF) == 0x7F80);
  CHECK(rounded(0x00000001) == 0x0000);
  CHECK(rounded(0x80000000) == 0x8000);
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = policies::from_bf16(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      CHECK(std::isnan(policies::from_bf16(policies::to_bf16(value))));
    } else if (policies::to_bf16(value) != bits) {
      FAIL("bf16 " << bits << " does not survive a round trip");
    }
  }
}

TEST_CASE("the build keeps NaN and infinity apart from numbers") {
  volatile float run_time_nan = nan_value;
  const float value = run_time_nan;
  CHECK(std::isnan(value));
  CHECK_FALSE(value == value);
}

TEST_CASE("the library and this program agree on Eigen's alignment") {
  CHECK(eigen_alignment_bytes() == EIGEN_MAX_ALIGN_BYTES);
}

}  // namespace kvreplay::sim
