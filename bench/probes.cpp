#include "bench/probes.hpp"

#include "policies/pages.hpp"
#include "sim/kernels/kernel_table.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>

namespace kvreplay::bench {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr int passes = 3;

}  // namespace

double arithmetic_per_second(int threads) {
  constexpr std::int64_t steps = std::int64_t{1} << 21;
  const sim::KernelTable& kernels = *sim::available_kernels().front();
  double best = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    double operations = 0;
#pragma omp parallel num_threads(threads) reduction(+ : operations)
    operations += kernels.probe_arithmetic(steps);
    best = std::max(best, operations / seconds_since(start));
  }
  return best;
}

double read_bytes_per_second(int threads) {
  constexpr std::int64_t floats = std::int64_t{1} << 27;  // 512 MiB
  static const policies::MappedPages memory = [] {
    policies::MappedPages pages(floats * 4, policies::PageChoice::populate);
    std::fill_n(reinterpret_cast<float*>(pages.data()), floats, 1.0F);
    return pages;
  }();
  const sim::KernelTable& kernels = *sim::available_kernels().front();
  const float* const values = reinterpret_cast<const float*>(memory.data());
  const std::int64_t part = floats / threads / 1024 * 1024;
  double best = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    float total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
    total += kernels.probe_read(values + omp_get_thread_num() * part, part);
    if (total > 0) best = std::max(best, static_cast<double>(part * threads * 4) / seconds_since(start));
  }
  return best;
}

}  // namespace kvreplay::bench
