// How fast a plan counts: plain decode, and the structure of a production trace, through each seed policy.
//
// Counters: evaluations per second of one core, no sample sink attached; the trace also reports the process's peak of
// resident memory. KVREPLAY_BENCH_TINY=1 shrinks the input so that a test can run it.

#include "policies/registry.hpp"
#include "sim/process_use.hpp"
#include "sim/replay.hpp"
#include "workloads/expansion.hpp"
#include "workloads/reader.hpp"
#include "workloads/synthetic/mooncake_shape.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>

namespace {

using namespace kvreplay;

bool tiny() { return std::getenv("KVREPLAY_BENCH_TINY") != nullptr; }

sim::ModelConfig model_for(const workloads::Workload& workload) {
  return sim::resolve_model(workload, {.model = "gemma2-2b", .weights = {}, .kv_dtype = {}, .max_positions = 1 << 24});
}

void replay_whole(benchmark::State& state, const workloads::Workload& workload, const std::string& policy) {
  const sim::ModelConfig model = model_for(workload);
  const workloads::Facts facts = workloads::facts_of(workload, {.floors = false, .checksums = false});
  const policies::PolicySpec spec = policies::parse_policy(policy);
  const sim::ProcessUseMeter meter;
  for (auto _ : state) {
    benchmark::DoNotOptimize(sim::replay(workload, facts, model, spec, nullptr, {}));
  }
  state.counters["evaluations/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * facts.evaluations), benchmark::Counter::kIsRate);
  if (const auto peak = meter.finish().rss_peak_bytes)
    state.counters["rss_peak_MiB"] = static_cast<double>(*peak >> 20);
}

void decode(benchmark::State& state, const std::string& policy) {
  const int count = tiny() ? 1'000 : 2'000'000;
  const std::string yaml = fmt::format(
      "format: kv-workload/1\nmeta: {{id: decode, title: decode}}\ntokenizer: {{name: t, vocab: 256000}}\n"
      "streams: {{p: {{seed: 1}}, gen: {{seed: 2}}}}\nevents:\n  - new: s\n  - append: \"p:512\"\n"
      "  - decode: {{n: {0}, ids: \"gen:{0}\"}}\n",
      count);
  replay_whole(state, workloads::read_workload_text(yaml, "decode.yaml"), policy);
}

void trace(benchmark::State& state, const std::string& policy) {
  const workloads::Workload workload = workloads::mooncake_shape({.num_requests = tiny() ? 20 : 12'031});
  replay_whole(state, workload, policy);
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::string& policy : policies::seed_policies()) {
    benchmark::RegisterBenchmark(("decode/" + policy).c_str(), decode, policy)->Unit(benchmark::kMillisecond);
  }
  for (const std::string& policy : policies::seed_policies()) {
    benchmark::RegisterBenchmark(("trace/" + policy).c_str(), trace, policy)->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
