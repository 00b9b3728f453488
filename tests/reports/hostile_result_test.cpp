// Result files and calibrations that are damaged, made by hand, or of somebody else: a line a fault, and the exact
// words.

#include "reports/compare/comparable_text.hpp"
#include "reports/compare/noise.hpp"
#include "reports/result_json.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/outside.hpp"

#include <limits>

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using Json = nlohmann::ordered_json;

const std::string result_cure = "; nothing of this version writes that: make the file anew with 'kvreplay run -o'";
const std::string noise_cure = "; measure the noise anew with 'kvreplay compare --calibrate-noise'";

std::string error_of(const std::string& text) {
  try {
    read_result_json(text, "x.json");
  } catch (const ResultError& error) {
    return error.what();
  }
  return "no error";
}

std::string noise_error_of(const std::string& text) {
  try {
    read_noise(text, "n.json");
  } catch (const ResultError& error) {
    return error.what();
  }
  return "no error";
}

// The text of a document whose value at `pointer` reads `text`, whatever that is.
std::string with_text(Json document, const std::string& pointer, const std::string& text) {
  document[Json::json_pointer(pointer)] = "@here@";
  std::string dumped = document.dump();
  return dumped.replace(dumped.find("\"@here@\""), 8, text);
}

Json example() { return Json::parse(write_result_json(tests::suite_file())); }

struct Fault {
  const char* pointer;
  const char* text;     // in the place of the value
  const char* message;  // after the pointer
};

constexpr const char* too_long = "123456789012345678901234567890123456789012345678901234567890";

}  // namespace

TEST_CASE("a value that no result has is refused with its place, what it must be and the cure") {
  const Json good = example();
  CHECK(error_of(good.dump()) == "no error");
  for (const auto& [pointer, text, message] : {
           Fault{"/results/0/counters/resets", "3.5", "must be an integer, not 3.5"},
           Fault{"/results/0/counters/resets", "3.0", "must be an integer, not 3.0"},
           Fault{"/results/0/counters/resets", "1e300", "must be an integer, not 1e+300"},
           Fault{"/results/0/counters/resets", "null", "must be an integer, not null"},
           Fault{"/results/0/counters/resets", "[1]", "must be an integer, not a list"},
           Fault{"/results/0/counters/resets", "{\"n\": 1}", "must be an integer, not an object"},
           Fault{"/results/0/counters/resets", "true", "must be an integer, not true"},
           Fault{"/results/0/counters/resets", "-1", "must be at least 0, not -1"},
           Fault{"/results/0/counters/resets", "-9223372036854775808", "must be at least 0, not -9223372036854775808"},
           Fault{"/results/0/counters/resets", "9223372036854775808",
                 "must be an integer of 64 bits, not 9223372036854775808"},
           Fault{"/results/0/counters/resets", too_long, "must be an integer, not 1.2345678901234567e+59"},
           Fault{"/results/0/counters/unknown_yet", "-1", "must be at least 0, not -1"},
           Fault{"/results/0/counters", "[]", "must be an object, not a list"},
           Fault{"/results", "{}", "must be a list, not an object"},
           Fault{"/results", "null", "must be a list, not null"},
           Fault{"/results/0", "7", "must be an object, not 7"},
           Fault{"/results/1/depth", "1", "must be a string, not 1"},
           Fault{"/results/0/outcome/kind", "\"fine\"",
                 "must be one of completed, capacity_exceeded, rewind_refused, out_of_memory, limit_reached, "
                 "interrupted, not \"fine\""},
           Fault{"/results/2/outcome/line", "99999999999", "must be the number of a line, not 99999999999"},
           Fault{"/results/2/outcome/wanted", "-65", "must be at least 0, not -65"},
           Fault{"/results/2/outcome/message", "null", "must be a string, not null"},
           Fault{"/results/0/latency", "null", "must be an object where repetitions have times, not null"},
           Fault{"/results/2/latency", "{}", "must be null where no repetition has times, not an object"},
           Fault{"/results/0/latency/total_ns", "-5", "must be at least 0, not -5"},
           Fault{"/results/0/latency/total_ns", "18446744073709551616",
                 "must be an integer, not 1.8446744073709552e+19"},
           Fault{"/results/0/latency/parts_ns/admit", "-1", "must be at least 0, not -1"},
           Fault{"/results/0/repetitions/0/index", "-1", "must be at least 0, not -1"},
           Fault{"/results/0/repetitions/1/evaluation_ns/0", "-5", "must be at least 0, not -5"},
           Fault{"/results/0/repetitions/1/latency/total_ns", "-1", "must be at least 0, not -1"},
           Fault{"/results/0/repetitions/1/latency/total_ns", "1e300", "must be an integer, not 1e+300"},
           Fault{"/results/0/repetitions/1/latency/parts_ns/admit", "-1", "must be at least 0, not -1"},
           Fault{"/results/0/repetitions/1/latency/evaluation_ns/n", "-3", "must be at least 0, not -3"},
           Fault{"/results/0/repetitions/1/latency/evaluation_ns/p50", "-1", "must be at least 0, not -1"},
           Fault{"/results/0/repetitions/1/latency/evaluation_ns/p50", "null", "must be an integer, not null"},
           Fault{"/results/0/repetitions/1/latency/evaluation_ns/p99", "-1", "must be at least 0, not -1"},
           Fault{"/results/0/repetitions/1/process/cpu_ns", "-1", "must be at least 0, not -1"},
           Fault{"/results/0/timeline/0/action", "\"jump\"",
                 "must be one of first, append, cached, crop, reset, discard, grow, refused, exceeded, not \"jump\""},
           Fault{"/results/0/timeline/0/cause", "\"luck\"",
                 "must be one of overflow, window_passed, sequence_switch, rewind, policy, not \"luck\""},
           Fault{"/results/0/timeline/0/bytes_after", "-1", "must be at least 0, not -1"},
           Fault{"/results/0/verification/tolerance", "-1e-4", "must be at least 0, not -0.0001"},
           Fault{"/results/0/model/num_layers", "-6", "must be at least 0, not -6"},
           Fault{"/provenance", "[]", "must be an object, not a list"},
       }) {
    INFO(pointer << " = " << text);
    CHECK(error_of(with_text(good, pointer, text)) == std::string("x.json: ") + pointer + ": " + message + result_cure);
  }
}

TEST_CASE("a value that contradicts another one is refused where the contradiction shows") {
  const Json good = example();
  const auto error = [&](const char* pointer, const char* text) { return error_of(with_text(good, pointer, text)); };
  CHECK(error("/results/0/repetitions", "[]") ==
        "x.json: /results/0/latency: must be null where no repetition has times, not an object" + result_cure);
  CHECK(error("/results/0/policy/options", "{\"capacity\": 64}") ==
        "x.json: /results/0/policy/options/capacity: must be a string, not 64" + result_cure);
  CHECK(error("/shard", "{\"index\": 0, \"count\": 3, \"cells\": 4}") ==
        "x.json: /shard/index: must be at least 1, not 0" + result_cure);
  CHECK(error("/shard", "{\"index\": 4, \"count\": 3, \"cells\": 4}") ==
        "x.json: /shard/index: must be at most 3, the count, not 4" + result_cure);
  CHECK(error("/shard", "{\"index\": 1, \"count\": -3, \"cells\": 4}") ==
        "x.json: /shard/count: must be at least 1, not -3" + result_cure);
  CHECK(error("/results/0/repetitions/0/latency/evaluation_ns/n", "0") ==
        "x.json: /results/0/repetitions/0/latency/evaluation_ns/min: must be null where n is 0, not 10000" +
            result_cure);
  CHECK(error("/results/0/repetitions/0/evaluation_ns", "[9000000000000000000, 9000000000000000000, 1]") ==
        "x.json: /results/0/repetitions: must be times that add up to less than 292 years, not a list" + result_cure);
  const std::string one_each = "must be 3 numbers, one for each evaluation of the repetition, not a list" + result_cure;
  CHECK(error("/results/0/evaluation_fed", "[18, 1]") == "x.json: /results/0/evaluation_fed: " + one_each);
  CHECK(error("/results/0/evaluation_fed", "[]") == "x.json: /results/0/evaluation_fed: " + one_each);
  CHECK(error("/results/0/repetitions/1/evaluation_ns", "[1, 2]") ==
        "x.json: /results/0/repetitions/1/evaluation_ns: " + one_each);
  CHECK(error("/results/0/repetitions/1/evaluation_ns", "[]") == "no error");  // of long runs nothing is stored
  Json lacking = good;
  lacking["results"][3].erase("outcome");
  CHECK(error_of(lacking.dump()) == "x.json: /results/3/outcome: missing" + result_cure);
}

TEST_CASE("a key given twice is refused with its place") {
  const std::string text = with_text(example(), "/results/1/counters/resets", "3,\"resets\":4");
  CHECK(error_of(text) == "x.json: /results/1/counters/resets: is there twice" + result_cure);
  CHECK(error_of(R"({"a": [[], {"b": 1, "b\nc": 2, "b": 3}]})") == "x.json: /a/1/b: is there twice" + result_cure);
  const std::string name(10'000, 'n');
  CHECK(error_of("{\"" + name + "\": 1, \"" + name + "\": 2}").size() < 400);
}

TEST_CASE("a text that is no JSON is refused with line, column and what was expected there") {
  struct Text {
    std::string text;
    std::string message;  // between the file's name and the cure
  };
  const std::string cut = "not JSON: the text ends in the middle, the file is cut off";
  for (const auto& [text, message] : {
           Text{"", " empty"},
           Text{" \r\n\t", " empty"},
           Text{"\xEF\xBB\xBF\n", " empty"},
           Text{"nonsense", "1:1: not JSON: a value must stand here, and there is nonsense"},
           Text{"{\"schema\": \"kvreplay.result/1\"", "1:31: " + cut},
           Text{"{\"a\": \"x", "1:9: " + cut},
           Text{"{\n \"a\": [1,\n", "3:1: " + cut},
           Text{"{}{}", "1:3: not JSON: the document is over, and there is {"},
           Text{"{}\n\n  x", "3:3: not JSON: the document is over, and there is x"},
           Text{"{\"a\": NaN}", "1:7: not JSON: a value must stand here, and there is NaN, which is no number in JSON"},
           Text{"{\"a\": -Infinity}",
                "1:7: not JSON: a value must stand here, and there is -Infinity, which is no number in JSON"},
           Text{"{\n\"a\": 1e999}", "2:6: not JSON: 1e999 is larger than any number"},
           Text{"{\"a\": 01}", "1:7: not JSON: a comma or } must stand here, and there is 01"},
           Text{"{\"a\": 'x'}", "1:7: not JSON: a value must stand here, and there is '"},
           Text{"{a: 1}", "1:2: not JSON: a key in double quotes or } must stand here, and there is a"},
           Text{"{\"a\": 1,}", "1:9: not JSON: a key in double quotes or } must stand here, and there is }"},
           Text{"{\"a\" 1}", "1:6: not JSON: a colon must stand here, and there is 1"},
           Text{"{\"a\": 1 \"b\": 2}", "1:9: not JSON: a comma or } must stand here, and there is \"b\""},
           Text{"[1 2]", "1:4: not JSON: a comma or ] must stand here, and there is 2"},
           Text{"[1, // one\n2]", "1:5: not JSON: a value must stand here, and there is /"},
           Text{"{\"a\": \"\\q\"}", "1:9: not JSON: an escape in a string that JSON does not know"},
           Text{"{\"a\": \"\\ud800\"}", "1:14: not JSON: an escape in a string that JSON does not know"},
           Text{"{\"a\": \"x\ny\"}", "1:9: not JSON: a line break or control character inside a string"},
           Text{"{\"a\": \"\xff\"}", "1:8: not JSON: byte 0xFF is no UTF-8 text"},
           Text{"{\"a\": \"\xC3(\"}", "1:9: not JSON: byte 0x28 is no UTF-8 text"},
           Text{std::string("{\"a\": 1\0}", 9), "1:8: not JSON: a NUL byte, the file is damaged"},
           Text{std::string("{}\0\0\0", 5), "1:3: not JSON: a NUL byte, the file is damaged"},
           Text{std::string("\xFF\xFE{\0", 4), "1:1: not JSON: this is UTF-16 text; save it as UTF-8"},
           Text{"\x1b[31mred", "1:1: not JSON: a value must stand here, and there is \xEF\xBF\xBD"},
       }) {
    INFO(text);
    CHECK(error_of(text) == "x.json:" + message + result_cure);
  }
  const std::string whole = write_result_json(tests::example_file());
  for (std::size_t length = 1; length < 400; ++length) {
    INFO(length);
    CHECK_THAT(error_of(whole.substr(0, whole.size() * length / 400)), Catch::Contains(cut));
  }
}

TEST_CASE("another program's JSON, and a later version's, are told apart from a damaged result") {
  for (const char* text : {"[]", "7", "null", "{}", R"({"context": {}, "benchmarks": []})", R"({"schema": 1})"}) {
    CHECK(error_of(text) == "x.json: no result of kvreplay: there is no \"schema\": \"kvreplay.result/1\"");
  }
  CHECK(error_of(with_text(example(), "/schema", "\"kvreplay.result/2\"")) ==
        "x.json: schema \"kvreplay.result/2\"; this program reads \"kvreplay.result/1\"");
  CHECK(error_of(R"({"schema": "kvreplay.noise/1"})") ==
        "x.json: schema \"kvreplay.noise/1\"; this program reads \"kvreplay.result/1\"");
}

TEST_CASE("a byte order mark is passed over") {
  CHECK(error_of("\xEF\xBB\xBF" + example().dump()) == "no error");
  CHECK(error_of("\xEF\xBB\xBF{\"a\": x}").starts_with("x.json:1:10: not JSON"));
}

TEST_CASE("input nested a million times deep is refused, not followed") {
  const std::string deep = "x.json: nested deeper than 64 levels" + result_cure;
  CHECK(error_of(std::string(1'000'000, '[')) == deep);
  CHECK(error_of(std::string(10'000, '[') + std::string(10'000, ']')) == deep);
  std::string objects;
  for (int i = 0; i < 10'000; ++i) objects += "{\"a\":";
  CHECK(error_of(objects) == deep);
  CHECK(error_of(with_text(example(), "/results/0/new_field", std::string(100, '[') + std::string(100, ']'))) == deep);
}

TEST_CASE("files of 100 MB are refused for what they hold, and a large good one is read") {
  const tests::TemporaryFolder folder;
  constexpr std::size_t large = 100'000'000;
  const auto error = [&](const std::string& text) -> std::string {
    try {
      read_comparable_file(folder.file("large.json", text));
    } catch (const ResultError& refusal) {
      return std::string(refusal.what()).substr(folder.path("large.json").size());
    }
    return "no error";
  };
  CHECK_THAT(error(std::string(large, '[')), Catch::StartsWith(": nested deeper than 64 levels"));
  CHECK_THAT(error(std::string(large, ' ')), Catch::StartsWith(": empty"));
  CHECK_THAT(error(std::string(large, '\0')), Catch::StartsWith(":1:1: not JSON: a NUL byte"));
  CHECK_THAT(error("\"" + std::string(large, 'x')), Catch::StartsWith(":1:100000002: not JSON: the text ends"));
  const std::string good = example().dump();
  CHECK(error(good + std::string(large, '\n')) == "no error");
  CHECK_THAT(error(with_text(example(), "/results/0/timeline", "[" + std::string(1000, ' ') + '\0' + "]")),
             Catch::Contains("a NUL byte"));
}

TEST_CASE("a calibration that cannot be one is refused with its place and the cure") {
  NoiseFloor floor;
  floor.relative = 0.1;
  floor.num_pairs = 10;
  floor.machine = {{"cpu_model", "one"}};
  const Json good = Json::parse(write_noise(floor));
  CHECK(noise_error_of(good.dump()) == "no error");
  for (const auto& [pointer, text, message] : {
           Fault{"/relative", "1e300", "must be at most 1000, not 1e+300"},
           Fault{"/absolute", "-0.1", "must be at least 0, not -0.1"},
           Fault{"/cpu", "null", "must be a number, not null"},
           Fault{"/num_pairs", "0", "must be at least 1, not 0"},
           Fault{"/num_pairs", "1.5", "must be an integer, not 1.5"},
           Fault{"/num_alarms", "-1", "must be at least 0, not -1"},
           Fault{"/num_alarms", "11", "must be at most 10, the pairs, not 11"},
           Fault{"/machine", "[]", "must be an object, not a list"},
       }) {
    INFO(pointer << " = " << text);
    CHECK(noise_error_of(with_text(good, pointer, text)) ==
          std::string("n.json: ") + pointer + ": " + message + noise_cure);
  }
  CHECK(noise_error_of("") == "n.json: empty" + noise_cure);
  CHECK(noise_error_of("{\"relative\": NaN}").starts_with("n.json:1:14: not JSON: a value must stand here"));
  CHECK(noise_error_of(with_text(good, "/cpu", "1, \"cpu\": 2")) == "n.json: /cpu: is there twice" + noise_cure);
  CHECK(noise_error_of("[]") == "n.json: no calibration: there is no \"schema\": \"kvreplay.noise/1\"" + noise_cure);
  CHECK(noise_error_of(example().dump()) ==
        "n.json: schema \"kvreplay.result/1\"; this program reads \"kvreplay.noise/1\"");
  Json lacking = good;
  lacking.erase("machine");
  CHECK(noise_error_of(lacking.dump()) == "n.json: /machine: missing" + noise_cure);
}

}  // namespace kvreplay::reports
