#include "reports/engine_log.hpp"
#include "reports/explain_csv.hpp"
#include "reports/explain_table.hpp"
#include "reports/formats.hpp"
#include "reports/result_json.hpp"
#include "reports/terminal_table.hpp"
#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"

#include <locale>
#include <sstream>

namespace kvreplay::reports {
namespace {

// 1.234,5 as much of Europe writes it.
class CommaAndDots : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

class GlobalLocale {
 public:
  GlobalLocale() : before_(std::locale::global(std::locale(std::locale::classic(), new CommaAndDots))) {}
  GlobalLocale(const GlobalLocale&) = delete;
  GlobalLocale& operator=(const GlobalLocale&) = delete;
  ~GlobalLocale() { std::locale::global(before_); }

 private:
  std::locale before_;
};

std::vector<std::string> everything_written() {
  const ResultFile file = tests::example_file();
  const std::vector<Sample> samples{tests::full_sample(), tests::blank_sample()};
  std::vector<std::string> texts{explain_csv(samples), explain_table(samples, true), terminal_table(file, {})};
  for (const Format& format : format_table()) texts.push_back(format.write(file));
  texts.push_back(write_result_json(read_result_json(write_result_json(file), "x")));
  const EngineLog log = parse_engine_log("call,fed\n1,7\n2,4096\n", "x");
  texts.push_back(describe(compare_with_log(samples, log), log));
  return texts;
}

TEST_CASE("every report is the same byte for byte under a locale with decimal commas and grouping dots") {
  const std::vector<std::string> expected = everything_written();
  const GlobalLocale european;
  std::ostringstream probe;
  probe << 4096;
  REQUIRE(probe.str() == "4.096");  // the locale does bite
  CHECK(everything_written() == expected);
}

}  // namespace
}  // namespace kvreplay::reports
