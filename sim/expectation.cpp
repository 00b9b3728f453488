#include "sim/expectation.hpp"

#include "sim/kernels/kernel_table.hpp"

#include <Eigen/Core>

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <vector>

namespace kvreplay::sim {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double counter(const reports::Counters& counters, std::string_view name) {
  const auto found = std::find_if(counters.begin(), counters.end(), [name](const auto& c) { return c.first == name; });
  return found == counters.end() ? 0.0 : static_cast<double>(found->second);
}

// Seconds of the fastest of a few rounds: neighbours only ever slow a round down.
template <typename Work>
double fastest_seconds(Work&& work) {
  double fastest = 1e9;
  for (int round = 0; round < 10; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, elapsed.count());
  }
  return std::max(fastest, 1e-9);
}

// The reference works on one query row at a time in attention and by Eigen's products elsewhere; a thread takes a share
// of the outputs.
MachineSpeed speed_of_plain_kernels(int threads) {
  constexpr Eigen::Index size = 256;
  const Matrix a = Matrix::Constant(size, size, 0.5F), b = Matrix::Constant(size, size, 0.25F);
  Matrix c(size, size);
  const double product_seconds = fastest_seconds([&] { c.noalias() = a * b.transpose(); });

  constexpr Eigen::Index rows = 4096, columns = 4096;  // 64 MiB: larger than most caches a core owns
  const Matrix weights = Matrix::Constant(rows, columns, 0.5F);
  const Eigen::VectorXf x = Eigen::VectorXf::Constant(columns, 0.25F);
  Eigen::VectorXf y(rows);
  const double read_seconds = fastest_seconds([&] { y.noalias() = weights * x; });
  MachineSpeed speed;
  speed.flops_per_second = threads * 2.0 * size * size * size / product_seconds;
  speed.read_bytes_per_second = static_cast<double>(rows) * columns * sizeof(float) / read_seconds;
  return speed;
}

// What they reach of the probes is measured in bench/README.md.
MachineSpeed speed_of_fast_kernels(int threads) {
  constexpr double share_of_arithmetic = 0.75, share_of_reading = 0.9;
  const KernelTable& kernels = *available_kernels().front();
  constexpr Count steps = 100'000, floats = Count{1} << 25;  // 128 MiB, whatever the number of threads
  const Count floats_of_thread = std::max<Count>(floats / threads, 1024) / 64 * 64;
  std::vector<float> memory(static_cast<std::size_t>(floats_of_thread * threads), 1.0F);
  // One thread stands for all: on a busy machine a team would be as slow as its unluckiest member.
  double operations = 0;
  const double arithmetic_seconds = fastest_seconds([&] { operations = kernels.probe_arithmetic(steps); });
  float total = 0;
  const double read_seconds = fastest_seconds([&] {
#pragma omp parallel num_threads(threads) reduction(+ : total)
    total += kernels.probe_read(memory.data() + omp_get_thread_num() * floats_of_thread, floats_of_thread);
  });
  const double bytes = total > 0 ? static_cast<double>(memory.size() * sizeof(float)) : 0;
  MachineSpeed speed;
  speed.flops_per_second = share_of_arithmetic * threads * operations / arithmetic_seconds;
  speed.read_bytes_per_second = share_of_reading * bytes / read_seconds;
  return speed;
}

}  // namespace

MachineSpeed measure_machine_speed(KernelChoice kernels, int threads, policies::PageChoice pages) {
  MachineSpeed speed = kernels == KernelChoice::fast ? speed_of_fast_kernels(threads) : speed_of_plain_kernels(threads);
  speed.filled_bytes_per_second = measure_filling(pages).filled_bytes_per_second;
  return speed;
}

MachineSpeed measure_filling(policies::PageChoice pages) {
  constexpr Count bytes = Count{64} << 20;  // more than most caches a core owns
  const policies::MappedPages source(bytes, pages);
  std::memset(source.data(), 1, static_cast<std::size_t>(bytes));
  const double seconds = fastest_seconds([&] {
    const policies::MappedPages target(bytes, pages);
    std::memcpy(target.data(), source.data(), static_cast<std::size_t>(bytes));
  });
  // Caches are filled row by row and in many tensors: decoding 6,000 tokens through `crop` copied at half this speed.
  constexpr double share_of_copying = 0.5;
  MachineSpeed speed;
  speed.filled_bytes_per_second = share_of_copying * static_cast<double>(bytes) / seconds;
  return speed;
}

Work work_of(const ModelConfig& model, const reports::Counters& plan) {
  const double attention_flops_per_pair = 4.0 * static_cast<double>(model.num_heads * model.head_dim);
  const double row_bytes = 2.0 * static_cast<double>(model.num_kv_heads * model.head_dim) * sizeof(float);
  const double head = model.has_head ? static_cast<double>(model.vocab_size * model.hidden_size) : 0.0;
  const double layers = static_cast<double>(model.num_parameters()) - head;
  const double passes = counter(plan, "evaluations") - counter(plan, "cached_answers");
  Work work;
  // The head gives one row of logits an evaluation (verify steps a few more), the layers work on every token.
  work.flops = 2.0 * layers * counter(plan, "tokens_evaluated") + 2.0 * head * passes +
               attention_flops_per_pair * counter(plan, "attention_pairs");
  work.bytes_read = static_cast<double>(policies::element_bytes(model.weight_dtype)) * (layers + head) * passes +
                    row_bytes * counter(plan, "rows_read");
  work.bytes_filled = counter(plan, "bytes_copied") + counter(plan, "bytes_zeroed");
  return work;
}

void add(Work& sum, const Work& work, Count times) {
  const auto factor = static_cast<double>(times);
  sum.flops += factor * work.flops;
  sum.bytes_read += factor * work.bytes_read;
  sum.bytes_filled += factor * work.bytes_filled;
}

double expected_seconds(const Work& work, const MachineSpeed& speed) {
  return work.flops / speed.flops_per_second + work.bytes_read / speed.read_bytes_per_second +
         work.bytes_filled / speed.filled_bytes_per_second;
}

}  // namespace kvreplay::sim
