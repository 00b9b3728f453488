// compare --calibrate-noise: what is stored, where it is used, and what it may replace.

#include "tests/catch.hpp"
#include "tests/cli/made_results.hpp"
#include "tests/cli/program.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using testing::content_of;
using testing::Finished;
using testing::kvreplay;
using testing::result_with;
using testing::ScratchFolder;
using testing::steady;

}  // namespace

TEST_CASE("a calibration is stored beside the results, used from there, and refused on another machine") {
  const ScratchFolder scratch;
  const std::string a = result_with(scratch, "a.json", steady);
  json file = json::parse(content_of(a));
  for (json& run : file["results"]) {
    for (json& repetition : run["repetitions"]) {
      repetition["latency"]["total_ns"] = 11 * repetition["latency"]["total_ns"].get<std::int64_t>() / 10;
    }
  }
  const std::string b = scratch.file("b.json", file.dump());
  CHECK_THAT(kvreplay("compare " + a + " " + b).out, Contains("2 times regressed"));
  const Finished calibrated = kvreplay("compare --calibrate-noise " + a + " " + b);
  INFO(calibrated.err);
  CHECK(calibrated.exit_code == 0);
  CHECK_THAT(calibrated.out, Contains("10.0 % (absolute"));
  const std::string noise = scratch.path("kvreplay-noise.json");
  REQUIRE(std::filesystem::exists(noise));
  const Finished used = kvreplay("compare " + a + " " + b + " --fail-on regressed");
  CHECK(used.exit_code == 0);
  CHECK_THAT(used.out, Contains("calibrated"));
  json other = json::parse(content_of(noise));
  other["machine"]["cpu_model"] = "another";
  const std::string foreign = scratch.file("foreign.json", other.dump());
  CHECK(kvreplay("compare " + a + " " + b + " --noise " + foreign).exit_code == 4);
  other["schema"] = "kvreplay.noise/9";
  CHECK(kvreplay("compare " + a + " " + b + " --noise " + scratch.file("new.json", other.dump())).exit_code == 2);
}

TEST_CASE("a calibration can be read again whatever the parts of its runs took") {
  const ScratchFolder scratch;
  const auto with_part = [&scratch](const std::string& name, std::int64_t ns) {
    return result_with(scratch, name, [ns](json& file) {
      steady(file);
      for (json& run : file["results"]) {
        for (json& repetition : run["repetitions"]) {
          for (json& part : repetition["latency"]["parts_ns"]) part = ns;
        }
      }
    });
  };
  const std::string a = with_part("a.json", 1), b = with_part("b.json", 5'000'000);
  REQUIRE(kvreplay("compare --calibrate-noise " + a + " " + b).exit_code == 0);
  const Finished used = kvreplay("compare " + a + " " + b);
  INFO(used.err);
  CHECK(used.exit_code == 0);
  CHECK_THAT(used.out, Contains("calibrated"));
}

TEST_CASE("a calibration replaces nothing but an older one and takes only different results of one build") {
  const ScratchFolder scratch;
  const std::string a = result_with(scratch, "a.json", steady), b = result_with(scratch, "b.json", steady);
  const std::string before = content_of(a);
  const auto refused = [&](const std::string& arguments, int code, const std::string& message) {
    const Finished finished = kvreplay("compare --calibrate-noise " + arguments);
    CHECK(finished.exit_code == code);
    CHECK_THAT(finished.err, Contains(message));
  };
  refused(a + " " + b + " --noise " + a, 2, "would replace a file that is read");
  refused(a + " " + b + " --noise " + scratch.file("other.json", before), 2, "is no calibration");
  refused(a + " " + a, 2, "given twice");
  refused(a, 2, "name two at least");
  CHECK(content_of(a) == before);
  CHECK(content_of(scratch.path("other.json")) == before);
  json changed = json::parse(before);
  changed["results"][0]["counters"]["bytes_copied"] = changed["results"][0]["counters"]["bytes_copied"].get<long>() + 1;
  refused(a + " " + scratch.file("changed.json", changed.dump()), 4, "counters differ");
  const std::string noise = " --noise " + scratch.path("noise.json");
  CHECK(kvreplay("compare --calibrate-noise " + a + " " + b + noise).exit_code == 0);
  CHECK(kvreplay("compare --calibrate-noise " + a + " " + b + noise).exit_code == 0);
}

}  // namespace kvreplay::cli
