#include "reports/csv.hpp"

#include "reports/explain_csv.hpp"
#include "reports/metrics.hpp"
#include "reports/result_csv.hpp"
#include "reports/sample_columns.hpp"
#include "reports/text.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/outside.hpp"

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;

std::string record(const std::vector<std::string>& fields) {
  std::string out;
  append_csv_record(out, fields);
  return out;
}

// The records as Python's csv module reads them.
json read_by_python(const std::string& text) {
  const tests::TemporaryFolder folder;
  const tests::ProgramResult result = tests::run_python(
      "import csv, json, sys\n"
      "with open(sys.argv[1], newline='', encoding='utf-8') as file:\n"
      "    print(json.dumps(list(csv.reader(file, strict=True))))\n",
      {folder.file("x.csv", text)});
  INFO(result.output);
  REQUIRE(result.exit_code == 0);
  return json::parse(result.output);
}

TEST_CASE("fields are quoted as RFC 4180 says, and only where needed") {
  CHECK(record({"a", "", "-1", "1.5"}) == "a,,-1,1.5\r\n");
  CHECK(record({"a,b"}) == "\"a,b\"\r\n");
  CHECK(record({"say \"x\""}) == "\"say \"\"x\"\"\"\r\n");
  CHECK(record({"two\nlines"}) == "\"two\nlines\"\r\n");
  CHECK(record({"=1+1", "@x", "-x"}) == "\"=1+1\",\"@x\",\"-x\"\r\n");
}

TEST_CASE("another reader gets the same strings back") {
  const std::vector<std::string> fields{"long, quoted \"x\"",
                                        "a\r\nb",
                                        "=1+1",
                                        "+1",
                                        "-1",
                                        "@a",
                                        "\xF0\x9F\x98\x80",
                                        " outer ",
                                        "error: wanted 65, kept 26",
                                        "",
                                        "\"",
                                        tests::hostile_name()};
  const json read = read_by_python(record(fields) + record(fields));
  REQUIRE(read.size() == 2);
  REQUIRE(read[0].size() == fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) CHECK(read[0][i].get<std::string>() == valid_utf8(fields[i]));
}

TEST_CASE("what is written is read back, line numbers included") {
  const std::string text = record({"name", "x"}) + record({"a\nb", "1"}) + record({"c", "2"});
  const std::vector<CsvRecord> records = read_csv(text);
  REQUIRE(records.size() == 3);
  CHECK(records[1].fields == std::vector<std::string>{"a\nb", "1"});
  CHECK(records[1].line == 2);
  CHECK(records[2].line == 4);
}

TEST_CASE("line ends, byte order mark and a missing last line end make no difference") {
  const std::vector<std::vector<std::string>> expected{{"a", "b"}, {"1", ""}};
  const std::string mark = "\xEF\xBB\xBF";
  for (const std::string& text : {std::string("a,b\n1,\n"), std::string("a,b\r\n1,\r\n"), mark + "a,b\n1,",
                                  std::string("a,b\r\n1,"), std::string("a,b\n1,\n\n\r\n")}) {
    const std::vector<CsvRecord> records = read_csv(text);
    REQUIRE(records.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) CHECK(records[i].fields == expected[i]);
  }
  CHECK(read_csv("").empty());
}

TEST_CASE("what is not CSV is refused with its line") {
  const auto line_of = [](const char* text) -> std::size_t {
    try {
      read_csv(text);
    } catch (const CsvError& error) {
      return error.line;
    }
    return 0;
  };
  CHECK(line_of("a,b\n1\n") == 2);
  CHECK(line_of("a,b\n1,2\n1,2,3\n") == 3);
  CHECK(line_of("a,b\n1,2\n\n3,4\n") == 3);  // a blank line in between
  CHECK(line_of("a\n\"1\n2\n") == 2);
  CHECK(line_of("a\n\"1\"2\n") == 2);
  CHECK(line_of("a\n1\"2\n") == 2);
  CHECK(line_of("a\rb\n") == 1);
}

TEST_CASE("explain's columns stand in the promised order") {
  CHECK(explain_csv_header() ==
        "evaluation,sequence,line,length,common_prefix,held_before,kept,fed,first_position,capacity_before,"
        "capacity_after,held_after,bytes_before,bytes_after,new_storage,resets,crop_to,action,cause,exact,"
        "tokens_recomputed,bytes_copied,bytes_zeroed,transient_bytes\r\n");
}

TEST_CASE("explain writes each field where it belongs, and blanks for what is absent") {
  CHECK(explain_csv_record(tests::full_sample()) ==
        "1,main,2,3,4,5,6,7,8,9,10,11,12,13,yes,1,14,grow,overflow,no,15,16,17,18\r\n");
  CHECK(explain_csv_record(tests::blank_sample()) == "2,,0,0,0,0,0,0,,,,0,0,0,,0,,refused,,,0,0,0,0\r\n");
  const std::vector<Sample> samples{tests::full_sample(), tests::blank_sample()};
  const json read = read_by_python(explain_csv(samples));
  REQUIRE(read.size() == 3);
  for (const json& row : read) CHECK(row.size() == sample_columns().size());
}

TEST_CASE("long CSV has one number a record and the promised columns first") {
  const ResultFile file = tests::example_file();
  const json read = read_by_python(write_result_csv(file));
  CHECK(read[0] == json{"workload", "policy", "repetition", "metric", "unit", "value", "model", "depth"});
  std::size_t num_crop_counters = 0;
  for (const json& row : read) {
    REQUIRE(row.size() == 8);
    if (row[0] == "recorded/fewshot.yaml" && row[1] == "crop" && row[2].get<std::string>().empty() &&
        find_metric(row[3].get<std::string>()) != nullptr) {
      num_crop_counters += find_metric(row[3].get<std::string>())->kind == MetricKind::exact ? 1 : 0;
    }
  }
  CHECK(num_crop_counters == exact_metrics().size());
}

TEST_CASE("long CSV gives outcome, counters, pooled and single measurements with their units") {
  const std::string csv = write_result_csv(tests::example_file());
  const auto has = [&](const std::string& text) { return csv.find(text) != std::string::npos; };
  CHECK(has("recorded/fewshot.yaml,crop,,tokens_evaluated,tokens,20,tiny-gemma2,compute\r\n"));
  CHECK(has("recorded/fewshot.yaml,fixed:capacity=64,,outcome,,capacity_exceeded,tiny-gemma2,plan\r\n"));
  CHECK(has("recorded/fewshot.yaml,crop,,latency.evaluation_ns.p50,ns,21000,tiny-gemma2,compute\r\n"));
  CHECK(has("recorded/fewshot.yaml,crop,2,latency.total_ns,ns,1036000,tiny-gemma2,compute\r\n"));
  CHECK(has("recorded/fewshot.yaml,crop,2,process.cpu_ns,ns,900000,tiny-gemma2,compute\r\n"));
  CHECK(has("recorded/fewshot.yaml,crop,0,latency.evaluation_ns.p99,ns,,tiny-gemma2,compute\r\n"));  // of 3 samples
}

TEST_CASE("cases whose names look alike stay as many entries as they are") {
  ResultFile file;
  const std::string ends(70, 'x');
  for (const std::string& name :
       {std::string("a/b"), std::string("a_b"), std::string("a b"), std::string("A B"), ends + "1", ends + "2"}) {
    file.results.push_back(tests::plan_run(name, "crop", 100));
  }
  file.results.push_back(file.results.front());  // the same file twice
  std::size_t outcomes = 0;
  const std::string csv = write_result_csv(file);
  for (std::size_t at = 0; (at = csv.find(",outcome,", at)) != std::string::npos; ++at) ++outcomes;
  CHECK(outcomes == 7);
}

}  // namespace
}  // namespace kvreplay::reports
