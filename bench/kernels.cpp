// The fast kernels alone: products with packed weights and attention, one thread, each beside the limit a probe of the
// same round measured.

#include "bench/probes.hpp"
#include "policies/bf16.hpp"
#include "sim/fast_attention.hpp"
#include "sim/flush_subnormals.hpp"
#include "sim/kernels/kernel_table.hpp"
#include "sim/packed_matrix.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace kvreplay;
using policies::Count;
using policies::ElementType;

bool tiny() { return std::getenv("KVREPLAY_BENCH_TINY") != nullptr; }

const char* text_of(ElementType type) { return type == ElementType::fp32 ? "fp32" : "bf16"; }

// Rows times several matrices in turn, so that no cache keeps them.
void multiply(benchmark::State& state, Count rows, ElementType type) {
  const Count inputs = tiny() ? 64 : 2304, outputs = tiny() ? 64 : 4096, matrices = tiny() ? 2 : 16;
  const sim::KernelTable& kernels = *sim::available_kernels().front();
  std::vector<sim::PackedMatrix> weights;
  const std::vector<float> ones(static_cast<std::size_t>(inputs), 1);
  for (Count i = 0; i < matrices; ++i) {
    weights.emplace_back(outputs, inputs, type);
    for (Count output = 0; output < outputs; ++output) weights.back().store(output, 1, ones.data());
  }
  const std::vector<float> packed(static_cast<std::size_t>(rows * inputs), 0.5F);
  std::vector<float> out(static_cast<std::size_t>(rows * outputs));
  const auto elements = static_cast<double>(inputs * outputs);
  const bench::Demand demand{elements * static_cast<double>(policies::element_bytes(type)),
                             2 * elements * static_cast<double>(rows)};
  std::size_t next = 0;
  bench::measure(state, 1, demand, [&] {
    const sim::PackedMatrix& matrix = weights[next++ % weights.size()];
    kernels.multiply(
        {packed.data(), rows, inputs, matrix.panels(), type, 0, matrix.num_panels(), out.data(), outputs, outputs});
    benchmark::ClobberMemory();
  });
}

// One layer of Gemma2-2b: 8 query heads, 4 KV heads of 256, rows head-major; several caches in turn.
void attend(benchmark::State& state, Count depth, Count count, ElementType type) {
  omp_set_num_threads(1);
  const sim::AttentionShape shape{8, 4, tiny() ? 32 : 256, 1.0 / 16, 50};
  const Count rows = (tiny() ? std::min<Count>(depth, 20) : depth) + count, caches = tiny() ? 1 : 16;
  const Count row_bytes = shape.head_dim * policies::element_bytes(type),
              cache_bytes = rows * shape.num_kv_heads * row_bytes;
  const policies::MappedPages memory(2 * caches * cache_bytes, policies::PageChoice::populate);
  const std::vector<float> queries(static_cast<std::size_t>(count * shape.num_heads * shape.head_dim), 0.01F);
  std::vector<float> out(queries.size());
  sim::FastAttention attention(shape, *sim::available_kernels().front());
  const double pairs =
      static_cast<double>(count) * (static_cast<double>(rows - count) + static_cast<double>(count + 1) / 2);
  const bench::Demand demand{2.0 * static_cast<double>(cache_bytes),
                             4 * pairs * static_cast<double>(shape.num_heads * shape.head_dim)};
  Count next = 0;
  bench::measure(state, 1, demand, [&] {
    const std::byte* const keys = memory.data() + 2 * (next++ % caches) * cache_bytes;
    const policies::KvRun run{0, rows, keys, keys + cache_bytes, shape.head_dim, rows * shape.head_dim, type};
    attention.attend({queries, rows - count, count, 0}, {std::span(&run, 1), {}}, out);
    benchmark::ClobberMemory();
  });
}

// Decoding over keys and values of 1e-39, below the smallest normal number, in turns with the same over ones:
// `over_ones` is how many times longer it takes.
void attend_subnormal(benchmark::State& state, ElementType type) {
  omp_set_num_threads(1);
  const sim::AttentionShape shape{8, 4, tiny() ? 32 : 256, 1.0 / 16, 50};
  const Count rows = tiny() ? 20 : 512;
  const auto size = static_cast<std::size_t>(rows * shape.num_kv_heads * shape.head_dim);
  const std::vector<float> queries(static_cast<std::size_t>(shape.num_heads * shape.head_dim), 0.01F);
  std::vector<float> out(queries.size());
  sim::FastAttention attention(shape, *sim::available_kernels().front());
  std::vector<float> floats(size);
  std::vector<policies::Bf16> halves(size);
  const auto seconds_over = [&](float value) {
    std::fill(floats.begin(), floats.end(), value);
    std::transform(floats.begin(), floats.end(), halves.begin(), policies::to_bf16);
    const void* const cache = type == ElementType::fp32 ? static_cast<const void*>(floats.data()) : halves.data();
    const auto* const begin = static_cast<const std::byte*>(cache);
    const policies::KvRun run{0, rows, begin, begin, shape.head_dim, rows * shape.head_dim, type};
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < (tiny() ? 1 : 100); ++i) {
      attention.attend({queries, rows - 1, 1, 0}, {std::span(&run, 1), {}}, out);
      benchmark::ClobberMemory();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const sim::FlushSubnormals flush;  // as the stack does
  (void)seconds_over(1);
  std::vector<double> ratios;
  for (auto _ : state) {
    const double ones = seconds_over(1), subnormals = seconds_over(1e-39F);
    state.SetIterationTime(subnormals);
    ratios.push_back(subnormals / ones);
  }
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
  state.counters["over_ones"] = ratios[ratios.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
    for (const Count rows : {1, 2, 4, 8, 12, 64, 512, 2048}) {
      benchmark::RegisterBenchmark(fmt::format("multiply/{}/rows={}", text_of(type), rows).c_str(), multiply,
                                   tiny() ? std::min<Count>(rows, 13) : rows, type)
          ->Unit(benchmark::kMicrosecond)
          ->UseManualTime();
    }
    for (const Count depth : {512, 4096, 8192}) {
      benchmark::RegisterBenchmark(fmt::format("attend/{}/depth={}/queries=1", text_of(type), depth).c_str(), attend,
                                   depth, 1, type)
          ->Unit(benchmark::kMicrosecond)
          ->UseManualTime();
    }
    benchmark::RegisterBenchmark(fmt::format("attend/{}/depth=512/queries=1/subnormal", text_of(type)).c_str(),
                                 attend_subnormal, type)
        ->Unit(benchmark::kMicrosecond)
        ->UseManualTime();
    for (const Count count : {8, 64, 512, 2048}) {
      benchmark::RegisterBenchmark(fmt::format("attend/{}/depth=2048/queries={}", text_of(type), count).c_str(), attend,
                                   2048, tiny() ? std::min<Count>(count, 9) : count, type)
          ->Unit(benchmark::kMicrosecond)
          ->UseManualTime();
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
