// scripts/ci-suite.sh: reports are kept, a missing baseline is never silent, the worse exit code wins.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

#include <filesystem>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using testing::content_of;
using testing::Finished;
using testing::recording;
using testing::ScratchFolder;
using testing::shell;

const std::string script = KVREPLAY_SOURCE_DIR "/scripts/ci-suite.sh";
const std::string json_w64 = recording("guidance-0.2.1_transformers-4.47.1/json_w64");

// The program itself, but for compare, which ends with `code` and leaves its arguments in `compared`.
std::string program(const ScratchFolder& scratch, const std::string& code) {
  const std::string path =
      scratch.file("kvreplay", "#!/bin/sh\nif [ \"$1\" = compare ]; then echo \"$@\" >'" + scratch.path("compared") +
                                   "'; exit " + code + "; fi\nexec '" KVREPLAY_PROGRAM "' \"$@\"\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

std::string suite(const ScratchFolder& scratch, const std::string& most) {
  return scratch.file(
      "s.yaml", "format: kv-suite/1\ntitle: t\nworkloads: [" + json_w64 +
                    "]\npolicies: [crop]\ndepth: plan\nbudgets: [{metric: tokens_evaluated, max: " + most + "}]\n");
}

}  // namespace

TEST_CASE("the script keeps every report and says that there is no baseline yet") {
  const ScratchFolder scratch;
  const std::string environment = "KVREPLAY='" KVREPLAY_PROGRAM "' ";
  const std::string out = scratch.path("out");
  const std::string rest = script + " " + out + " " + scratch.path("gone.json") + " " + suite(scratch, "70");
  const Finished first = shell(environment + rest + " -- --threads 1");
  CHECK(first.exit_code == 0);
  CHECK_THAT(first.err, Contains("there is no baseline") && Contains("gone.json"));
  for (const std::string name : {"result.json", "report.html", "report.md", "result.junit.xml"}) {
    CHECK(!content_of(out + "/" + name).empty());
  }
  CHECK(shell("KVREPLAY_REQUIRE_BASELINE=1 " + environment + rest).exit_code == 4);
  CHECK_THAT(shell("GITHUB_ACTIONS=true " + environment + rest).out, Contains("::warning title=kvreplay::there is no"));
}

TEST_CASE("the script compares with a baseline and ends with the worse code") {
  const ScratchFolder scratch;
  const std::string baseline = scratch.file("base.json", "{}");
  // What compare ends with, the budget (70 tokens are evaluated), the script's code.
  const std::vector<std::tuple<std::string, std::string, int>> cases{
      {"0", "70", 0}, {"1", "70", 1}, {"0", "69", 1}, {"4", "69", 4}, {"2", "70", 2}, {"5", "70", 5}, {"5", "69", 1}};
  for (const auto& [compared, most, expected] : cases) {
    const Finished finished = shell("KVREPLAY=" + program(scratch, compared) + " " + script + " " +
                                    scratch.path("out") + " " + baseline + " " + suite(scratch, most));
    INFO(compared + " " + most);
    CHECK(finished.exit_code == expected);
    CHECK_THAT(content_of(scratch.path("compared")),
               Contains("compare " + baseline + " " + scratch.path("out/result.json")));
  }
}

TEST_CASE("the script refuses what it cannot mean, and compares nothing after a failed run") {
  const ScratchFolder scratch;
  const std::string environment = "KVREPLAY=" + program(scratch, "0") + " ";
  const std::string baseline = scratch.file("base.json", "{}"), out = scratch.path("out");
  CHECK(shell(environment + script).exit_code == 2);
  CHECK(shell(environment + script + " " + out + " -").exit_code == 2);
  CHECK(shell(environment + script + " " + out + " - --").exit_code == 2);
  CHECK(shell(environment + script + " " + out + " '' " + json_w64).exit_code == 2);
  CHECK_THAT(shell("KVREPLAY=" + scratch.path("none") + " " + script + " " + out + " - " + json_w64).err,
             Contains("is no program"));
  const std::string old = scratch.path("out/result.json");
  std::filesystem::create_directory(out);
  scratch.file("out/result.json", "old");
  CHECK(shell(environment + script + " " + out + " " + baseline + " " + scratch.path("gone.yaml")).exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(old));
  CHECK_FALSE(std::filesystem::exists(scratch.path("compared")));
}

}  // namespace kvreplay::cli
