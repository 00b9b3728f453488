// What a cache does between evaluations, at Gemma2-2b's shape (26 layers, 8 KiB of fp32 K and V a row and layer): the
// policies' own appends, and the bare movements of memory they are made of. `%read` is the traffic over what reading
// memory reaches in the same round; a copy moves two bytes for each byte it copies.

#include "bench/probes.hpp"
#include "policies/pages.hpp"
#include "policies/registry.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace kvreplay;
using policies::Count;
using policies::PageChoice;

bool tiny() { return std::getenv("KVREPLAY_BENCH_TINY") != nullptr; }

policies::CacheGeometry geometry() {
  policies::CacheGeometry shape{.num_kv_heads = 4,
                                .head_dim = 256,
                                .element_type = policies::ElementType::fp32,
                                .sliding_window = 4096,
                                .max_positions = 16384,
                                .slides = {}};
  for (int layer = 0; layer < (tiny() ? 2 : 26); ++layer) shape.slides.push_back(layer % 2 == 0);
  return shape;
}

// One token after `rows` tokens: what the policy itself does around the stack's work, by the clock of the whole append.
void append(benchmark::State& state, const std::string& policy, Count rows) {
  const policies::CacheGeometry shape = geometry();
  std::vector<policies::TokenId> tokens(static_cast<std::size_t>(rows + 1));
  std::iota(tokens.begin(), tokens.end(), 1U);
  const std::span<const policies::TokenId> all(tokens);
  const std::vector<float> zeros(static_cast<std::size_t>((rows + 1) * shape.num_kv_heads * shape.head_dim));
  std::unique_ptr<policies::CachePolicy> cache;
  const auto evaluate = [&](std::span<const policies::TokenId> list) {
    const policies::Admission admission = cache->admit({.sequence = 0, .tokens = list});
    const policies::FreshRows fresh{admission.reused, static_cast<Count>(list.size()) - admission.reused, zeros.data(),
                                    zeros.data()};
    for (Count layer = 0; layer < shape.num_layers(); ++layer) {
      benchmark::DoNotOptimize(cache->rows(layer, fresh));
      cache->store(layer, fresh);
    }
    cache->finish();
  };
  for (auto _ : state) {
    state.PauseTiming();
    cache = policies::make_policy(policies::parse_policy(policy), {.geometry = shape, .buffers = true});
    evaluate(all.first(static_cast<std::size_t>(rows)));
    state.ResumeTiming();
    evaluate(all);
  }
}

struct Block {
  explicit Block(Count bytes, PageChoice pages = PageChoice::huge) : memory(bytes, pages) {}
  std::byte* begin() const { return memory.data(); }
  policies::MappedPages memory;
};

Count cache_bytes(Count rows) { return rows * geometry().row_bytes() * geometry().num_layers(); }

void copy(benchmark::State& state, Count rows) {
  const Count bytes = cache_bytes(rows);
  const Block from(bytes, PageChoice::populate), to(bytes, PageChoice::populate);
  bench::measure(state, 1, {2.0 * static_cast<double>(bytes), 0}, [&] {
    std::memcpy(to.begin(), from.begin(), static_cast<std::size_t>(bytes));
    benchmark::ClobberMemory();
  });
}

// Every row moves down by one slot, as a full sliding window does at each token.
void shift(benchmark::State& state, Count rows) {
  const Count bytes = cache_bytes(rows), row = geometry().row_bytes();
  const Block block(bytes, PageChoice::populate);
  bench::measure(state, 1, {2.0 * static_cast<double>(bytes - row), 0}, [&] {
    std::memmove(block.begin(), block.begin() + row, static_cast<std::size_t>(bytes - row));
    benchmark::ClobberMemory();
  });
}

void zero(benchmark::State& state, Count rows) {
  const Count bytes = cache_bytes(rows);
  const Block block(bytes, PageChoice::populate);
  bench::measure(state, 1, {static_cast<double>(bytes), 0}, [&] {
    std::memset(block.begin(), 0, static_cast<std::size_t>(bytes));
    benchmark::ClobberMemory();
  });
}

// New storage of twice the size, the old rows copied, the old storage given back.
void grow_by_copy(benchmark::State& state, Count rows, PageChoice pages) {
  const Count bytes = cache_bytes(rows);
  const Block from(bytes, PageChoice::populate);
  for (auto _ : state) {
    const Block to(2 * bytes, pages);
    std::memcpy(to.begin(), from.begin(), static_cast<std::size_t>(bytes));
    benchmark::ClobberMemory();
  }
}

// What realloc may do behind one's back: pages change their address, nothing is copied.
void grow_by_remapping(benchmark::State& state, Count rows) {
  const auto bytes = static_cast<std::size_t>(cache_bytes(rows));
  for (auto _ : state) {
    state.PauseTiming();
    void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return state.SkipWithError("no memory");
    std::memset(block, 1, bytes);
    state.ResumeTiming();
    void* const larger = mremap(block, bytes, 2 * bytes, MREMAP_MAYMOVE);
    state.PauseTiming();
    if (larger == MAP_FAILED) return state.SkipWithError("no memory");
    munmap(larger, 2 * bytes);
    state.ResumeTiming();
  }
}

template <class Function, class... Arguments>
benchmark::internal::Benchmark* add(const std::string& name, Count rows, Function function, Arguments... arguments) {
  const Count used = tiny() ? 8 : rows;
  return benchmark::RegisterBenchmark(
             fmt::format("{}/rows={}", name, rows).c_str(),
             [function, used, arguments...](benchmark::State& state) { function(state, used, arguments...); })
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  for (const Count rows : {512, 4096}) {
    for (const std::string policy : {"fixed", "crop", "crop:sliding=window", "doubling", "discard"}) {
      add("append one token/" + policy, rows, [policy](benchmark::State& state, Count used) {
        append(state, policy, used);
      })->UseRealTime();
    }
    add("copy", rows, copy)->UseManualTime();
    add("shift by one row", rows, shift)->UseManualTime();
    add("zero", rows, zero)->UseManualTime();
    add("double with copy/small pages", rows, grow_by_copy, PageChoice::small)->UseRealTime();
    add("double with copy/huge pages", rows, grow_by_copy, PageChoice::huge)->UseRealTime();
    add("double with copy/populated", rows, grow_by_copy, PageChoice::populate)->UseRealTime();
    add("double by mremap", rows, grow_by_remapping)->UseRealTime();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
