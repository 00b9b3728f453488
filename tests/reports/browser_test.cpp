// The page as a browser sees it: Debian's Chromium, where it is installed.

#include "reports/html.hpp"

#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"
#include "tests/reports/outside.hpp"

#include <cstdlib>
#include <iostream>

#include <nlohmann/json.hpp>

namespace kvreplay::reports {
namespace {

using nlohmann::json;

const std::string chromium = "/usr/bin/chromium";

// Where there is no browser, a notice; where there must be one, as in CI, a failure.
bool has_browser() {
  const std::string found =
      tests::run_python("import os, sys; print(os.access(sys.argv[1], os.X_OK))", {chromium}).output;
  if (found.starts_with("True")) return true;
  const std::string notice = chromium + " is missing (Debian: chromium): the HTML report was not looked at";
  if (std::getenv("KVREPLAY_REQUIRE_BROWSER") != nullptr) FAIL(notice);
  WARN(notice);
  std::cerr << "NOTICE: " << notice << '\n';
  return false;
}

json seen(const std::string& page, const std::string& width, const std::string& scheme) {
  const auto looked =
      tests::run_python_file(KVREPLAY_SOURCE_DIR "/tests/reports/look_at_page.py", {chromium, page, width, scheme});
  INFO(looked.output);
  REQUIRE(looked.exit_code == 0);
  return json::parse(looked.output);
}

}  // namespace

TEST_CASE("a browser shows the page without errors, at every width and in both themes") {
  if (!has_browser()) return;
  const tests::TemporaryFolder folder;
  const ResultFile file = tests::suite_file();
  const std::string page = folder.file("page.html", write_html(file));
  const std::string scheme = GENERATE("light", "dark");
  const std::string width = scheme == "light" ? "360" : GENERATE("800", "1400");
  const json facts = seen(page, width, scheme);
  INFO(facts.dump(1));
  CHECK(facts["problems"] == json::array());
  CHECK(facts["ready"] == "yes");
  CHECK(facts["inner_width"] == std::stoi(width));
  CHECK(facts["scroll_width"] <= facts["inner_width"]);
  CHECK(facts["wide"] == 0);
  CHECK(facts["scripts"] == 3 + 2);  // the page's, and those that look at it
  CHECK(facts["pictures"] == 0);
  CHECK(facts["charts"] > 5);
  CHECK(facts["blank"] == 0);
  CHECK(facts["charts_of_names"] == 0);  // a numeric axis nobody gave a type shows ordinals
  CHECK(facts["dark"] == (scheme == "dark"));
  CHECK(facts["unnamed"] == 0);
  CHECK(facts["captions"] == facts["tables"]);
  CHECK(facts["scoped"] == facts["heads"]);
  CHECK(facts["policies"].size() == file.results.size());
  CHECK(facts["event_rows"] == 2);
  // Of three groups of runs and four policies; the floor is 71 tokens, and an incomplete run has no ratio.
  CHECK(facts["glance"]["targets"] == 3);
  CHECK(facts["glance"]["shown"] == "x floor");
  CHECK(facts["glance"]["texts"]["x floor"] ==
        json{"0.28", "0.28", "-", "-", "-", "-", "-", "-", "-", "-", "-", "1.41"});
  CHECK(facts["glance"]["texts"]["evaluated"] == json{"20", "20", "-", "-", "-", "-", "1", "-", "-", "-", "-", "100"});
  CHECK(facts["verdict"].get<std::string>().find("differ") != std::string::npos);
}

}  // namespace kvreplay::reports
