#include "bench/probes.hpp"

#include "policies/pages.hpp"
#include "sim/kernels/kernel_table.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace kvreplay::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool tiny() { return std::getenv("KVREPLAY_BENCH_TINY") != nullptr; }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Probes {
  double read, arithmetic;
};

// Arithmetic first: the clock is then still what the work left it at.
Probes probe(int threads) {
  const double arithmetic = arithmetic_per_second(threads);
  return {read_bytes_per_second(threads), arithmetic};
}

}  // namespace

double arithmetic_per_second(int threads) {
  const std::int64_t steps = std::int64_t{1} << (tiny() ? 10 : 20);
  const sim::KernelTable& kernels = *sim::available_kernels().front();
  const auto start = Clock::now();
  double operations = 0;
#pragma omp parallel num_threads(threads) reduction(+ : operations)
  operations += kernels.probe_arithmetic(steps);
  return operations / seconds_since(start);
}

double read_bytes_per_second(int threads) {
  // Parts of a large block in turn, so that no cache still has what is read.
  static const std::int64_t floats = std::int64_t{1} << (tiny() ? 18 : 28), part = floats / 8;
  static const policies::MappedPages memory = [] {
    policies::MappedPages pages(floats * 4, policies::PageChoice::populate);
    std::fill_n(reinterpret_cast<float*>(pages.data()), floats, 1.0F);
    return pages;
  }();
  static std::int64_t next_part = 0;
  const sim::KernelTable& kernels = *sim::available_kernels().front();
  const float* const values = reinterpret_cast<const float*>(memory.data()) + next_part++ % 8 * part;
  const std::int64_t share = part / threads / 1024 * 1024;
  const auto start = Clock::now();
  float total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  total += kernels.probe_read(values + omp_get_thread_num() * share, share);
  const double seconds = seconds_since(start);
  return total > 0 ? static_cast<double>(share * threads * 4) / seconds : 0;
}

void measure(benchmark::State& state, int threads, const Demand& demand, const std::function<void()>& work) {
  constexpr double least_seconds = 0.02;
  work();  // scratch memory is taken, pages are mapped
  const auto start = Clock::now();
  work();
  const double once = std::max(seconds_since(start), 1e-9);
  const int repeats = tiny() ? 1 : static_cast<int>(std::ceil(std::max(1.0, least_seconds / once)));
  std::vector<double> read, arithmetic;
  Probes before = probe(threads);
  for (auto _ : state) {
    const auto begin = Clock::now();
    for (int i = 0; i < repeats; ++i) work();
    const double seconds = seconds_since(begin) / repeats;
    const Probes after = probe(threads);
    state.SetIterationTime(seconds);
    read.push_back(200 * demand.bytes / seconds / (before.read + after.read));
    arithmetic.push_back(200 * demand.flops / seconds / (before.arithmetic + after.arithmetic));
    before = after;
  }
  if (demand.bytes > 0) state.counters["%read"] = median(read);
  if (demand.flops > 0) state.counters["%fma"] = median(arithmetic);
}

}  // namespace kvreplay::bench
