// import as a user calls it.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/wrong_lines.hpp"

#include <vector>

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using testing::check_refused;
using testing::content_of;
using testing::kvreplay;
using testing::ScratchFolder;
using testing::Wrong;

const std::string traces = KVREPLAY_SOURCE_DIR "/tests/golden/traces/";

}  // namespace

TEST_CASE("a public trace is imported, checked and replayed") {
  const ScratchFolder scratch;
  const std::string out = scratch.path("out.yaml");
  const auto imported = kvreplay("import mooncake " + traces + "mooncake_arxiv_head19.jsonl -o " + out +
                                 " --rows 16 --max-input 8192 --licence Apache-2.0");
  CHECK(imported.exit_code == 0);
  CHECK_THAT(imported.out, Contains("16 of 19 rows read taken"));
  CHECK_THAT(imported.err, Contains("prompt longer than --max-input 8192: 3 (first in line 2)"));
  CHECK_THAT(content_of(out), Contains("licence: \"Apache-2.0\""));
  CHECK_THAT(kvreplay("check " + out).out, Contains("3937 evaluations"));
  CHECK(kvreplay("run --depth plan --progress none " + out).exit_code == 0);
  CHECK(scratch.num_entries() == 1);
}

TEST_CASE("a refused import leaves the old file as it is") {
  const ScratchFolder scratch;
  const std::string out = scratch.file("out.yaml", "old");
  const std::string bad = scratch.file("bad.jsonl", "{\"keep\": 0, \"feed\": [1]}\n{\"keep\": 5");
  const auto refused = kvreplay("import calls-jsonl " + bad + " -o " + out);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("bad.jsonl:2:") && Contains("cut off?"));
  CHECK(refused.out.empty());
  CHECK(content_of(out) == "old");
  const auto skipped = kvreplay("import calls-jsonl " + bad + " --skip-bad -o " + out);
  CHECK(skipped.exit_code == 0);
  CHECK_THAT(skipped.err, Contains("bad rows skipped: 1 (first in line 2"));
  CHECK(content_of(out).starts_with("format: kv-workload/1"));
}

TEST_CASE("wrong import command lines end with 2 and name the cure") {
  const ScratchFolder scratch;
  const std::string out = " -o " + scratch.path("out.yaml");
  const std::string trace = traces + "azure_code_head40.csv";
  const std::vector<Wrong> lines{
      {"import moncake " + trace + out, "did you mean 'mooncake'"},
      {"import lengths-csv " + trace, "--output is required"},
      {"import lengths-csv nowhere.csv" + out, "nowhere.csv: file not found"},
      {"import lengths-csv " + traces + out, "is a directory"},
      {"import lengths-csv " + trace + out + " --block 16", "lengths-csv takes no --block"},
      {"import lengths-csv " + trace + out + " --rows 0", "--rows takes a whole number from 1"},
      {"import lengths-csv " + trace + out + " --scale 1.5", "not '1.5'"},
      {"import lengths-csv " + trace + out + " --licence ''", "--licence is given an empty value"},
      {"import lengths-csv " + trace + out + " --licence 'foo bar ((('",
       "--licence takes an SPDX licence expression (MIT, Apache-2.0 AND PSF-2.0, (MIT OR X) AND Y) or NOASSERTION, "
       "not 'foo bar ((('"},
      {"import lengths-csv " + trace + out + " --licence \"$(printf 'MIT\\tOR X')\"", "--licence takes"},
      {"import lengths-csv " + trace + out + " --id \"$(printf 'a: b\\nc')\"",
       "--id takes one line of text: it has a line"},
      {"import lengths-csv " + trace + out + " --id \"$(printf 'a\\rb')\"", "--id takes one line of text"},
      {"import lengths-csv " + trace + out + " --title \"$(printf 'a\\033[31mred')\"",
       "--title takes one line of text: it has control character 0x1B"},
      {"import lengths-csv " + trace + out + " --title \"$(printf 'a\\377')\"", "it has not valid UTF-8"},
      {"import lengths-csv " + trace + " -o " + trace, "is the file to be imported"},
      {"import lengths-csv " + trace + " -o -", "import writes a file"},
      {"import lengths-csv " + trace + " -o " + scratch.path(""), "import writes a file"},
      {"import lengths-csv " + trace + " -o /nowhere/at/all/out.yaml", "no folder /nowhere/at/all"},
      {"import lengths-csv /proc/self/mem --skip-bad" + out, "cannot be read"},
      {"import mooncake /proc/self/mem --skip-bad" + out, "/proc/self/mem:1: cannot be read"},
      {"import mooncake " + trace + out, "azure_code_head40.csv:1:"},
  };
  check_refused(lines);
  CHECK(scratch.num_entries() == 0);
}

TEST_CASE("what an import does not use is said, and a key that is no key") {
  const ScratchFolder scratch;
  const std::string out = " -o " + scratch.path("out.yaml");
  const std::string csv = scratch.file("a.csv", "ContextTokens,GeneratedTokens,Model\n4,2,m\n");
  const auto imported = kvreplay("import lengths-csv " + csv + out);
  CHECK(imported.exit_code == 0);
  CHECK(imported.err == "note: not used of " + csv + ": 'Model'\n");
  const std::string calls =
      scratch.file("a.jsonl",
                   "{\"format\": \"kv-calls/1\", \"recorder\": {\"name\": \"r\", \"version\": \"1\"}, "
                   "\"engine\": \"e\", \"content\": \"lengths\"}\n{\"kep\": 0, \"feed\": [1]}\n");
  const auto refused = kvreplay("import calls-jsonl " + calls + out);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("a.jsonl:2: kep: unknown key (did you mean 'keep'?)"));
}

TEST_CASE("a line that never ends is refused at once") {
  const ScratchFolder scratch;
  const auto refused = kvreplay("import mooncake /dev/zero -o " + scratch.path("out.yaml"), "timeout 60");
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("/dev/zero:1: a line of more than 16 MiB"));
}

TEST_CASE("a line of 64 MiB needs no memory of that size") {
  const ScratchFolder scratch;
  const std::string trace = scratch.file("long.jsonl", std::string(std::size_t{64} << 20, ' '));
  // A sanitizer's shadow memory fits under no limit: there the message alone is looked at.
  const std::string limited = "ulimit -v $((96 * 1024)) &&";
  const std::string limit = kvreplay("--version", limited).exit_code == 0 ? limited : "";
  const auto refused = kvreplay("import mooncake " + trace + " -o " + scratch.path("out.yaml"), limit);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("long.jsonl:1: a line of more than 16 MiB"));
}

}  // namespace kvreplay::cli
