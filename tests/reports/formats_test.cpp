#include "reports/formats.hpp"

#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/outside.hpp"

namespace kvreplay::reports {
namespace {

TEST_CASE("the end of the name picks the format, the longest that fits") {
  CHECK(format_for_path("a.json").name == "json");
  CHECK(format_for_path("a.gbench.json").name == "google-benchmark");
  CHECK(format_for_path("out.md/x.csv").name == "csv");
  CHECK(format_for_path("REPORT.MD").name == "markdown");
  CHECK(format_for_path("a.trace.json").name == "perfetto");
  CHECK(format_for_path("a.junit.xml").name == "junit");
  CHECK(format_for_path("a.html").name == "html");
  CHECK(format_for_path("a.action.json").name == "github-action-benchmark");
  CHECK(format_for_path("a.bencher.json").name == "bencher");
  CHECK(format_for_path("gbench.json").name == "json");
  CHECK(find_format("markdown") == &format_for_path("a.md"));
  CHECK(find_format("md") == &format_for_path("a.md"));
  CHECK(find_format("junit.xml") == find_format("junit"));
  CHECK(find_format(".md") == nullptr);
}

TEST_CASE("an unknown end is refused with those there are") {
  for (const char* path : {"a", "a.txt", "json", "a.json/", "", "a.md.bak"}) {
    INFO(path);
    CHECK_THROWS_AS(format_for_path(path), UnknownFormat);
  }
  CHECK_THROWS_WITH(
      format_for_path("a.txt"),
      Catch::Contains("a.txt") &&
          Catch::Contains(
              ".json, .md, .csv, .gbench.json, .html, .junit.xml, .trace.json, .action.json, .bencher.json"));
}

TEST_CASE("every format is found by its name and writes a file without runs") {
  for (const Format& format : format_table()) {
    INFO(format.name);
    CHECK(find_format(format.name) == &format);
    CHECK_FALSE(format.write({}).empty());
    CHECK_FALSE(format.meaning.empty());
  }
  CHECK(find_format("pdf") == nullptr);
}

TEST_CASE("the page on results names every format") {
  const std::string page = tests::content_of(KVREPLAY_SOURCE_DIR "/docs/results.md");
  for (const Format& format : format_table())
    CHECK(page.find("`" + std::string(format.extension) + "`") != std::string::npos);
}

}  // namespace
}  // namespace kvreplay::reports
