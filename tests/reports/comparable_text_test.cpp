// Passing over long lists: what remains is what a strict parser sees without their elements, however the text is cut.

#include "reports/compare/comparable_text.hpp"

#include "reports/result_json.hpp"
#include "reports/whole_file.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/outside.hpp"

#include <nlohmann/json.hpp>

#include <random>

namespace kvreplay::reports {
namespace {

std::string skipped(const std::string& text, std::size_t piece) {
  ListSkipper skipper;
  for (std::size_t i = 0; i < text.size(); i += piece) skipper.feed(std::string_view(text).substr(i, piece));
  CHECK(skipper.is_sound());
  return skipper.text();
}

bool is_sound(const std::string& text) {
  ListSkipper skipper;
  skipper.feed(text);
  return skipper.is_sound();
}

// The same by the parser.
nlohmann::json without_lists(nlohmann::json value) {
  if (value.is_object()) {
    for (auto& [key, member] : value.items()) {
      const bool is_long = key == "timeline" || key == "evaluation_ns" || key == "evaluation_fed";
      member = is_long && member.is_array() ? nlohmann::json::array() : without_lists(member);
    }
  } else if (value.is_array()) {
    for (auto& element : value) element = without_lists(element);
  }
  return value;
}

}  // namespace

TEST_CASE("a result file keeps everything but the elements of its long lists") {
  const std::string text = write_result_json(tests::example_file());
  const auto expected = without_lists(nlohmann::json::parse(text));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{1000}, text.size()}) {
    INFO(piece);
    CHECK(nlohmann::json::parse(skipped(text, piece)) == expected);
  }
  CHECK(nlohmann::json::parse(skipped(nlohmann::json::parse(text).dump(3), 64)) == expected);
}

TEST_CASE("brackets, quotes and backslashes inside the strings of a list do not end it") {
  std::mt19937 random(5);
  const std::string letters = "[]{}\\\"aA,: \n";
  for (int round = 0; round < 200; ++round) {
    nlohmann::json points = nlohmann::json::array();
    for (unsigned i = random() % 8; i > 0; --i) {
      std::string name;
      for (unsigned n = random() % 90; n > 0; --n) name += letters[random() % letters.size()];
      points.push_back({{"sequence", name}, {"nested", {{1, 2}, {name}}}, {name, nullptr}});
    }
    const nlohmann::json file = {
        {"timeline", points}, {"after", "x"}, {"timeline\"", {1}}, {"list", {"timeline", {3}}}};
    CHECK(nlohmann::json::parse(skipped(file.dump(), 1 + random() % 200)) == without_lists(file));
  }
}

TEST_CASE("a list that is cut off or holds NaN is not passed over in silence") {
  CHECK(is_sound(R"({"timeline": [1, -2.5E3, null, true], "x": [NaN]})"));  // the parser's to refuse
  CHECK_FALSE(is_sound(R"({"timeline": [1, 2)"));
  CHECK_FALSE(is_sound(R"({"timeline": [1, NaN]})"));
  CHECK_FALSE(is_sound(R"({"evaluation_ns": [1, -Infinity]})"));
  CHECK_FALSE(is_sound(R"({"timeline": [{"sequence": "a)"));
}

TEST_CASE("a broken file is refused with the fault and the place in the whole file") {
  using Catch::Matchers::Contains;
  const tests::TemporaryFolder folder;
  const std::string text = write_result_json(tests::example_file());
  for (const std::size_t length : {text.size() - 3, text.size() / 2, text.size() / 3, std::size_t{20}}) {
    INFO(length);
    const std::string path = folder.file("cut.json", text.substr(0, length));
    CHECK_THROWS_WITH(read_comparable_file(path),
                      Contains("cut.json:") && Contains("not JSON: the text ends in the middle"));
  }
  const std::size_t at = text.find("\"evaluation_ns\":[") + 17;
  const std::string nan = folder.file("nan.json", text.substr(0, at) + "NaN," + text.substr(at));
  CHECK_THROWS_WITH(read_comparable_file(nan), Contains("nan.json:") && Contains("and there is NaN"));
  CHECK_THROWS_AS(read_comparable_file(folder.path("none.json")), FileReadError);
  CHECK_THROWS_WITH(read_comparable_file(folder.file("foreign.json", "{\"a\": 1}")), Contains("no result of kvreplay"));
  CHECK_THROWS_WITH(read_comparable_file(folder.file("new.json", R"({"schema": "kvreplay.result/2"})")),
                    Contains("kvreplay.result/2"));
}

TEST_CASE("a device that never ends is left at once") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(read_comparable_file("/dev/zero"), Contains("/dev/zero:1:1: not JSON: a NUL byte"));
  CHECK_THROWS_WITH(read_comparable_file("/dev/urandom"), Contains("/dev/urandom:") && Contains("not JSON"));
}

TEST_CASE("a NUL byte is found wherever it stands, in a text of UTF-16 the encoding") {
  using Catch::Matchers::Contains;
  const tests::TemporaryFolder folder;
  const std::string lines = "{\n" + std::string(300'000, ' ') + "\n\n  ";  // more than one piece
  CHECK_THROWS_WITH(read_comparable_file(folder.file("late.json", lines + '\0')),
                    Contains("late.json:4:3: not JSON: a NUL byte"));
  CHECK_THROWS_WITH(read_comparable_file(folder.file("wide.json", std::string("\xFF\xFE{\0}\0", 6))),
                    Contains("wide.json:1:1: not JSON: this is UTF-16 text"));
}

TEST_CASE("a read file has its counters and repetitions") {
  const tests::TemporaryFolder folder;
  const ResultFile whole = tests::example_file();
  const ResultFile read = read_comparable_file(folder.file("a.json", write_result_json(whole)));
  REQUIRE(read.results.size() == whole.results.size());
  CHECK(read.results[0].counters == whole.results[0].counters);
  CHECK(read.results[0].repetitions[2].latency->total_ns == whole.results[0].repetitions[2].latency->total_ns);
  CHECK(read.results[0].repetitions[2].evaluation_ns.empty());
  CHECK(read.results[0].timeline.empty());
}

}  // namespace kvreplay::reports
