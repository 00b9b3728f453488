// The expectation of a compute run against a stack small enough to count by hand.

#include "sim/expectation.hpp"

#include "tests/catch.hpp"

#include <cmath>

namespace kvreplay::sim {
namespace {

// One layer: hidden 4, 2 query heads and 1 KV head of 2, MLP of 8, vocabulary of 10 with a head.
ModelConfig small_model() {
  ModelConfig model;
  model.num_layers = 1;
  model.hidden_size = 4;
  model.num_heads = 2;
  model.num_kv_heads = 1;
  model.head_dim = 2;
  model.intermediate_size = 8;
  model.vocab_size = 10;
  model.has_head = true;
  return model;
}

}  // namespace

TEST_CASE(
    "work is two operations a weight and token, four a pair and head dimension, weights and rows are read, and bytes "
    "filled") {
  const ModelConfig model = small_model();
  const reports::Counters plan{{"evaluations", 5},      {"cached_answers", 1}, {"tokens_evaluated", 7},
                               {"attention_pairs", 11}, {"rows_read", 13},     {"bytes_copied", 17},
                               {"bytes_zeroed", 19}};
  const Work work = work_of(model, plan);
  const double head = 10 * 4, layers = static_cast<double>(model.num_parameters()) - head;
  CHECK(layers == 4 * 4 + 2 * 4 * 2 + 4 * 4 + 3 * 4 * 8 + 5 * 4);  // Q, K and V, O, the three of the MLP, five norms
  CHECK(work.flops == 2 * layers * 7 + 2 * head * 4 + 4.0 * 2 * 2 * 11);
  CHECK(work.bytes_read == 4 * (layers + head) * 4 + 13.0 * (2 * 1 * 2) * 4);
  CHECK(work.bytes_filled == 17 + 19);
}

TEST_CASE("arithmetic, reading and filling take their time one after the other") {
  const Work work{.flops = 30, .bytes_read = 8, .bytes_filled = 21};
  CHECK(expected_seconds(work, {.flops_per_second = 10, .read_bytes_per_second = 4, .filled_bytes_per_second = 3}) ==
        12);
  MachineSpeed filling;
  filling.filled_bytes_per_second = 3;
  CHECK(expected_seconds(work, filling) == 7);
}

TEST_CASE("this machine has some speed with either kernels, on any number of threads") {
  for (const KernelChoice kernels : {KernelChoice::plain, KernelChoice::fast}) {
    for (const int threads : {1, 2, 3, 16}) {
      const MachineSpeed speed = measure_machine_speed(kernels, threads, policies::PageChoice::huge);
      CHECK((std::isfinite(speed.flops_per_second) && speed.flops_per_second > 0));
      CHECK((std::isfinite(speed.read_bytes_per_second) && speed.read_bytes_per_second > 0));
      CHECK((std::isfinite(speed.filled_bytes_per_second) && speed.filled_bytes_per_second > 0));
    }
  }
}

}  // namespace kvreplay::sim
