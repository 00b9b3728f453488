#include "sim/expectation.hpp"

#include "sim/kernels/kernel_table.hpp"

#include <Eigen/Core>

#include <omp.h>

#include <algorithm>
#include <chrono>
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
  return {threads * 2.0 * size * size * size / product_seconds,
          static_cast<double>(rows) * columns * sizeof(float) / read_seconds};
}

// What they reach of the probes is measured in bench/README.md.
MachineSpeed speed_of_fast_kernels(int threads) {
  constexpr double share_of_arithmetic = 0.75, share_of_reading = 0.9;
  const KernelTable& kernels = *available_kernels().front();
  constexpr Count steps = 100'000, floats_of_thread = Count{1} << 24;  // 64 MiB
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
  return {share_of_arithmetic * threads * operations / arithmetic_seconds, share_of_reading * bytes / read_seconds};
}

}  // namespace

MachineSpeed measure_machine_speed(KernelChoice kernels, int threads) {
  return kernels == KernelChoice::fast ? speed_of_fast_kernels(threads) : speed_of_plain_kernels(threads);
}

Work work_of(const ModelConfig& model, const reports::Counters& plan) {
  const double attention_flops_per_pair = 4.0 * static_cast<double>(model.num_heads * model.head_dim);
  const double head = model.has_head ? static_cast<double>(model.vocab_size * model.hidden_size) : 0.0;
  const double layers = static_cast<double>(model.num_parameters()) - head;
  const double passes = counter(plan, "evaluations") - counter(plan, "cached_answers");
  Work work;
  // The head gives one row of logits an evaluation (verify steps a few more), the layers work on every token.
  work.flops = 2.0 * layers * counter(plan, "tokens_evaluated") + 2.0 * head * passes +
               attention_flops_per_pair * counter(plan, "attention_pairs");
  work.weight_bytes_read = static_cast<double>(policies::element_bytes(model.weight_dtype)) * (layers + head) * passes;
  return work;
}

double expected_seconds(const Work& work, const MachineSpeed& speed) {
  return work.flops / speed.flops_per_second + work.weight_bytes_read / speed.read_bytes_per_second;
}

}  // namespace kvreplay::sim
