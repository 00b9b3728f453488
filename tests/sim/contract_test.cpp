// What every row of the policy table promises, on random workloads at every depth.

#include "sim/verifier.hpp"
#include "tests/catch.hpp"
#include "tests/sim/random_workload.hpp"
#include "tests/sim/replays.hpp"
#include "tests/sim/stack_fixtures.hpp"

namespace kvreplay::sim {
namespace {

using fixtures::each_kernels;
using testing::loaded_text;
using testing::random_workload;
using testing::replay_of;
using testing::value;

constexpr std::uint32_t num_plan_seeds = 300;
constexpr std::uint32_t num_compute_seeds = 40;

// Each row with its defaults, and with every choice of every knob once.
std::vector<std::string> all_policies() {
  std::vector<std::string> texts;
  for (const policies::PolicyEntry& entry : policies::policy_table()) {
    texts.push_back(entry.name);
    for (const policies::PolicyOption& option : entry.options) {
      for (const std::string& choice : option.choices) {
        if (choice == option.default_value) continue;
        std::string text = entry.name + ":" + option.key + "=" + choice;
        if (option.key == "overflow" && choice == "fixed") text += ",capacity=64";
        texts.push_back(text);
      }
    }
  }
  texts.insert(texts.end(), {"fixed:sliding=window,write=before", "fixed:sliding=window,keep=seed", "fixed:capacity=40",
                             "crop:sliding=window,hold_old=false", "doubling:keep=seed,sliding=full,attend=capacity",
                             "discard:write=before,attend=capacity", "reset:overflow=doubling,write=before"});
  return texts;
}

void check_counters(const ReplayRecord& record, const workloads::Facts& facts, bool exact_policy) {
  CHECK(value(record, "tokens_reused") + value(record, "tokens_evaluated") == value(record, "tokens_requested"));
  CHECK(value(record, "rewinds_asked") == value(record, "rewinds_served") + value(record, "rewinds_refused"));
  CHECK(value(record, "live_bytes_peak") <= value(record, "reserved_bytes_peak"));
  CHECK(value(record, "reserved_bytes_peak") <= value(record, "transient_bytes_peak"));
  CHECK(value(record, "bytes_at_end") <= value(record, "reserved_bytes_peak"));
  CHECK(value(record, "slack_byte_steps") >= 0);
  const Count taken = value(record, "buffers_allocated"), released = value(record, "releases");
  CHECK(taken - released == (value(record, "bytes_at_end") > 0 ? 2 * 4 : 0));  // K and V of four layers
  if (!record.outcome.completed()) return;
  CHECK(value(record, "evaluations") == facts.evaluations);
  CHECK(value(record, "tokens_requested") == facts.tokens_requested);
  CHECK(value(record, "tokens_evaluated") >= facts.tokens_floor_multi);
  CHECK(value(record, "tokens_evaluated") <= facts.tokens_requested);
  if (!exact_policy) return;
  CHECK(value(record, "inexact_evaluations") == 0);
  // Rows are copied into new storage only (an engine that rolls its window copies in place as well).
  CHECK(value(record, "bytes_copied") <= value(record, "bytes_allocated"));
}

}  // namespace

TEST_CASE("every policy keeps the books on hundreds of random workloads") {
  for (std::uint32_t seed = 0; seed < num_plan_seeds; ++seed) {
    const LoadedWorkload loaded = loaded_text(random_workload(seed));
    for (const std::string& policy : all_policies()) {
      INFO("seed " << seed << " through " << policy);
      const ReplayRecord record = replay_of(loaded, policy);
      check_counters(record, loaded.facts, !policy.starts_with("guidance-0.2"));
    }
  }
}

TEST_CASE("counters are the same at every depth and outputs are exact where the policy says so") {
  const KernelChoice kernels = each_kernels();
  const ModelConfig toy = loaded_text(random_workload(0)).model;
  DecoderStack stack(toy, kernels);
  for (std::uint32_t seed = 0; seed < num_compute_seeds; ++seed) {
    const LoadedWorkload loaded = loaded_text(random_workload(1000 + seed, {.num_events = 25, .longest = 40}));
    Reference reference(loaded.workload, stack);
    for (const std::string& policy : all_policies()) {
      INFO("seed " << 1000 + seed << " through " << policy);
      const ReplayRecord plan = replay_of(loaded, policy, {.depth = Depth::plan});
      const ReplayRecord alloc = replay_of(loaded, policy, {.depth = Depth::alloc});
      Verifier verifier(reference, stack, 0);
      ReplayListener* listener = &verifier;
      // Poison needs no rows that are read but unseen; attend=capacity reads zeroed slots instead.
      const ReplaySettings compute{.depth = Depth::compute, .poison_unused = true};
      const ReplayRecord computed = replay_of(loaded, policy, compute, &stack, std::span(&listener, 1));
      CHECK(plan.counters == alloc.counters);
      CHECK(plan.counters == computed.counters);
      CHECK(verifier.result().evaluations_compared == value(plan, "evaluations"));
      CHECK(verifier.result().unexpected_differences.empty());
      CHECK(verifier.result().claimed_inexact == value(plan, "inexact_evaluations"));
    }
  }
}

TEST_CASE("a cache that crops at once gives the same outputs as one that crops at the next evaluation") {
  const KernelChoice kernels = each_kernels();
  const ModelConfig toy = loaded_text(random_workload(0)).model;
  DecoderStack stack(toy, kernels);
  for (std::uint32_t seed = 0; seed < num_compute_seeds; ++seed) {
    const LoadedWorkload loaded = loaded_text(random_workload(2000 + seed, {.num_events = 25, .longest = 40}));
    Reference reference(loaded.workload, stack);
    for (const char* policy : {"crop", "fixed", "crop:sliding=window", "fixed:sliding=window", "doubling"}) {
      INFO("seed " << 2000 + seed << " through " << policy);
      Verifier verifier(reference, stack, 0);
      ReplayListener* listener = &verifier;
      const ReplaySettings eager{.depth = Depth::compute, .truncate_at_events = true, .poison_unused = true};
      const ReplayRecord record = replay_of(loaded, policy, eager, &stack, std::span(&listener, 1));
      check_counters(record, loaded.facts, true);
      CHECK(verifier.result().passed());
      CHECK(replay_of(loaded, policy, {.truncate_at_events = true}).counters == record.counters);
    }
  }
}

}  // namespace kvreplay::sim
