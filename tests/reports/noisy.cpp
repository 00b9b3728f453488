#include "tests/reports/noisy.hpp"

#include "reports/compare/side.hpp"
#include "tests/reports/examples.hpp"

#include <fmt/format.h>

#include <random>
#include <utility>

namespace kvreplay::reports::tests {
namespace {

Repetition repetition_of(Count index, double total_ns, double extra_attention_ns) {
  Latency latency;
  latency.total_ns = static_cast<Count>(total_ns + extra_attention_ns);
  latency.parts_ns = {{"admit", static_cast<Count>(total_ns * 0.01)},
                      {"attention", static_cast<Count>(total_ns * 0.2 + extra_attention_ns)},
                      {"mlp", static_cast<Count>(total_ns * 0.7)}};
  ProcessUse use;
  use.cpu_ns = latency.total_ns;
  use.involuntary_switches = 0;
  Repetition repetition;
  repetition.index = repetition.run_order = index;
  repetition.latency = latency;
  repetition.process = use;
  return repetition;
}

}  // namespace

ResultFile noisy_file(const Noisy& noisy) {
  // Words of the engine are the same everywhere; distributions of the standard library are not.
  std::mt19937_64 random(noisy.seed);
  const auto around = [&](double ns, double spread) {
    const double unit = static_cast<double>(random() >> 11) / 9007199254740992.0;
    return ns * (1 + spread * 1.7320508 * (2 * unit - 1));
  };
  ResultFile file;
  file.provenance.entries = {{"cpu_model", "one"}, {"threads", "1"}, {"build_type", "Release"}};
  file.results = {plan_run("fewshot", "discard", 100), plan_run("fewshot", "crop", 20)};
  for (RunResult& run : file.results) {
    const bool second = run.policy.name == "crop";
    const double quiet_ns = (second ? 20e6 : 100e6) * (second || noisy.factor_of_all ? noisy.factor : 1);
    const double ns = noisy.process_spread > 0 ? around(quiet_ns, noisy.process_spread) : quiet_ns;
    run.depth = "compute";
    for (Count index = 0; index < noisy.repetitions; ++index) {
      run.repetitions.push_back(
          repetition_of(index, around(ns, noisy.spread), second ? ns * noisy.slower_attention : 0));
    }
  }
  return file;
}

Comparison compared(const ResultFile& baseline, const ResultFile& candidate) {
  return compare(side_of({{"before.json", baseline}}, "baseline"), side_of({{"now.json", candidate}}, "candidate"), {});
}

Comparison compared(const std::vector<Noisy>& baseline, const std::vector<Noisy>& candidate) {
  const auto side = [](const std::vector<Noisy>& all, const std::string& what) {
    std::vector<NamedResult> files;
    for (std::size_t i = 0; i < all.size(); ++i)
      files.push_back({fmt::format("{}-{}.json", what, i), noisy_file(all[i])});
    return side_of(std::move(files), what);
  };
  return compare(side(baseline, "baseline"), side(candidate, "candidate"), {});
}

}  // namespace kvreplay::reports::tests
