// The five example workloads against numbers predicted by a small model written apart from this program.

#include "tests/catch.hpp"
#include "tests/sim/replays.hpp"

namespace kvreplay::sim {
namespace {

using testing::replay_of;
using testing::source_path;
using testing::value;

struct Served {
  Count fed, allocations, resets;
};

struct Example {
  const char* name;
  Count evaluations;
  Served discard, crop, throw_away, doubling, fixed;
  Count keep_seed_fed;  // crop and fixed with keep=seed
};

const Example examples[] = {
    {"01_json_fast_forward", 8, {1340, 8, 0}, {178, 8, 0}, {1340, 8, 0}, {663, 2, 2}, {178, 1, 0}, 180},
    {"02_multi_turn_prefix_reuse",
     1615,
     {4912804, 1615, 0},
     {5059, 1615, 0},
     {4535348, 1363, 1},
     {9852, 3, 1},
     {5059, 1, 0},
     5060},
    {"03_speculative_rejects", 88, {56595, 88, 0}, {860, 88, 0}, {56595, 88, 0}, {29626, 2, 44}, {860, 1, 0}, 904},
    {"04_trace_block_spans",
     3937,
     {11939201, 3937, 0},
     {61884, 3937, 0},
     {2987534, 911, 12},
     {67061, 3, 14},
     {61884, 1, 0},
     61890},
    {"05_beam_forks", 148, {4449, 148, 0}, {321, 148, 0}, {4449, 13, 135}, {4424, 2, 145}, {321, 1, 0}, 466},
};

LoadedWorkload load_example(const Example& example) {
  return load_workload(source_path(std::string("workloads/recorded/examples/") + example.name + ".yaml"), {}, false);
}

void check_served(const LoadedWorkload& loaded, const std::string& policy, const Served& expected) {
  INFO(loaded.workload.meta.id << " through " << policy);
  const ReplayRecord record = replay_of(loaded, policy);
  CHECK(record.outcome.kind == "completed");
  CHECK(value(record, "tokens_evaluated") == expected.fed);
  CHECK(value(record, "allocations") == expected.allocations);
  CHECK(value(record, "resets") == expected.resets);
}

}  // namespace

TEST_CASE("the five examples cost what an independent model predicts") {
  for (const Example& example : examples) {
    const LoadedWorkload loaded = load_example(example);
    CHECK(loaded.facts.evaluations == example.evaluations);
    CHECK(loaded.facts.tokens_requested == example.discard.fed);
    CHECK(loaded.facts.tokens_floor_single == example.crop.fed);
    check_served(loaded, "discard:sliding=full", example.discard);
    check_served(loaded, "crop", example.crop);
    check_served(loaded, "reset:overflow=discard,sliding=full", example.throw_away);
    check_served(loaded, "doubling:sliding=full", example.doubling);
    check_served(loaded, "fixed", example.fixed);
    check_served(loaded, "crop:keep=seed", {example.keep_seed_fed, example.crop.allocations, 0});
    check_served(loaded, "fixed:keep=seed", {example.keep_seed_fed, 1, 0});
  }
}

TEST_CASE("a ring of one window makes long lists that go back expensive") {
  check_served(load_example(examples[1]), "fixed:sliding=window", {6311, 1, 0});
  check_served(load_example(examples[3]), "fixed:sliding=window", {62908, 1, 0});
}

TEST_CASE("concatenation copies millions of rows where doubling copies none") {
  const LoadedWorkload chat = load_example(examples[1]);
  const ReplayRecord crop = replay_of(chat, "crop");
  const Count row_bytes_all_layers = chat.model.geometry().row_bytes() * chat.model.num_layers;
  // Every evaluation but the first copies all rows it keeps: requested - evaluated.
  CHECK(value(crop, "bytes_copied") == (4912804 - 5059) * row_bytes_all_layers);
  CHECK(value(replay_of(chat, "doubling"), "bytes_copied") == 0);
}

TEST_CASE("examples move real bytes with the same counters") {
  for (const Example& example : {examples[0], examples[2], examples[4]}) {
    LoadedWorkload loaded = load_example(example);
    for (const std::string& policy : policies::seed_policies()) {
      INFO(example.name << " through " << policy);
      const ReplayRecord plan = replay_of(loaded, policy, {.depth = Depth::plan});
      if (policy == "fixed") continue;  // 8,192 slots of 26 layers are 1.7 GiB: too much for a test
      CHECK(replay_of(loaded, policy, {.depth = Depth::alloc}).counters == plan.counters);
    }
  }
}

}  // namespace kvreplay::sim
