// Attention over runs of rows, by hand-worked cases: which rows a query sees, and that it reads no others.

#include "tests/catch.hpp"

#include "policies/bf16.hpp"
#include "sim/fast_attention.hpp"
#include "sim/plain_attention.hpp"
#include "sim/plain_kernels.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace kvreplay::sim {
namespace {

using policies::ElementType;
using policies::KvRun;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

// Which attention is tested: the plain one, or the fast one with the kernels of an instruction set.
const KernelTable* kernels_under_test = nullptr;

std::unique_ptr<Attention> make_attention(const AttentionShape& shape) {
  if (kernels_under_test == nullptr) return std::make_unique<PlainAttention>(shape);
  return std::make_unique<FastAttention>(shape, *kernels_under_test);
}

// Runs a test once for each of them.
void use_each_attention() {
  const auto tables = available_kernels();
  const int index = GENERATE(range(0, static_cast<int>(available_kernels().size()) + 1));
  kernels_under_test = index == 0 ? nullptr : tables[static_cast<std::size_t>(index - 1)];
}

KvRun run_of(Count first_position, const std::vector<float>& keys, const std::vector<float>& values, Count head_dim) {
  return {first_position,   static_cast<Count>(keys.size()) / head_dim, keys.data(), values.data(), head_dim, head_dim,
          ElementType::fp32};
}

std::vector<float> positions_from(Count first, Count count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), static_cast<float>(first));
  return values;
}

// Zero queries weigh every visible row alike, so the output is the mean of the visible positions (V = position).
std::vector<float> means(const std::vector<KvRun>& runs, Count first_position, Count count, Count window,
                         std::span<const std::uint8_t> visible = {}) {
  const auto attention = make_attention({1, 1, 1, 1, 50});
  const std::vector<float> queries(static_cast<std::size_t>(count), 0);
  std::vector<float> out(queries.size(), nan_value);
  attention->attend({queries, first_position, count, window}, {runs, visible}, out);
  return out;
}

std::vector<float> means_of_prefill(Count count, Count window) {
  const std::vector<float> values = positions_from(0, count);
  return means({run_of(0, values, values, 1)}, 0, count, window);
}

// The positions a query sees: with orthogonal markers as V every visible row adds its own component.
std::vector<Count> seen_by(Count position, Count num_rows, Count window) {
  std::vector<float> keys(static_cast<std::size_t>(num_rows * num_rows), 0), markers = keys;
  for (Count row = 0; row < num_rows; ++row) markers[static_cast<std::size_t>(row * num_rows + row)] = 1;
  const auto attention = make_attention({1, 1, num_rows, 1, 50});
  const std::vector<float> query(static_cast<std::size_t>(num_rows), 0);
  std::vector<float> out(query.size());
  const std::vector<KvRun> runs{run_of(0, keys, markers, num_rows)};
  attention->attend({query, position, 1, window}, {runs, {}}, out);
  std::vector<Count> seen;
  for (Count row = 0; row < num_rows; ++row) {
    if (out[static_cast<std::size_t>(row)] != 0) seen.push_back(row);
  }
  return seen;
}

Count visible_pairs(Count count, Count window) {
  Count pairs = 0;
  for (Count position = 0; position < count; ++position) {
    pairs += static_cast<Count>(seen_by(position, count, window).size());
  }
  return pairs;
}

void check_close(const std::vector<float>& given, const std::vector<double>& wanted) {
  REQUIRE(given.size() == wanted.size());
  for (std::size_t index = 0; index < given.size(); ++index) CHECK(given[index] == Approx(wanted[index]).margin(1e-6));
}

// Weights of two scores, read off V = (1, 0).
std::pair<double, double> weights_of(double score_0, double score_1, double scale, double cap) {
  const auto attention = make_attention({1, 1, 1, scale, cap});
  const std::vector<float> query{1}, keys{static_cast<float>(score_0), static_cast<float>(score_1)};
  const std::vector<float> first{1, 0}, second{0, 1};
  std::vector<float> out_first(1), out_second(1);
  const std::vector<KvRun> first_runs{run_of(0, keys, first, 1)}, second_runs{run_of(0, keys, second, 1)};
  attention->attend({query, 1, 1, 0}, {first_runs, {}}, out_first);
  attention->attend({query, 1, 1, 0}, {second_runs, {}}, out_second);
  return {out_first[0], out_second[0]};
}

}  // namespace

TEST_CASE("a sliding window counts the query's own position") {
  use_each_attention();
  check_close(means_of_prefill(6, 4), {0, 0.5, 1, 1.5, 2.5, 3.5});
  CHECK(visible_pairs(6, 4) == 18);
  CHECK(visible_pairs(10, 4) == 34);
  CHECK(visible_pairs(5, 1) == 5);
  check_close(means_of_prefill(5, 1), {0, 1, 2, 3, 4});
}

TEST_CASE("a query sees exactly its window, or everything before it in a global layer") {
  use_each_attention();
  CHECK(seen_by(9, 12, 4) == std::vector<Count>{6, 7, 8, 9});
  CHECK(seen_by(2, 12, 4) == std::vector<Count>{0, 1, 2});
  CHECK(seen_by(3, 12, 0) == std::vector<Count>{0, 1, 2, 3});
}

TEST_CASE("means of visible positions follow the closed formulas for every window") {
  use_each_attention();
  for (const Count window : {1, 3, 4, 8, 19, 20, 64}) {
    const std::vector<float> sliding = means_of_prefill(20, window), global = means_of_prefill(20, 0);
    for (Count i = 0; i < 20; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const double position = static_cast<double>(i);
      CHECK(sliding[place] ==
            Approx(i >= window - 1 ? position - static_cast<double>(window - 1) / 2 : position / 2).margin(1e-6));
      CHECK(global[place] == Approx(position / 2).margin(1e-6));
    }
  }
}

TEST_CASE("a prompt longer than the window, then one token, gives the same means") {
  use_each_attention();
  check_close(means_of_prefill(7, 4), {0, 0.5, 1, 1.5, 2.5, 3.5, 4.5});
  // A ring of four slots after position 7 was written over position 3: two runs, the newer row first in memory.
  const std::vector<float> newest = positions_from(7, 1), older = positions_from(4, 3);
  check_close(means({run_of(7, newest, newest, 1), run_of(4, older, older, 1)}, 7, 1, 4), {5.5});
}

TEST_CASE("rows may come in any number of runs, in any order") {
  use_each_attention();
  const std::vector<float> a = positions_from(0, 3), b = positions_from(3, 1), c = positions_from(4, 4);
  const std::vector<KvRun> runs{run_of(4, c, c, 1), run_of(0, a, a, 1), run_of(3, b, b, 1)};
  check_close(means(runs, 5, 3, 4), {3.5, 4.5, 5.5});
  check_close(means(runs, 5, 3, 0), {2.5, 3, 3.5});
}

TEST_CASE("RoPE turns by absolute positions: weights fall with the cosine of the distance") {
  use_each_attention();
  // Head size 2 has one frequency, 1 rad; K and Q are (1, 0) before they are turned, V is the position.
  const auto output_at = [](Count position, Count window) {
    Rope rope(2, 10000);
    const Count first = position - window + 1;
    std::vector<float> keys, values, query{1, 0};
    for (Count key = first; key <= position; ++key) {
      keys.insert(keys.end(), {1, 0});
      values.insert(values.end(), {static_cast<float>(key), 0});
    }
    rope.prepare(first, window);
    rope.turn(keys, 1);
    rope.prepare(position, 1);
    rope.turn(query, 1);
    const auto attention = make_attention({1, 1, 2, 1, 0});
    std::vector<float> out(2);
    const std::vector<KvRun> runs{run_of(first, keys, values, 2)};
    attention->attend({query, position, 1, window}, {runs, {}}, out);
    return out[0];
  };
  CHECK(output_at(6, 4) == Approx(5.240678).epsilon(1e-6));
  CHECK(output_at(5, 4) == Approx(4.240678).epsilon(1e-6));
}

TEST_CASE("rows a query does not see may hold NaN or infinity, bit for bit without effect") {
  use_each_attention();
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> clean{0.3F, -1, 2, 0.5F, 1, -0.25F}, keys = clean, values = clean;
  const auto outputs = [&] {
    const auto attention = make_attention({1, 1, 1, 1, 50});
    const std::vector<float> queries{0.7F, -0.2F};
    std::vector<float> out(2);
    const std::vector<KvRun> runs{run_of(2, keys, values, 1)};
    attention->attend({queries, 5, 2, 2}, {runs, {}}, out);
    return out;
  };
  const std::vector<float> wanted = outputs();
  // Positions 2 and 3 lie before both windows, 7 after both queries.
  keys[0] = keys[1] = keys[5] = nan_value;
  values[0] = nan_value, values[1] = infinity, values[5] = -infinity;
  CHECK(outputs() == wanted);
  // Position 4 is seen by the first query only, 6 by the second: NaN there spoils that one alone.
  values[4] = nan_value;
  CHECK(outputs()[0] == wanted[0]);
  CHECK(std::isnan(outputs()[1]));
  values[4] = clean[4], keys[2] = nan_value;
  CHECK(std::isnan(outputs()[0]));
  CHECK(outputs()[1] == wanted[1]);
}

TEST_CASE("unused slots are read but change nothing") {
  use_each_attention();
  const std::vector<float> rows{1, 2, 3}, zeros(5, 0);
  const std::vector<KvRun> with{run_of(0, rows, rows, 1), run_of(KvRun::unused_slots, zeros, zeros, 1)};
  const std::vector<KvRun> without{run_of(0, rows, rows, 1)};
  const auto attention = make_attention({1, 1, 1, 1, 50});
  const std::vector<float> query{0.5F};
  std::vector<float> out_with(1), out_without(1);
  attention->attend({query, 2, 1, 0}, {with, {}}, out_with);
  attention->attend({query, 2, 1, 0}, {without, {}}, out_without);
  CHECK(out_with == out_without);
}

TEST_CASE("a matrix of visible rows replaces the rule of positions") {
  use_each_attention();
  const std::vector<float> rows = positions_from(0, 4), zeros(2, 0);
  const std::vector<KvRun> runs{run_of(0, rows, rows, 1), run_of(KvRun::unused_slots, zeros, zeros, 1)};
  // The first query sees rows 1 and 3 (a later position), the second 0, 2, 3 and one unused slot, which counts.
  const std::vector<std::uint8_t> visible{0, 1, 0, 1, 0, 0, /**/ 1, 0, 1, 1, 0, 1};
  check_close(means(runs, 2, 2, 4, visible), {2, 1.25});
  const std::vector<std::uint8_t> too_short(11, 1);
  CHECK_THROWS_AS(means(runs, 2, 2, 4, too_short), std::logic_error);
}

TEST_CASE("a query that sees nothing is a broken contract, never NaN or a plausible mean") {
  use_each_attention();
  const std::vector<float> rows = positions_from(0, 3);
  const std::vector<std::uint8_t> nothing(3, 0);
  CHECK_THROWS_AS(means({run_of(0, rows, rows, 1)}, 2, 1, 4, nothing), std::logic_error);
  CHECK_THROWS_AS(means({run_of(0, rows, rows, 1)}, 9, 1, 4), std::logic_error);
  CHECK_THROWS_AS(means({run_of(KvRun::unused_slots, rows, rows, 1)}, 2, 1, 4), std::logic_error);
}

TEST_CASE("scores are scaled and capped before the softmax") {
  use_each_attention();
  const auto [first, second] = weights_of(100, 60, 1, 50);
  CHECK(first == Approx(0.998527).epsilon(1e-5));
  CHECK(second == Approx(0.001473).epsilon(1e-3));
  const auto [kept, gone] = weights_of(1000, 0, 1, 0);
  CHECK(kept == 1);
  CHECK(gone == 0);
}

TEST_CASE("a model's scale is its query_pre_attn_scalar, whatever its head size") {
  use_each_attention();
  const auto score_of_16 = [](Count head_dim, double scalar) {
    ModelConfig config;
    config.head_dim = head_dim;
    config.query_pre_attn_scalar = scalar;
    const auto [first, second] = weights_of(16, 0, attention_shape(config).scale, 0);
    return std::log(first / second);
  };
  CHECK(score_of_16(256, 256) == Approx(1).epsilon(1e-5));
  CHECK(score_of_16(128, 144) == Approx(4.0 / 3).epsilon(1e-5));
}

TEST_CASE("query head h reads KV head h / group, through any strides and element type") {
  use_each_attention();
  constexpr Count num_heads = 4, num_kv_heads = 2, head_dim = 2, num_rows = 3;
  constexpr Count head_stride = 5, row_stride = 11;
  for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
    std::vector<float> floats(num_rows * row_stride, nan_value);
    for (Count row = 0; row < num_rows; ++row) {
      for (Count head = 0; head < num_kv_heads; ++head) {
        const auto place = static_cast<std::size_t>(row * row_stride + head * head_stride);
        floats[place] = static_cast<float>(10 * head + row);
        floats[place + 1] = 1;
      }
    }
    std::vector<std::uint16_t> halves;
    for (const float value : floats) halves.push_back(policies::to_bf16(value));
    const void* data = type == ElementType::fp32 ? static_cast<const void*>(floats.data()) : halves.data();
    const std::vector<KvRun> runs{{0, num_rows, data, data, row_stride, head_stride, type}};
    const auto attention = make_attention({num_heads, num_kv_heads, head_dim, 1, 50});
    const std::vector<float> queries(num_heads * head_dim, 0);
    std::vector<float> out(queries.size());
    attention->attend({queries, 2, 1, 2}, {runs, {}}, out);
    check_close(out, {1.5, 1, 1.5, 1, 11.5, 1, 11.5, 1});
  }
}

}  // namespace kvreplay::sim
