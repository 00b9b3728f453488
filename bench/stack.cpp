// The fast decoder stack at Gemma2-2b's shapes, end to end: decoding at several depths, prefill, chunks. Every row
// carries the percentage of this machine's limit that a probe of the same round measured: `%read` of reading memory,
// `%fma` of fp32 arithmetic. bench/README.md says how to read and compare them.

#include "bench/probes.hpp"
#include "policies/registry.hpp"
#include "sim/decoder_stack.hpp"
#include "workloads/workload.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>

namespace {

using namespace kvreplay;
using policies::Count;

bool tiny() { return std::getenv("KVREPLAY_BENCH_TINY") != nullptr; }

struct Model {
  std::string name;
  std::string dtype;     // of the weights
  std::string kv_dtype;  // of the cache
};

sim::ModelConfig config_of(const Model& model) {
  const std::string small = model.name + ":num_layers=2,hidden_size=96,num_heads=4,num_kv_heads=2,head_dim=32";
  workloads::Workload none;
  return sim::resolve_model(none, {.model = tiny() ? small : model.name,
                                   .weights = {},
                                   .kv_dtype = model.kv_dtype,
                                   .max_positions = 16384,
                                   .dtype = model.dtype});
}

// The last stack made: benchmarks of one model follow each other, and two large models would not fit.
sim::DecoderStack& stack_of(const Model& model) {
  static std::unique_ptr<sim::DecoderStack> stack;
  static std::string made;
  const std::string key = model.name + model.dtype + model.kv_dtype;
  if (stack == nullptr || made != key) {
    stack.reset();
    stack = std::make_unique<sim::DecoderStack>(config_of(model));
    made = key;
  }
  return *stack;
}

// A sequence whose first `depth` tokens are in a cache that is large enough for all that follows.
class Sequence {
 public:
  Sequence(sim::DecoderStack& stack, Count depth, Count room)
      : stack_(stack),
        cache_(policies::make_policy(policies::parse_policy(fmt::format("fixed:capacity={}", depth + room)),
                                     {.geometry = stack.config().geometry(), .buffers = true})),
        tokens_(static_cast<std::size_t>(depth + room)) {
    std::iota(tokens_.begin(), tokens_.end(), 1U);
    // Decoding reads rows whatever they hold, so a depth needs no prefill: the rows pass through the policy as zeros.
    if (depth == 0) return;
    const policies::CacheGeometry geometry = stack.config().geometry();
    (void)cache_->admit({.sequence = 0, .tokens = first(depth)});
    const std::vector<float> zeros(static_cast<std::size_t>(depth * geometry.num_kv_heads * geometry.head_dim));
    const policies::FreshRows fresh{0, depth, zeros.data(), zeros.data()};
    for (Count layer = 0; layer < geometry.num_layers(); ++layer) {
      (void)cache_->rows(layer, fresh);
      cache_->store(layer, fresh);
    }
    cache_->finish();
  }

  void feed(Count begin, Count count) {
    cache_->truncate(0, begin);
    const policies::Admission admission = cache_->admit({.sequence = 0, .tokens = first(begin + count)});
    if (admission.reused != begin) std::abort();
    benchmark::DoNotOptimize(
        stack_.evaluate(first(begin + count).subspan(static_cast<std::size_t>(begin)), begin, 0, 1, *cache_));
    cache_->finish();
  }

 private:
  std::span<const policies::TokenId> first(Count count) const {
    return {tokens_.data(), static_cast<std::size_t>(count)};
  }

  sim::DecoderStack& stack_;
  std::unique_ptr<policies::CachePolicy> cache_;
  std::vector<policies::TokenId> tokens_;
};

// Rows of K and V that `count` queries from `first` on see: each layer reads what the last query of the piece sees
// once.
double kv_bytes(const sim::ModelConfig& config, Count first, Count count) {
  double rows = 0;
  for (const bool slides : config.slides) {
    const Count end = first + count;
    rows += static_cast<double>(slides ? std::min(end, config.sliding_window + count - 1) : end);
  }
  return rows * static_cast<double>(config.geometry().row_bytes());
}

double visible_pairs(const sim::ModelConfig& config, Count first, Count count) {
  double pairs = 0;
  for (const bool slides : config.slides) {
    for (Count position = first; position < first + count; ++position) {
      pairs += static_cast<double>(slides ? std::min(position + 1, config.sliding_window) : position + 1);
    }
  }
  return pairs;
}

struct Piece {
  Model model;
  Count depth = 0, count = 1;
  int threads = 1;
};

void evaluate(benchmark::State& state, const Piece& piece) {
  omp_set_num_threads(piece.threads);
  sim::DecoderStack& stack = stack_of(piece.model);
  const sim::ModelConfig& config = stack.config();
  const Count depth = tiny() ? std::min<Count>(piece.depth, 20) : piece.depth;
  const Count count = tiny() ? std::min<Count>(piece.count, 9) : piece.count;
  Sequence sequence(stack, depth, count);
  const double bytes = static_cast<double>(stack.weight_bytes()) + kv_bytes(config, depth, count);
  const double head = config.has_head ? static_cast<double>(config.vocab_size * config.hidden_size) : 0;
  const double layers = static_cast<double>(config.num_parameters()) - head;
  const double flops =
      2 * layers * static_cast<double>(count) + 2 * head +
      4 * static_cast<double>(config.num_heads * config.head_dim) * visible_pairs(config, depth, count);
  bench::measure(state, piece.threads, {bytes, flops}, [&] { sequence.feed(depth, count); });
}

void add(const std::string& what, const Piece& piece) {
  const std::string name =
      fmt::format("{}/{}/weights={}/kv={}/depth={}/tokens={}/threads={}", piece.model.name, what, piece.model.dtype,
                  piece.model.kv_dtype, piece.depth, piece.count, piece.threads);
  benchmark::RegisterBenchmark(name.c_str(), evaluate, piece)->Unit(benchmark::kMillisecond)->UseManualTime();
}

void add_all() {
  for (const std::string dtype : {"fp32", "bf16"}) {
    const Model model{"gemma2-2b-attention", dtype, "fp32"};
    for (const Count depth : {0, 512, 4096, 8192}) add("decode", {model, depth, 1, 1});
    for (const Count count : {8, 64}) add("chunk", {model, 2048, count, 1});
    for (const Count count : {512, 2048}) add("prefill", {model, 0, count, 1});
    add("decode", {model, 4096, 1, 2});
    add("prefill", {model, 0, 512, 2});
  }
  add("decode", {{"gemma2-2b-attention", "bf16", "bf16"}, 4096, 1, 1});
  add("decode", {{"gemma2-2b-attention", "bf16", "bf16"}, 8192, 1, 1});
  const Model whole{"gemma2-2b", "bf16", "fp32"};
  add("decode", {whole, 0, 1, 1});
  add("decode", {whole, 0, 1, 2});
  add("prefill", {whole, 0, 128, 2});
}

}  // namespace

int main(int argc, char** argv) {
  add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
