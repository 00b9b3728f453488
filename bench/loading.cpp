// How long loading takes, and how fast events become evaluations. Goals: 100,000 literal ids < 30 ms, 100,000 events
// < 400 ms, expansion of plain decoding <= 40 ns an evaluation. Each benchmark checks what it made before it is timed.
#include "workloads/expansion.hpp"
#include "workloads/reader.hpp"
#include "workloads/synthetic/mooncake_shape.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace {

using namespace kvreplay::workloads;

Count scaled(Count full) { return std::getenv("KVREPLAY_BENCH_TINY") ? std::max<Count>(1, full / 1000) : full; }

constexpr const char* header =
    "format: kv-workload/1\nmeta: {id: bench, title: loading}\ntokenizer: {name: synthetic, vocab: 256000}\n";

std::string with_literal_ids(Count num_ids) {
  std::string text = std::string(header) + "streams:\n  prompt:\n    ids: >-\n";
  for (Count i = 0; i < num_ids; ++i) {
    text += (i % 16 == 0 ? "      " : " ") + std::to_string(i * 7919 % 256000) + (i % 16 == 15 ? "\n" : "");
  }
  return text + "\nevents:\n  - new: main\n  - append: \"prompt:" + std::to_string(num_ids) + "\"\n  - eval: 1\n";
}

std::string with_calls(Count num_calls) {
  std::string text = std::string(header) + "events:\n  - new: main\n";
  for (Count i = 0; i < num_calls; ++i) {
    text += "  - call: {keep: " + std::to_string(i) + ", feed: \"" + std::to_string(i % 2048) + "\"}\n";
  }
  return text;
}

void load(benchmark::State& state, const std::string& text, Count evaluations) {
  if (facts_of(read_workload_text(text, "bench.yaml"), {false, false}).evaluations != evaluations) {
    return state.SkipWithError("the workload read is not the one written");
  }
  for (auto _ : state) benchmark::DoNotOptimize(read_workload_text(text, "bench.yaml"));
  state.SetBytesProcessed(state.iterations() * static_cast<Count>(text.size()));
}

void load_literal_ids(benchmark::State& state) { load(state, with_literal_ids(scaled(100000)), 1); }
BENCHMARK(load_literal_ids)->Unit(benchmark::kMillisecond);

void load_calls(benchmark::State& state) { load(state, with_calls(scaled(100000)), scaled(100000)); }
BENCHMARK(load_calls)->Unit(benchmark::kMillisecond);

// The same text with a document marker, which the fast parser leaves to yaml-cpp.
void load_calls_by_yaml_cpp(benchmark::State& state) {
  load(state, "---\n" + with_calls(scaled(100000)), scaled(100000));
}
BENCHMARK(load_calls_by_yaml_cpp)->Unit(benchmark::kMillisecond);

void expand(benchmark::State& state, const Workload& workload) {
  Count evaluations = 0;
  for (auto _ : state) {
    Expansion expansion(workload);
    while (const Step* step = expansion.next()) evaluations += step->kind == StepKind::evaluate;
  }
  if (evaluations != state.iterations() * facts_of(workload, {false, false}).evaluations) {
    return state.SkipWithError("evaluations are missing");
  }
  state.SetItemsProcessed(evaluations);
}

void expand_plain_decoding(benchmark::State& state) {
  const std::string n = std::to_string(scaled(1000000));
  expand(state, read_workload_text(std::string(header) + "streams: {out: {seed: 1}}\nevents:\n  - new: main\n" +
                                       "  - append: \"1\"\n  - decode: \"out:" + n + "\"\n",
                                   "bench.yaml"));
}
BENCHMARK(expand_plain_decoding)->Unit(benchmark::kMillisecond);

void expand_mooncake_shape(benchmark::State& state) { expand(state, mooncake_shape({scaled(12031), 1})); }
BENCHMARK(expand_mooncake_shape)->Unit(benchmark::kMillisecond);

void floors_of_mooncake_shape(benchmark::State& state) {
  const Workload workload = mooncake_shape({scaled(12031), 1});
  for (auto _ : state) benchmark::DoNotOptimize(facts_of(workload, {true, false}));
}
BENCHMARK(floors_of_mooncake_shape)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
