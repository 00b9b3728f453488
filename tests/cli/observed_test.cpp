// check --observed as a user calls it.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

#include <array>
#include <filesystem>
#include <vector>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using testing::content_of;
using testing::kvreplay;
using testing::recording;
using testing::ScratchFolder;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

// A recording and its log, copied so that they can be changed; the model's folder is named absolutely.
struct Copy {
  explicit Copy(const ScratchFolder& scratch,
                const std::string& name = "guidance-0.3.1_transformers-4.57.6/fewshot_w64")
      : yaml(replaced(content_of(recording(name)), "../../models", KVREPLAY_SOURCE_DIR "/workloads/models")),
        log(content_of(replaced(recording(name), ".yaml", ".observed.csv"))) {
    write(scratch);
  }
  void write(const ScratchFolder& scratch) const {
    scratch.file("copy.yaml", yaml);
    scratch.file("copy.observed.csv", log);
  }
  std::string yaml, log;
};

}  // namespace

TEST_CASE("check --observed finds every recording with a preset equal to its engine") {
  for (const char* name :
       {"guidance-0.2.1_transformers-4.47.1/plain_w64", "guidance-0.3.1_transformers-4.57.6/fork_w64"}) {
    const auto checked = kvreplay("check --observed " + recording(name));
    CHECK(checked.exit_code == 0);
    CHECK_THAT(checked.out, Contains(": equal: guidance-") && Contains("none differs"));
  }
}

TEST_CASE("check --observed names the total that differs") {
  const ScratchFolder scratch;
  Copy copy(scratch);
  CHECK(kvreplay("check --observed " + scratch.path("copy.yaml")).exit_code == 0);
  const std::vector<std::array<std::string, 3>> changes{
      {"fed: 71,", "fed: 70,", "fed: observed 70, replayed 71"},
      {"crops: 3,", "crops: 4,", "crops: observed 4, replayed 3"},
      {"reallocations: 22,", "reallocations: 21,", "reallocations: observed 21, replayed 22"},
      {"then_wanted: {keep: 65,", "then_wanted: {keep: 64,", "then_wanted.keep: observed 64, replayed 65"},
  };
  for (const auto& [from, to, says] : changes) {
    Copy changed = copy;
    changed.yaml = replaced(changed.yaml, from, to);
    changed.write(scratch);
    const auto checked = kvreplay("check --observed " + scratch.path("copy.yaml"));
    INFO(says);
    CHECK(checked.exit_code == 1);
    CHECK_THAT(checked.out, Contains(says) && Contains("DIFFERENT") && Contains("1 differ"));
  }
}

TEST_CASE("check --observed names the first call that differs") {
  const ScratchFolder scratch;
  Copy copy(scratch);
  copy.log = replaced(copy.log, "\n3,20,19,1,19,", "\n3,20,19,2,19,");
  copy.write(scratch);
  const auto checked = kvreplay("check --observed " + scratch.path("copy.yaml"));
  CHECK(checked.exit_code == 1);
  CHECK_THAT(checked.out,
             Contains("first difference: evaluation 3, fed: ours `1`") && Contains("copy.observed.csv:5 says `2`"));
  scratch.file("copy.observed.csv", "call,fed\n0,19\n0,1\n");
  const auto broken = kvreplay("check --observed " + scratch.path("copy.yaml"));
  CHECK(broken.exit_code == 2);
  CHECK_THAT(broken.err, Contains("copy.observed.csv:3: call 0 again"));
}

TEST_CASE("check --observed says what it cannot check") {
  const ScratchFolder scratch;
  Copy copy(scratch);
  copy.yaml = replaced(copy.yaml, "policy: guidance-0.3+transformers-4.57", "policy: an-engine-to-come");
  copy.write(scratch);
  const auto unknown = kvreplay("check --observed " + scratch.path("copy.yaml"));
  CHECK(unknown.exit_code == 0);
  CHECK_THAT(unknown.out, Contains("not checkable") && Contains("an-engine-to-come"));
  const auto none = kvreplay("check --observed " + recording("examples/01_json_fast_forward"));
  CHECK(none.exit_code == 0);
  CHECK_THAT(none.out, Contains("not checkable: it has no expect.observed"));
  std::filesystem::remove(scratch.path("copy.observed.csv"));
  Copy(scratch).write(scratch);
  std::filesystem::remove(scratch.path("copy.observed.csv"));
  const auto totals = kvreplay("check --observed " + scratch.path("copy.yaml"));
  CHECK(totals.exit_code == 0);
  CHECK_THAT(totals.out, Contains("no engine log beside it"));
}

}  // namespace kvreplay::cli
