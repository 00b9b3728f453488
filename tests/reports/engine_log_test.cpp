#include "reports/engine_log.hpp"

#include "reports/explain_csv.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/outside.hpp"

namespace kvreplay::reports {
namespace {

// The first calls of a recording of guidance 0.2 on transformers 4.47, as the engine logged them.
constexpr const char* recorded_log =
    "call,length,common_prefix,fed,first_position,capacity_before,capacity_after,held_before,held_after,bytes_before,"
    "bytes_after,new_storage,resets,crop_to,cold_difference,exact,error\r\n"
    "0,18,0,18,0,error,18,,18,0,55296,first,0,,0.0e+00,yes,\r\n"
    "1,19,18,19,0,18,38,18,19,55296,116736,yes,0,,0.0e+00,yes,\r\n"
    "2,20,19,1,19,38,38,19,20,116736,116736,,0,,3.8e-06,yes,\r\n";

// The same calls as explain has them.
std::vector<Sample> explained() {
  std::vector<Sample> samples(3);
  const Count length[] = {18, 19, 20}, common[] = {0, 18, 19}, fed[] = {18, 19, 1}, first[] = {0, 0, 19};
  const Count capacity[] = {18, 38, 38}, bytes[] = {55296, 116736, 116736};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Sample& s = samples[i];
    s.evaluation = static_cast<Count>(i);
    s.length = s.held_after = length[i];
    s.common_prefix = common[i];
    s.fed = fed[i];
    s.first_position = first[i];
    s.capacity_after = capacity[i];
    s.bytes_after = bytes[i];
    s.exact = true;
    if (i == 0) continue;
    s.held_before = length[i - 1];
    s.capacity_before = capacity[i - 1];
    s.bytes_before = bytes[i - 1];
  }
  samples[0].new_storage = "first";
  samples[1].new_storage = "yes";
  return samples;
}

std::vector<Sample> first_calls(std::size_t count) {
  std::vector<Sample> samples = explained();
  samples.resize(count);
  return samples;
}

std::string error_of(const std::string& text) {
  try {
    parse_engine_log(text, "x.csv");
  } catch (const EngineLogError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("an engine's log that says the same is equal, blank and error cells left out") {
  const EngineLog log = parse_engine_log(recorded_log, "x.csv");
  CHECK(log.rows.size() == 3);
  const LogComparison comparison = compare_with_log(explained(), log);
  CHECK(comparison.equal());
  CHECK(comparison.rows_compared == 3);
  // 14 columns both have. Not compared: capacity_before, held_before and crop_to of call 0, crop_to of call 1,
  // new_storage and crop_to of call 2.
  CHECK(comparison.columns.size() == 14);
  CHECK(comparison.cells_compared == 3 * 14 - 6);
  CHECK(describe(comparison, log) == "36 cells of 3 calls compared with x.csv, none differs");
}

TEST_CASE("the first difference names call, column, both values and the line of the log") {
  std::vector<Sample> ours = explained();
  ours[2].fed = 2;
  ours[1].capacity_after = 36;
  ours[1].bytes_after = 110592;
  const EngineLog log = parse_engine_log(recorded_log, "x.csv");
  const LogComparison comparison = compare_with_log(ours, log);
  REQUIRE(comparison.first_difference.has_value());
  CHECK(comparison.first_difference->evaluation == 1);
  CHECK(comparison.first_difference->column == "capacity_after");
  CHECK(comparison.first_difference->ours == "36");
  CHECK(comparison.first_difference->theirs == "38");
  CHECK(comparison.first_difference->log_line == 3);
  CHECK(comparison.cells_differing == 3);
  CHECK_FALSE(comparison.equal());
  CHECK(describe(comparison, log) ==
        "first difference: evaluation 1, capacity_after: ours `36`, x.csv:3 says `38` (3 of 36 cells differ)");
}

TEST_CASE("a blank of ours is a difference where the log has a value") {
  std::vector<Sample> ours = explained();
  ours[1].new_storage.clear();
  ours[2].exact.reset();
  const LogComparison comparison = compare_with_log(ours, parse_engine_log(recorded_log, "x.csv"));
  CHECK(comparison.cells_differing == 2);
  CHECK(comparison.first_difference->ours.empty());
}

TEST_CASE("rows only one side has are reported") {
  std::vector<Sample> ours = explained();
  ours.pop_back();
  const EngineLog log = parse_engine_log(recorded_log, "x.csv");
  LogComparison comparison = compare_with_log(ours, log);
  CHECK(comparison.only_in_log == std::vector<Count>{2});
  CHECK_FALSE(comparison.equal());
  CHECK_THAT(describe(comparison, log), Catch::Contains("1 calls only in the log, the first is 2"));
  ours = explained();
  ours.push_back(ours.back());
  ours.back().evaluation = 3;
  comparison = compare_with_log(ours, log);
  CHECK(comparison.only_in_ours == std::vector<Count>{3});
  CHECK_FALSE(comparison.equal());
}

TEST_CASE("calls may come in any order and the first difference is that of the first call") {
  const EngineLog log = parse_engine_log("fed,call\n9,1\n9,0\n", "x.csv");
  const LogComparison comparison = compare_with_log(first_calls(2), log);
  CHECK(comparison.first_difference->evaluation == 0);
  CHECK(comparison.first_difference->log_line == 3);
}

TEST_CASE("a log in which nothing can be compared is not equal") {
  const LogComparison comparison = compare_with_log(first_calls(1), parse_engine_log("call,fed\n0,error\n", "x"));
  CHECK(comparison.cells_compared == 0);
  CHECK_FALSE(comparison.equal());
}

TEST_CASE("what explain wrote can be read as a log") {
  const std::vector<Sample> ours = explained();
  const LogComparison comparison = compare_with_log(ours, parse_engine_log(explain_csv(ours), "own.csv"));
  CHECK(comparison.equal());
  CHECK(comparison.rows_compared == 3);
}

TEST_CASE("an engine's message with commas, quotes and line breaks does not disturb") {
  const EngineLog log = parse_engine_log("call,fed,error\n0,18,\"Exception: \"\"a, b\"\",\nc\"\n1,19,\n", "x.csv");
  CHECK(log.rows.size() == 2);
  CHECK(log.rows[1].line == 4);
}

TEST_CASE("a log that cannot be trusted is refused with file and line") {
  CHECK(error_of("") == "x.csv: empty, not even a header");
  CHECK(error_of("call,fed\n") == "x.csv: a header and no calls");
  CHECK(error_of("fed\n1\n") == "x.csv:1: no column `call` or `evaluation` to join on");
  CHECK_THAT(error_of("call,evaluation,fed\n0,0,1\n"), Catch::StartsWith("x.csv:1: both a column"));
  CHECK(error_of("call,fed,fed\n0,1,1\n") == "x.csv:1: column `fed` twice");
  CHECK(error_of("call,speed\n0,1\n") == "x.csv:1: no column that explain has too: nothing to compare");
  CHECK(error_of("call,fed\n0,1\n0,1\n") == "x.csv:3: call 0 again, first in line 2");
  CHECK(error_of("call,fed\n0,1\n1,\n2,18.0\n") == "x.csv:4: fed: `18.0` is no integer");
  CHECK(error_of("call,fed\n0, 1\n") == "x.csv:2: fed: ` 1` is no integer");
  CHECK(error_of("call,fed\n0,99999999999999999999\n") == "x.csv:2: fed: `99999999999999999999` is no integer");
  CHECK(error_of("call,fed\n-1,1\n") == "x.csv:2: `-1` is no ordinal of a call");
  CHECK(error_of("call,fed\n,1\n") == "x.csv:2: `` is no ordinal of a call");
  CHECK_THAT(error_of("call,fed\n0,1,2\n"), Catch::Contains("3 fields where the header has 2"));
  CHECK_THAT(error_of("call,fed\n0,\"1\n"), Catch::Contains("not closed"));
}

TEST_CASE("a log that cannot be read is a named error") {
  const tests::TemporaryFolder folder;
  CHECK_THROWS_WITH(read_engine_log(folder.path("none.csv")), Catch::Contains("none.csv: No such file"));
  CHECK_THROWS_AS(read_engine_log(folder.path("")), EngineLogError);
  CHECK(read_engine_log(folder.file("x.csv", recorded_log)).rows.size() == 3);
}

}  // namespace
}  // namespace kvreplay::reports
