// Verdicts of a comparison on records whose right answer is known.

#include "reports/compare/compare.hpp"

#include "reports/compare/comparable_text.hpp"
#include "reports/compare/writers.hpp"
#include "reports/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/noisy.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using Catch::Matchers::Contains;
using tests::compared;
using tests::Noisy;
using tests::noisy_file;

const ComparisonRow* row_of(const Comparison& comparison, RowKind kind, const std::string& metric,
                            const std::string& policy = "crop") {
  for (const CellComparison& cell : comparison.cells) {
    if (cell.policy != policy) continue;
    for (const ComparisonRow& row : cell.rows) {
      if (row.kind == kind && row.metric == metric) return &row;
    }
  }
  return nullptr;
}

bool time_moved(const Comparison& comparison) {
  return num_rows(comparison, Change::regressed, Among::times) + num_rows(comparison, Change::improved, Among::times) >
         0;
}

}  // namespace

TEST_CASE("a counter that moved by one is found, with its direction, and nothing else is") {
  const ResultFile before = noisy_file({});
  struct Row {
    const char* name;
    Count by;
    Change change;
  };
  for (const Row& row : {Row{"reallocations", 1, Change::regressed}, Row{"tokens_evaluated", -1, Change::improved},
                         Row{"tokens_reused", -1, Change::regressed}, Row{"evaluations", 1, Change::changed}}) {
    INFO(row.name);
    ResultFile now = before;
    const Count old_value = *counter(now.results[1].counters, row.name);
    tests::set_counter(now.results[1], row.name, old_value + row.by);
    const Comparison comparison = compared(before, now);
    CHECK(row_of(comparison, RowKind::counter, row.name)->change == row.change);
    CHECK(num_rows(comparison, row.change, Among::counters) == 1);
    CHECK(num_rows(comparison, Change::unchanged, Among::counters) ==
          static_cast<Count>(2 * before.results[0].counters.size()) - 1);
  }
}

TEST_CASE("a result compared with itself is unchanged in everything") {
  const ResultFile file = noisy_file({});
  const Comparison comparison = compared(file, file);
  for (const Change change : {Change::regressed, Change::improved, Change::changed, Change::inconclusive}) {
    CHECK(num_rows(comparison, change, Among::all) == 0);
  }
}

TEST_CASE("times twice as long in all of five repetitions are a regression") {
  const ResultFile before = noisy_file({.repetitions = 5});
  ResultFile now = noisy_file({.repetitions = 5, .seed = 2, .factor = 2});
  const Comparison comparison = compared(before, now);
  CHECK(row_of(comparison, RowKind::absolute_time, "latency.total_ns")->change == Change::regressed);
  CHECK_THAT(fmt::format("{}", fmt::join(comparison.notes, "\n")), Contains("only 5 repetitions"));
  CHECK_THAT(comparison.cells[1].hint, Contains("no counter moved") && Contains("most of it in mlp"));
}

TEST_CASE("times that vary by a fifth at random raise no alarm") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    INFO(seed);
    CHECK_FALSE(time_moved(compared(noisy_file({.repetitions = 10, .seed = seed, .spread = 0.2}),
                                    noisy_file({.repetitions = 10, .seed = seed + 1000, .spread = 0.2}))));
  }
}

TEST_CASE("200 comparisons of one build raise at most two alarms") {
  int alarms = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    alarms += time_moved(compared(noisy_file({.seed = seed}), noisy_file({.seed = seed + 1000}))) ? 1 : 0;
  }
  CHECK(alarms <= 2);
}

TEST_CASE("processes that differ by 2 % from one to the next raise two alarms in 200, one a side or nine") {
  const auto process = [](std::uint64_t seed, Count repetitions) {
    return Noisy{.repetitions = repetitions, .seed = seed, .process_spread = 0.02};
  };
  int alarms_of_one = 0, alarms_of_nine = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    alarms_of_one += time_moved(compared({process(seed, 30)}, {process(seed + 1000, 30)})) ? 1 : 0;
    std::vector<Noisy> before, now;
    for (std::uint64_t file = 0; file < 9; ++file) {
      before.push_back(process(20 * seed + file, 3));
      now.push_back(process(20 * seed + file + 10'000, 3));
    }
    alarms_of_nine += time_moved(compared(before, now)) ? 1 : 0;
  }
  CHECK(alarms_of_one <= 2);
  CHECK(alarms_of_nine <= 2);
}

TEST_CASE("a slowdown of 5 % is found in 95 of 100 comparisons of 40 such processes a side") {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::vector<Noisy> before, now;
    for (std::uint64_t file = 0; file < 40; ++file) {
      before.push_back({.repetitions = 3, .seed = 80 * seed + file, .process_spread = 0.02});
      now.push_back(
          {.repetitions = 3, .seed = 80 * seed + file + 40, .process_spread = 0.02, .slower_attention = 0.05});
    }
    found += num_rows(compared(before, now), Change::regressed, Among::times) > 0 ? 1 : 0;
  }
  CHECK(found >= 95);
}

TEST_CASE("with a calibrated noise of 1.5 % a slowdown of 5 % is found in 95 of 100 comparisons of single files") {
  ComparisonSettings settings;
  NoiseFloor quiet;
  quiet.relative = quiet.absolute = quiet.cpu = quiet.part = 0.015;
  settings.noise = quiet;
  int found = 0, blamed = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const ResultFile before = noisy_file({.seed = seed});
    const ResultFile now = noisy_file({.seed = seed + 1000, .slower_attention = 0.05});
    const Comparison comparison =
        compare(side_of({{"before.json", before}}, "baseline"), side_of({{"now.json", now}}, "candidate"), settings);
    found += num_rows(comparison, Change::regressed, Among::times) > 0 ? 1 : 0;
    blamed += comparison.cells[1].hint.find("attention") != std::string::npos ? 1 : 0;
  }
  CHECK(found >= 95);
  CHECK(blamed >= 95);
}

TEST_CASE("one repetition decides nothing about times and says so") {
  const Comparison comparison = compared(noisy_file({.repetitions = 1}), noisy_file({.repetitions = 1, .factor = 3}));
  const ComparisonRow* row = row_of(comparison, RowKind::absolute_time, "latency.total_ns");
  CHECK(row->change == Change::inconclusive);
  CHECK_FALSE(row->smallest_detectable.has_value());
  CHECK_THAT(comparison_table(comparison, 200, false), Contains("no change could have been found, whatever its size"));
}

TEST_CASE("a machine that slows all policies alike moves absolute times and no relative one") {
  const Comparison comparison = compared(noisy_file({}), noisy_file({.seed = 2, .factor = 1.2, .factor_of_all = true}));
  CHECK(row_of(comparison, RowKind::absolute_time, "latency.total_ns")->change == Change::regressed);
  CHECK(row_of(comparison, RowKind::relative_time, "latency.total_ns")->change != Change::regressed);
}

TEST_CASE("times that are nearly all waiting decide nothing, and the CPU time beside them is judged with more care") {
  const ResultFile before = noisy_file({.repetitions = 10});
  // What was seen once on a busy machine, one build on both sides: 15 times the time, 9 % more CPU time.
  const auto loaded = [](double elapsed, double cpu) {
    ResultFile file = noisy_file({.repetitions = 10, .seed = 2});
    for (RunResult& run : file.results) {
      const double factor = run.policy.name == "crop" ? 1.3 * elapsed : elapsed;
      for (Repetition& repetition : run.repetitions) {
        repetition.latency->total_ns = static_cast<Count>(static_cast<double>(repetition.latency->total_ns) * factor);
        repetition.process->cpu_ns = static_cast<Count>(static_cast<double>(*repetition.process->cpu_ns) * cpu);
      }
    }
    return file;
  };
  for (const bool swapped : {false, true}) {
    const ResultFile now = loaded(15, 1.09);
    const Comparison comparison = swapped ? compared(now, before) : compared(before, now);
    CHECK_FALSE(time_moved(comparison));
    for (const RowKind kind : {RowKind::absolute_time, RowKind::relative_time}) {
      const ComparisonRow* row = row_of(comparison, kind, "latency.total_ns");
      CHECK(row->change == Change::inconclusive);
    }
    CHECK_THAT(row_of(comparison, RowKind::absolute_time, "latency.total_ns")->note,
               Contains("the runs mostly waited: the CPU worked in 6 % of the time"));
    CHECK_THAT(fmt::format("{}", fmt::join(comparison.notes, "\n")), Contains("runs waited up to 94 %"));
    CHECK(comparison.noise_floor_cpu > 0.2);
  }
  // Other work is still found, by the CPU time; and without waiting, by every time.
  const Comparison more = compared(before, loaded(15, 2));
  CHECK(row_of(more, RowKind::cpu_time, "process.cpu_ns")->change == Change::regressed);
  CHECK(row_of(compared(before, loaded(2, 2)), RowKind::absolute_time, "latency.total_ns")->change ==
        Change::regressed);
}

TEST_CASE("another machine turns times into advice, another depth, thread count or build type withholds them") {
  const ResultFile before = noisy_file({});
  const auto with = [](const std::string& key, const std::string& value) {
    ResultFile now = noisy_file({.seed = 2, .factor = 2});
    for (auto& [name, text] : now.provenance.entries) {
      if (name == key) text = value;
    }
    return now;
  };
  const Comparison machine = compared(before, with("cpu_model", "another"));
  CHECK(row_of(machine, RowKind::absolute_time, "latency.total_ns")->is_advice);
  CHECK_FALSE(time_moved(machine));
  CHECK_THAT(machine.notes.front(), Contains("cpu_model: one, now another"));
  for (const auto& [key, value] : {std::pair{"threads", "4"}, std::pair{"build_type", "Debug"}}) {
    INFO(key);
    const Comparison withheld = compared(before, with(key, value));
    CHECK(row_of(withheld, RowKind::absolute_time, "latency.total_ns") == nullptr);
    CHECK_THAT(withheld.times_withheld, Contains(key));
  }
  ResultFile planned = noisy_file({.repetitions = 0});
  for (RunResult& run : planned.results) run.depth = "plan";
  CHECK_THAT(compared(before, planned).times_withheld, Contains("depth: compute, now plan"));
  CHECK_THAT(compared(planned, planned).times_withheld, Contains("no run has times on both sides"));
}

TEST_CASE("a side whose files are unlike is described as it is") {
  const ResultFile whole = noisy_file({});
  ResultFile part = whole, planned = noisy_file({.repetitions = 0});
  part.results.pop_back();
  for (RunResult& run : planned.results) run.depth = "plan";
  ComparisonSettings unknown;
  unknown.reference = "nope";
  const Side all = side_of({{"a", whole}, {"b", whole}}, "baseline");
  CHECK(all.notes.empty());
  const Comparison joined = compare(side_of({{"a", whole}, {"b", part}}, "baseline"), all, {});
  CHECK_THAT(joined.notes.front(), Contains("baseline: 1 of 2 files have") && Contains("through crop"));
  CHECK_THROWS_WITH(compare(side_of({{"a", whole}, {"b", planned}}, "baseline"), all, {}),
                    Contains("through crop: depth: plan, now compute"));
  CHECK_THROWS_WITH(compare(all, all, unknown), Contains("--reference nope: both sides have no run of it"));
  const Side plans = side_of({{"planned", planned}}, "baseline");
  CHECK_THROWS_WITH(compare(plans, plans, unknown), Contains("--reference nope"));
}

TEST_CASE("a run whose outcome changed is one finding, and its counters are left alone") {
  const ResultFile before = noisy_file({});
  ResultFile now = before;
  now.results[1].outcome.kind = "capacity_exceeded";
  now.results[1].outcome.evaluation = 3;
  tests::set_counter(now.results[1], "reallocations", 99);
  const Comparison worse = compared(before, now), better = compared(now, before);
  CHECK(row_of(worse, RowKind::outcome, "outcome")->change == Change::regressed);
  CHECK(row_of(worse, RowKind::counter, "reallocations") == nullptr);
  CHECK(row_of(better, RowKind::outcome, "outcome")->change == Change::improved);
  now.results[1].outcome.kind = "interrupted";
  CHECK(row_of(compared(before, now), RowKind::outcome, "outcome")->change == Change::inconclusive);
}

TEST_CASE("a broken threshold is counted as one, not as a counter or a time") {
  const ResultFile file = noisy_file({});
  ResultFile now = file;
  tests::set_counter(now.results[1], "reallocations", 5);
  ComparisonSettings settings;
  settings.thresholds = {parse_threshold("latency.total_ns:median:1ns"), parse_threshold("reallocations:max:4")};
  const auto of = [&](const ResultFile& before, const ResultFile& after) {
    return compare(side_of({{"before", before}}, "before"), side_of({{"after", after}}, "after"), settings);
  };
  const Comparison times = of(file, file), both = of(file, now);
  REQUIRE(times.cells.size() == 2);
  CHECK(verdict_text(times) == "2 thresholds broken (2 runs compared)");
  CHECK(verdict_text(both) == "3 thresholds broken (2 runs compared)");
  CHECK(num_rows(both, Change::regressed, Among::counters) + num_rows(both, Change::regressed, Among::times) == 0);
  CHECK_THAT(comparison_table(times, 120, false), Contains("2 thresholds broken"));
  CHECK(write_comparison_markdown(times).starts_with("**\xE2\x9D\x8C 2 thresholds broken"));
  CHECK_THAT(write_comparison_junit(times),
             Contains("failures=\"2\"") && Contains("type=\"broken threshold\"") && !Contains("type=\"regression\""));
  const auto json = nlohmann::json::parse(write_comparison_json(times));
  CHECK(json["verdict"] == verdict_text(times));
  CHECK(json["counts"]["regressed"]["thresholds"] == 2);
  CHECK(json["counts"]["regressed"]["counters"] == 0);
}

}  // namespace kvreplay::reports
