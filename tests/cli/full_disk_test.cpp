// Every command that writes a file, on a disk without room.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

#include <utility>
#include <vector>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using testing::content_of;
using testing::Finished;
using testing::kvreplay;
using testing::recording;
using testing::ScratchFolder;

// No file may grow, as if the disk were full; what the program prints goes through a pipe, and its exit code behind it.
Finished on_full_disk(const std::string& arguments) {
  return kvreplay(arguments, R"(sh -c '{ (trap "" XFSZ; ulimit -f 0; "$@"); echo "exit $?"; } 2>&1 | cat' sh)");
}

}  // namespace

TEST_CASE("a full disk is named by every command that writes, and costs no file") {
  const ScratchFolder scratch;
  const std::string workload = recording("guidance-0.2.1_transformers-4.47.1/json_w64");
  const std::string run = "run --depth plan --progress none -p crop " + workload;
  const std::string a = scratch.path("a.json"), b = scratch.path("b.json");
  const std::string one = scratch.path("one.json"), two = scratch.path("two.json");
  for (const auto& [arguments, path] : std::vector<std::pair<std::string, std::string>>{
           {"", a}, {"", b}, {" -p reset --shard 1/2", one}, {" -p reset --shard 2/2", two}}) {
    REQUIRE(kvreplay(run + arguments + " -o " + path).exit_code == 0);
  }
  const std::string own = scratch.file("own.yaml", content_of(workload));
  const std::string trace = KVREPLAY_SOURCE_DIR "/tests/golden/traces/mooncake_arxiv_head19.jsonl";
  const auto old = [&](const std::string& name) { return scratch.file(name, "old"); };
  const std::string html = old("r.html"), json = old("r.json"), csv = old("r.csv"), junit = old("r.junit.xml");
  const std::string summary = old("r.md"), yaml = old("i.yaml");
  const std::size_t num_files = scratch.num_entries();
  for (const auto& [arguments, target] : std::vector<std::pair<std::string, std::string>>{
           {run + " -o " + json, json},
           {"verify -p crop " + workload + " -o " + json, json},
           {"explain -p crop " + workload + " -o " + csv, csv},
           {"report " + a + " -o " + html, html},
           {"merge " + one + " " + two + " -o " + json, json},
           {"compare " + a + " " + b + " -o " + junit + " -o " + summary, junit},
           {"import mooncake " + trace + " -o " + yaml, yaml},
           {"check --write-expect " + own, own}}) {
    const std::string before = content_of(target);
    const Finished finished = on_full_disk(arguments);
    INFO(arguments << "\n" << finished.out);
    CHECK_THAT(finished.out, Contains("\nexit 3\n") && Contains(target) && Contains("File too large"));
    CHECK(content_of(target) == before);
    CHECK(scratch.num_entries() == num_files);
  }
}

}  // namespace kvreplay::cli
