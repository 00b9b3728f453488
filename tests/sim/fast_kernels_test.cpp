// The fast kernels of every instruction set this processor runs, against sums in double and the plain kernels: odd
// shapes, every tail, one and many rows, rows split anywhere.

#include "tests/catch.hpp"

#include "policies/bf16.hpp"
#include "sim/fast_attention.hpp"
#include "sim/kernels/kernel_table.hpp"
#include "sim/packed_matrix.hpp"
#include "sim/plain_kernels.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kvreplay::sim {
namespace {

using policies::KvRun;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

const KernelTable& each_instruction_set() {
  const int index = GENERATE(range(0, static_cast<int>(available_kernels().size())));
  return *available_kernels()[static_cast<std::size_t>(index)];
}

std::vector<float> random_floats(Count size, std::mt19937& random, bool as_bf16 = false) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& value : values) value = uniform(random);
  if (as_bf16) round_through_bf16(values);
  return values;
}

std::vector<float> packed_rows(const KernelTable& kernels, const std::vector<float>& rows, Count count, Count size) {
  std::vector<float> packed(rows.size());
  for (Count row = 0; row < count; row += kernels.tile_rows) {
    kernels.pack_tile(rows.data() + row * size, size, std::min(kernels.tile_rows, count - row), size,
                      packed.data() + row * size);
  }
  return packed;
}

// Largest difference of a product to the sum in double, relative to the size of its terms.
double product_error(const KernelTable& kernels, Count count, Count inputs, Count outputs, ElementType type) {
  std::mt19937 random(static_cast<unsigned>(count * 1'000'003 + inputs * 1009 + outputs));
  const std::vector<float> rows = random_floats(count * inputs, random);
  const std::vector<float> weights = random_floats(outputs * inputs, random, type == ElementType::bf16);
  PackedMatrix matrix(outputs, inputs, type);
  for (Count output = 0; output < outputs; output += 5) {
    matrix.store(output, std::min<Count>(5, outputs - output), weights.data() + output * inputs);
  }
  const std::vector<float> packed = packed_rows(kernels, rows, count, inputs);
  std::vector<float> out(static_cast<std::size_t>(count * outputs), nan_value);
  kernels.multiply(
      {packed.data(), count, inputs, matrix.panels(), type, 0, matrix.num_panels(), out.data(), outputs, outputs});
  double error = 0;
  for (Count row = 0; row < count; ++row) {
    for (Count output = 0; output < outputs; ++output) {
      double exact = 0;
      for (Count k = 0; k < inputs; ++k) {
        exact += static_cast<double>(rows[static_cast<std::size_t>(row * inputs + k)]) *
                 static_cast<double>(weights[static_cast<std::size_t>(output * inputs + k)]);
      }
      const double difference =
          std::abs(static_cast<double>(out[static_cast<std::size_t>(row * outputs + output)]) - exact);
      error = std::isnan(difference) ? 1 : std::max(error, difference / std::sqrt(static_cast<double>(inputs)));
    }
  }
  return error;
}

// A cache of random rows at positions [0, count), in runs of random lengths, sizes of steps and element types.
struct RandomCache {
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<std::uint16_t>> halves;
  std::vector<KvRun> runs;

  RandomCache(const AttentionShape& shape, Count first_position, Count end_position, std::mt19937& random) {
    const auto pick = [&random](Count least, Count most) {
      return std::uniform_int_distribution<Count>(least, most)(random);
    };
    for (Count position = first_position; position < end_position;) {
      const Count count = std::min(pick(1, pick(0, 3) == 0 ? 7 : 700), end_position - position);
      const bool is_bf16 = pick(0, 1) == 0;
      const bool head_major = pick(0, 1) == 0;
      const Count gap = pick(0, 3);
      const Count head_stride = head_major ? count * (shape.head_dim + gap) : shape.head_dim + gap;
      const Count row_stride = head_major ? shape.head_dim + gap : shape.num_kv_heads * head_stride;
      const Count size = count * shape.num_kv_heads * (shape.head_dim + gap);
      const void* data[2];
      for (const void*& part : data) {
        floats.push_back(random_floats(size, random, true));
        part = floats.back().data();
        if (!is_bf16) continue;
        halves.emplace_back();
        for (const float value : floats.back()) halves.back().push_back(policies::to_bf16(value));
        part = halves.back().data();
      }
      runs.push_back({position, count, data[0], data[1], row_stride, head_stride,
                      is_bf16 ? ElementType::bf16 : ElementType::fp32});
      position += count;
    }
    std::shuffle(runs.begin(), runs.end(), random);
  }
};

double attention_error(const KernelTable& kernels, const AttentionShape& shape, Count cached, Count count, Count window,
                       unsigned seed) {
  std::mt19937 random(seed);
  const Count first_row = window == 0 ? 0 : std::max<Count>(0, cached - window + 1);
  const RandomCache cache(shape, first_row, cached + count, random);
  const std::vector<float> queries = random_floats(count * shape.num_heads * shape.head_dim, random);
  std::vector<float> plain(queries.size(), nan_value), fast(queries.size(), nan_value);
  const AttentionQueries asked{queries, cached, count, window};
  PlainAttention(shape).attend(asked, {cache.runs, {}}, plain);
  FastAttention(shape, kernels).attend(asked, {cache.runs, {}}, fast);
  double error = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const double difference = std::abs(static_cast<double>(plain[i]) - static_cast<double>(fast[i]));
    error = std::isnan(difference) ? 1 : std::max(error, difference);
  }
  return error;
}

// Sums of a few thousand terms in another order.
constexpr double rounding = 3e-6;

}  // namespace

TEST_CASE("packed products equal sums in double for every tail of rows, inputs and outputs") {
  const KernelTable& kernels = each_instruction_set();
  for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
    for (Count count = 1; count <= 27; ++count) {
      for (const Count inputs : {1, 2, 3, 7, 64}) {
        for (const Count outputs : {1, 31, 32, 33, 70}) {
          INFO(kernels.name << ": " << count << " rows, " << inputs << " inputs, " << outputs << " outputs");
          CHECK(product_error(kernels, count, inputs, outputs, type) < rounding);
        }
      }
    }
    CHECK(product_error(kernels, 1, 6151, 40, type) < rounding);
    CHECK(product_error(kernels, 29, 6151, 40, type) < rounding);  // several blocks of inputs
  }
}

TEST_CASE("a packed matrix gives back what was stored") {
  std::mt19937 random(7);
  for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
    const std::vector<float> weights = random_floats(75 * 13, random, type == ElementType::bf16);
    PackedMatrix matrix(75, 13, type);
    matrix.store(0, 75, weights.data());
    std::vector<float> row(13);
    for (Count output = 0; output < 75; ++output) {
      matrix.load(output, row.data());
      CHECK(std::equal(row.begin(), row.end(), weights.begin() + output * 13));
    }
  }
}

TEST_CASE("fast attention equals the plain one on random shapes, windows and runs") {
  const KernelTable& kernels = each_instruction_set();
  std::mt19937 random(99);
  const auto pick = [&random](std::initializer_list<Count> values) {
    return values.begin()[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
  };
  for (unsigned seed = 0; seed < 150; ++seed) {
    const Count num_kv_heads = pick({1, 2, 3}), head_dim = pick({2, 6, 16, 30, 32, 34, 64, 100, 256});
    const AttentionShape shape{num_kv_heads * pick({1, 2, 3, 4, 7, 8}), num_kv_heads, head_dim,
                               1 / std::sqrt(static_cast<double>(head_dim)), static_cast<double>(pick({0, 50, 3}))};
    const Count cached = pick({0, 1, 31, 250, 1100, 2300}), count = pick({1, 1, 2, 3, 4, 5, 8, 17, 64, 300});
    const Count window = pick({0, 0, 1, 2, 5, 64, 900});
    INFO(kernels.name << ": seed " << seed << ", heads " << shape.num_heads << "/" << num_kv_heads << " x " << head_dim
                      << ", " << count << " queries after " << cached << " rows, window " << window << ", cap "
                      << shape.softcap);
    CHECK(attention_error(kernels, shape, cached, count, window, seed) < rounding);
  }
}

TEST_CASE("fast norms and activations equal the plain ones") {
  const KernelTable& kernels = each_instruction_set();
  std::mt19937 random(3);
  for (const Count size : {1, 5, 16, 63, 64, 65, 2304}) {
    std::vector<float> x = random_floats(size, random), out(x.size()), wanted(x.size());
    const std::vector<float> weight = random_floats(size, random);
    for (const float factor : {1.0F, 1e20F, 1e-25F}) {
      std::vector<float> scaled = x;
      for (float& value : scaled) value *= factor;
      rms_norm({scaled.data(), 1, size}, Eigen::Map<const Eigen::VectorXf>(weight.data(), size), 1e-6,
               {wanted.data(), 1, size});
      kernels.rms_norm(scaled.data(), weight.data(), 1e-6, size, out.data());
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i] == Approx(wanted[i]).epsilon(1e-6));
    }
    std::vector<float> capped = x;
    for (float& value : capped) value *= 200;
    std::vector<float> plain = capped;
    kernels.softcap(capped.data(), size, 30);
    softcap({plain.data(), size}, 30);
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(capped[i] == Approx(plain[i]).epsilon(1e-6));
  }
  for (const Count columns : {1, 15, 32}) {
    std::vector<float> both = random_floats(64, random), out(33, nan_value);
    for (float& value : both) value *= 8;
    kernels.gelu_times(both.data(), both.data() + 32, columns, out.data());
    std::vector<float> gate(both.begin(), both.begin() + 32);
    gelu_tanh_times({gate.data(), 32}, {both.data() + 32, 32});
    for (Count i = 0; i < columns; ++i) {
      // 1 + tanh cancels at large negative gates, and what is left is multiplied by up to 8 * 8.
      CHECK(out[static_cast<std::size_t>(i)] == Approx(gate[static_cast<std::size_t>(i)]).epsilon(1e-5).margin(5e-6));
    }
    CHECK(std::isnan(out[static_cast<std::size_t>(columns)]));
  }
}

TEST_CASE("fast activations are right at the edges of fp32") {
  const KernelTable& kernels = each_instruction_set();
  const auto gelu_of = [&kernels](float value) {
    const std::vector<float> both = [value] {
      std::vector<float> values(64, 1);
      std::fill_n(values.begin(), 32, value);
      return values;
    }();
    std::vector<float> out(32);
    kernels.gelu_times(both.data(), both.data() + 32, 32, out.data());
    return out[17];
  };
  const std::vector<std::pair<float, double>> wanted{{-40, 0},      {-10, 0},      {-3, -0.003637}, {0, 0},
                                                     {1, 0.841192}, {3, 2.996363}, {11.5, 11.5},    {40, 40},
                                                     {1e4, 1e4},    {-1e4, 0}};
  for (const auto& [argument, value] : wanted) CHECK(gelu_of(argument) == Approx(value).epsilon(1e-6).margin(5e-7));
  CHECK(gelu_of(1e30F) == 1e30F);
  CHECK(gelu_of(-1e30F) == 0);
  CHECK(std::isnan(gelu_of(nan_value)));
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> scores{1e4F, infinity, -infinity, -50, 0, nan_value};
  kernels.softcap(scores.data(), static_cast<Count>(scores.size()), 50);
  CHECK(scores[0] == Approx(50));
  CHECK(scores[1] == Approx(50));
  CHECK(scores[2] == Approx(-50));
  CHECK(scores[3] == Approx(-38.079708).epsilon(1e-6));
  CHECK(scores[4] == 0);
  CHECK(std::isnan(scores[5]));
}

TEST_CASE("rows that many queries do not see may hold NaN or infinity") {
  const KernelTable& kernels = each_instruction_set();
  constexpr Count count = 40, cached = 20, window = 10, head_dim = 16;
  const AttentionShape shape{2, 1, head_dim, 0.25, 50};
  std::mt19937 random(5);
  std::vector<float> keys = random_floats((cached + count + 5) * head_dim, random), values = keys;
  const std::vector<float> queries = random_floats(count * 2 * head_dim, random);
  const auto outputs = [&] {
    std::vector<float> out(queries.size());
    const std::vector<KvRun> runs{
        {0, cached + count + 5, keys.data(), values.data(), head_dim, head_dim, ElementType::fp32}};
    FastAttention(shape, kernels).attend({queries, cached, count, window}, {runs, {}}, out);
    return out;
  };
  const std::vector<float> wanted = outputs();
  const auto spoil = [&](Count position, float value) {
    std::fill_n(keys.begin() + position * head_dim, head_dim, value);
    std::fill_n(values.begin() + position * head_dim, head_dim, value);
  };
  spoil(0, nan_value);
  spoil(10, std::numeric_limits<float>::infinity());
  spoil(cached + count, nan_value);
  CHECK(outputs() == wanted);
  // Position 30 is seen by queries 10 to 19.
  spoil(30, nan_value);
  const std::vector<float> spoiled = outputs();
  for (Count row = 0; row < count * 2; ++row) {
    const bool sees = row / 2 >= 10 && row / 2 < 20;
    for (Count k = 0; k < head_dim; ++k) {
      const auto place = static_cast<std::size_t>(row * head_dim + k);
      if (sees) {
        CHECK(std::isnan(spoiled[place]));
      } else {
        CHECK(spoiled[place] == Approx(wanted[place]).margin(1e-6));
      }
    }
  }
}

}  // namespace kvreplay::sim
