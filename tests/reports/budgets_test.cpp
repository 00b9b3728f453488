#include "reports/budgets.hpp"

#include "reports/html.hpp"
#include "reports/markdown.hpp"
#include "reports/overview.hpp"
#include "reports/result_csv.hpp"
#include "reports/result_json.hpp"
#include "reports/terminal_table.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"

#include <limits>

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

// Two runs of a suite: crop evaluated 71 of the floor's 71 tokens in 1,036 us (the median of three repetitions),
// discard 710.
ResultFile two_runs() {
  ResultFile file;
  file.results = {tests::plan_run("w", "crop", 71), tests::plan_run("w", "discard", 710)};
  for (RunResult& run : file.results) run.suite = "s.yaml";
  return file;
}

BudgetLine bound(const std::string& policy, const std::string& metric, Number least, Number most) {
  BudgetLine budget;
  budget.suite = "s.yaml";
  budget.line = 3;
  budget.workload_path = "recorded/w.yaml";
  budget.policy = policy;
  budget.metric = metric;
  budget.least = least;
  budget.most = most;
  return budget;
}

BudgetLine judged(ResultFile file, const BudgetLine& budget) {
  file.budgets = {budget};
  judge_budgets(file);
  return file.budgets.front();
}

BudgetLine ratio_bound(const std::string& over, const std::string& against, double most) {
  BudgetLine budget = bound(against.empty() ? "discard" : "crop", "tokens_evaluated", {}, most);
  budget.over = over;
  budget.against = against;
  return budget;
}

}  // namespace

TEST_CASE("bounds on counts are inclusive and exact beyond what doubles hold") {
  CHECK(judged(two_runs(), bound("crop", "tokens_evaluated", Count{71}, Count{71})).verdict == "passed");
  CHECK(judged(two_runs(), bound("crop", "tokens_evaluated", {}, Count{70})).verdict == "broken");
  CHECK(judged(two_runs(), bound("crop", "tokens_evaluated", Count{72}, {})).verdict == "broken");
  ResultFile large = two_runs();
  const Count most = std::numeric_limits<Count>::max();
  tests::set_counter(large.results[0], "slack_byte_steps", most);
  CHECK(judged(large, bound("crop", "slack_byte_steps", {}, most)).verdict == "passed");
  CHECK(judged(large, bound("crop", "slack_byte_steps", {}, most - 1)).verdict == "broken");
}

TEST_CASE("a broken ratio has six digits, or all where six are those of its bound") {
  BudgetLine budget;
  budget.verdict = "broken";
  budget.most = 1.5;
  budget.value = 17.84285714285714;
  CHECK(finding_of(budget) == "17.8429, at most 1.5");
  budget.value = 1.50000001;
  CHECK(finding_of(budget) == "1.50000001, at most 1.5");
}

TEST_CASE("a ratio that equals its bound is kept") {
  CHECK(std::get<double>(judged(two_runs(), ratio_bound("tokens_floor_single", "", 10)).value) == 10.0);
  CHECK(judged(two_runs(), ratio_bound("tokens_floor_single", "", 10)).verdict == "passed");
  CHECK(judged(two_runs(), ratio_bound("tokens_floor_single", "", 9.999)).verdict == "broken");
  CHECK(judged(two_runs(), ratio_bound("", "discard", 0.1)).verdict == "passed");  // 71 / 710
  CHECK(judged(two_runs(), ratio_bound("", "discard", 0.09)).verdict == "broken");
}

TEST_CASE("what cannot be known is never a pass") {
  const BudgetLine kept = bound("crop", "tokens_evaluated", {}, Count{71});
  ResultFile incomplete = two_runs();
  incomplete.results[0].outcome.kind = "capacity_exceeded";
  CHECK(judged(incomplete, kept).verdict == "broken");
  CHECK_THAT(judged(incomplete, kept).reason, Contains("capacity_exceeded"));
  ResultFile stopped = two_runs();
  stopped.results[0].outcome.kind = "interrupted";
  CHECK(judged(stopped, kept).verdict == "not_judged");
  BudgetLine elsewhere = kept;
  elsewhere.policy = "reset";
  CHECK(judged(two_runs(), elsewhere).verdict == "not_judged");
  CHECK(judged(two_runs(), elsewhere).reason == "not run here");
  CHECK(judged(two_runs(), ratio_bound("bytes_copied", "", 10)).verdict == "broken");  // divides by 0
  CHECK(judged(two_runs(), bound("crop", "no_such", {}, Count{1})).verdict == "broken");
  ResultFile foreign = two_runs();
  foreign.results[0].suite = "other.yaml";
  CHECK(judged(foreign, kept).verdict == "not_judged");
}

TEST_CASE("times are judged only where both were measured in one run") {
  BudgetLine budget = bound("crop", "latency.total_ns", {}, 1.5);
  budget.against = "discard";
  CHECK(judged(two_runs(), budget).reason == "not measured at depth plan");
  ResultFile timed;
  timed.results = {tests::timed_run("w", "crop", 3), tests::timed_run("w", "discard", 3)};
  for (RunResult& run : timed.results) run.suite = "s.yaml";
  CHECK(judged(timed, budget).verdict == "passed");
  CHECK(std::get<double>(judged(timed, budget).value) == 1.0);
  timed.provenance.entries = {{"shards", "2"}};
  CHECK(judged(timed, budget).verdict == "not_judged");
  CHECK_THAT(judged(timed, budget).reason, Contains("different shards"));
}

TEST_CASE("every report tells the budgets, the broken ones as failures") {
  const ResultFile file = tests::suite_file();
  const BudgetTally tally = tally_of(file);
  CHECK((tally.passed == 1 && tally.broken == 2 && tally.not_judged == 1));
  CHECK(budget_summary(file) == "2 of 4 budgets broken, 1 not judged");
  CHECK(verdict_of(file).emphasis == Emphasis::failure);

  const std::string terminal = terminal_table(file, {});
  CHECK_THAT(terminal, Contains("kept       fewshot / crop: tokens_evaluated 20, at most 20 (suites/mine.yaml:7)"));
  // 20 / 71
  CHECK_THAT(terminal, Contains("BROKEN     fewshot / crop: tokens_evaluated / tokens_floor_single 0.28169"));
  CHECK_THAT(terminal, Contains("not judged"));
  const std::string markdown = write_markdown(file);
  CHECK_THAT(markdown, Contains("### Budgets") && Contains("broken") && Contains("2 of 4 budgets broken"));
  const std::string csv = write_result_csv(file);
  CHECK_THAT(csv,
             Contains("recorded/fewshot.yaml,crop,,budget suites/mine.yaml:7 tokens_evaluated verdict,,passed,,") &&
                 Contains("budget suites/mine.yaml:7 tokens_evaluated max,,20,,"));
  CHECK_THAT(write_html(file), Contains("2 of 4 budgets broken"));
  CHECK(tally_of({}).broken == 0);
  CHECK(terminal_table(tests::example_file(), {}).find("Budgets") == std::string::npos);
}

TEST_CASE("budgets and shards are read back as they were written") {
  ResultFile file = tests::suite_file();
  file.shard = Shard{2, 3, 15};
  const std::string text = write_result_json(file);
  CHECK(write_result_json(read_result_json(text, "a.json")) == text);
  const json document = json::parse(text);
  CHECK(document["shard"] == json{{"index", 2}, {"count", 3}, {"cells", 15}});
  CHECK(document["budgets"][0]["max"] == 20);
  CHECK(document["budgets"][1]["verdict"] == "broken");
  CHECK(document["budgets"][1]["max"] == 0.25);
  CHECK(document["results"][0]["suite"] == "suites/mine.yaml");
}

TEST_CASE("a broken record of a budget is refused at its place") {
  const json good = json::parse(write_result_json(tests::suite_file()));
  const std::vector<std::tuple<std::string, json, std::string>> faults{
      {"/budgets/0/verdict", "fine", "/budgets/0/verdict: must be one of passed, broken, not_judged"},
      {"/budgets/0/max", "20", "/budgets/0/max: must be a number"},
      {"/budgets/0/line", -1, "/budgets/0/line"},
      {"/budgets", "none", "/budgets: must be a list"},
      {"/shard", json{{"index", 0}, {"count", 3}, {"cells", 1}}, "/shard/index: must be at least 1"}};
  for (const auto& [pointer, value, says] : faults) {
    json document = good;
    document[json::json_pointer(pointer)] = value;
    CHECK_THROWS_WITH(read_result_json(document.dump(), "x.json"), Contains("x.json") && Contains(says));
  }
}

}  // namespace kvreplay::reports
