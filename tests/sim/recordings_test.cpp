// Every shipped recording of an engine this program has a preset for, call by call against the engine's own log.

#include "reports/engine_log.hpp"
#include "tests/catch.hpp"
#include "tests/sim/replays.hpp"

#include "policies/option_error.hpp"

#include <filesystem>

namespace kvreplay::sim {
namespace {

using testing::replay_of;
using testing::samples_of;
using testing::source_path;
using testing::value;

struct Recording {
  LoadedWorkload loaded;
  std::string log_path;
  workloads::Observed observed;
};

bool has_preset(const workloads::Observed& observed) {
  try {
    (void)policies::parse_policy(observed.policy);
    return true;
  } catch (const policies::OptionError&) {
    return false;
  }
}

// Those whose engine has a preset, whatever their number: a new file is tested as soon as it lies there.
std::vector<Recording> recordings() {
  std::vector<Recording> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_path("workloads/recorded"))) {
    if (entry.path().extension() != ".yaml") continue;
    LoadedWorkload loaded = load_workload(entry.path().string(), {}, false);
    if (loaded.workload.expect.observed.empty()) continue;
    workloads::Observed observed = loaded.workload.expect.observed.front();
    if (!has_preset(observed)) continue;
    const std::string log = std::filesystem::path(entry.path()).replace_extension(".observed.csv").string();
    found.push_back({std::move(loaded), log, std::move(observed)});
  }
  return found;
}

void check_total(const ReplayRecord& record, std::string_view name, const std::optional<Count>& observed) {
  if (!observed) return;
  INFO(name);
  CHECK(value(record, name) == *observed);
}

}  // namespace

TEST_CASE("every call of every recording equals the engine's log") {
  Count guidance = 0;
  for (const Recording& recording : recordings()) {
    INFO(recording.loaded.workload.path);
    const auto samples = samples_of(recording.loaded, recording.observed.policy);
    const reports::EngineLog log = reports::read_engine_log(recording.log_path);
    const reports::LogComparison comparison = reports::compare_with_log(samples, log);
    INFO(reports::describe(comparison, log));
    CHECK(comparison.equal());
    // Comparing nothing would pass as well.
    for (const char* column :
         {"length", "common_prefix", "fed", "first_position", "held_after", "bytes_after", "exact"}) {
      INFO(column);
      CHECK(std::find(comparison.columns.begin(), comparison.columns.end(), column) != comparison.columns.end());
    }
    guidance += recording.observed.policy.starts_with("guidance-") ? 1 : 0;
  }
  CHECK(guidance == 20);
}

TEST_CASE("totals of every recording equal what its engine was observed to do") {
  for (const Recording& recording : recordings()) {
    INFO(recording.loaded.workload.path);
    const ReplayRecord record = replay_of(recording.loaded, recording.observed.policy);
    const workloads::Observed& observed = recording.observed;
    check_total(record, "tokens_evaluated", observed.fed);
    check_total(record, "allocations", observed.allocations);
    check_total(record, "reallocations", observed.reallocations);
    check_total(record, "resets", observed.resets);
    check_total(record, "crops", observed.crops);
    check_total(record, "transient_bytes_peak", observed.peak_bytes);
    check_total(record, "bytes_at_end", observed.bytes_at_end);
    CHECK(record.outcome.kind == (observed.then ? "rewind_refused" : "completed"));
    if (observed.then) {
      const reports::Sample last = samples_of(recording.loaded, observed.policy).back();
      CHECK(last.common_prefix == observed.then_keep);
      CHECK(last.length == observed.then_length);
      CHECK(record.outcome.evaluation == recording.loaded.facts.evaluations - 1);
    }
  }
}

TEST_CASE("with a window that is never reached doubling with the seed's keep rule is guidance 0.2") {
  Count compared = 0;
  for (const Recording& recording : recordings()) {
    if (!recording.observed.policy.starts_with("guidance-0.2") || recording.loaded.model.sliding_window != 1024)
      continue;
    INFO(recording.loaded.workload.path);
    const auto preset = samples_of(recording.loaded, recording.observed.policy);
    const auto doubling = samples_of(recording.loaded, "doubling:keep=seed");
    REQUIRE(preset.size() == doubling.size());
    for (std::size_t i = 0; i < preset.size(); ++i) {
      INFO("call " << i);
      CHECK(preset[i].fed == doubling[i].fed);
      CHECK(preset[i].capacity_after == doubling[i].capacity_after);
      CHECK(preset[i].bytes_after == doubling[i].bytes_after);
      CHECK(preset[i].resets == doubling[i].resets);
    }
    ++compared;
  }
  CHECK(compared == 5);
}

}  // namespace kvreplay::sim
