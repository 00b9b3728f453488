// What a cache does between evaluations, at Gemma2-2b's shape (26 layers, 8 KiB of fp32 K and V a row and layer): the
// policies' own appends, and the bare movements of memory they are made of. `%decode` is a share of reading 2b's
// weights once, `%read` is the traffic over what reading memory reaches in the same round; a copy moves two bytes for
// each byte it copies.

#include "bench/probes.hpp"
#include "policies/pages.hpp"
#include "policies/registry.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <sys/mman.h>

#include <chrono>
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

// Fresh K and V of every layer, all zeros: what an attention-less stack would give a cache.
class Appender {
 public:
  Appender(const std::string& policy, Count most_tokens)
      : shape_(geometry()),
        tokens_(static_cast<std::size_t>(most_tokens)),
        zeros_(static_cast<std::size_t>(most_tokens * shape_.num_kv_heads * shape_.head_dim)),
        cache_(policies::make_policy(policies::parse_policy(policy), {.geometry = shape_, .buffers = true})) {
    std::iota(tokens_.begin(), tokens_.end(), 1U);
  }

  // What one evaluation of the first `length` tokens asks of the cache.
  void evaluate(Count length) {
    const policies::Admission admission =
        cache_->admit({.sequence = 0, .tokens = std::span(tokens_).first(static_cast<std::size_t>(length))});
    const policies::FreshRows fresh{admission.reused, length - admission.reused, zeros_.data(), zeros_.data()};
    for (Count layer = 0; layer < shape_.num_layers(); ++layer) {
      benchmark::DoNotOptimize(cache_->rows(layer, fresh));
      cache_->store(layer, fresh);
    }
    cache_->finish();
  }

 private:
  policies::CacheGeometry shape_;
  std::vector<policies::TokenId> tokens_;
  std::vector<float> zeros_;
  std::unique_ptr<policies::CachePolicy> cache_;
};

// Token after token behind `rows` of them, and that time as a share of the least a decode step of gemma2-2b with bf16
// weights takes: reading its 2.6 billion weights.
void append(benchmark::State& state, const std::string& policy, Count rows) {
  constexpr double weight_bytes = 2.0 * 2.6e9;
  Count length = rows;
  Appender appender(policy, rows + static_cast<Count>(state.max_iterations));
  appender.evaluate(length);
  const double step_seconds = weight_bytes / bench::read_bytes_per_second(1);
  std::vector<double> seconds;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    appender.evaluate(++length);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(elapsed.count());
    seconds.push_back(elapsed.count());
  }
  state.counters["%decode"] =
      100 * std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size()) / step_seconds;
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
  constexpr benchmark::IterationCount appends = 64;
  for (const Count rows : {512, 4096}) {
    for (const std::string policy : {"fixed", "crop", "crop:sliding=window", "doubling", "discard"}) {
      const auto work = [policy](benchmark::State& state, Count used) { append(state, policy, used); };
      add("append one token/" + policy, rows, work)->UseManualTime()->Iterations(tiny() ? 3 : appends);
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
