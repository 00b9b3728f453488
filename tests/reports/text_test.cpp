#include "reports/text.hpp"

#include "tests/catch.hpp"
#include "tests/reports/examples.hpp"

#include <limits>
#include <set>

namespace kvreplay::reports {
namespace {

const std::string fffd = "\xEF\xBF\xBD";

TEST_CASE("valid UTF-8 stays as it is, the rest is replaced") {
  const std::string valid = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF";
  CHECK(valid_utf8(valid) == valid);
  CHECK(valid_utf8("\xff") == fffd);
  CHECK(valid_utf8("a\xC3") == "a" + fffd);
  CHECK(valid_utf8("\xC3(") == fffd + "(");
  CHECK(valid_utf8("\xC0\xAF").find('/') == std::string::npos);             // an overlong slash is no slash
  CHECK(valid_utf8("\xED\xA0\x80").find('\xED') == std::string::npos);      // a surrogate
  CHECK(valid_utf8("\xF4\x90\x80\x80").find('\xF4') == std::string::npos);  // above U+10FFFF
  CHECK(valid_utf8(std::string_view("a\0b", 3)) == std::string_view("a\0b", 3));
}

TEST_CASE("printable text is one line and cannot steer a terminal") {
  CHECK(printable("a\nb\tc\rd") == "a b c d");
  CHECK(printable("\x1b[31m") == fffd + "[31m");
  CHECK(printable("\xC2\x9B"
                  "31m") == fffd + "31m");  // C1 control sequence introducer
  CHECK(printable("a\xE2\x80\xAE"
                  "b") == "a" + fffd + "b");  // right-to-left override
}

TEST_CASE("width counts columns, not bytes") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xC3\xA9") == 1);
  CHECK(display_width("\xE6\xBC\xA2\xE5\xAD\x97") == 4);  // two CJK characters
  CHECK(display_width("\xF0\x9F\x98\x80") == 2);
  CHECK(display_width("e\xCC\x81") == 1);  // e and a combining accent
}

TEST_CASE("shortening keeps beginning and end and never exceeds the width") {
  CHECK(shortened("abcdef", 6) == "abcdef");
  CHECK(shortened("abcdefgh", 5) == "ab\xE2\x80\xA6gh");
  for (std::size_t width = 3; width < 40; ++width) {
    CHECK(display_width(shortened(tests::hostile_name(), width)) <= width);
    CHECK(display_width(shortened("\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97", width)) <= width);
  }
}

TEST_CASE("words are wrapped to a width, later lines two columns further in") {
  CHECK(wrapped("", 30) == "\n");
  CHECK(wrapped("one line", 30) == "one line\n");
  CHECK(wrapped("a line of just thirty columns.", 30) == "a line of just thirty columns.\n");
  CHECK(wrapped("a line of just thirty columns, and one", 30) == "a line of just thirty columns,\n  and one\n");
  CHECK(wrapped("note: the first line is indented, the others by two more", 30, 2) ==
        "  note: the first line is\n    indented, the others by\n    two more\n");
}

TEST_CASE("no wrapped line is wider than asked, whatever the text") {
  const std::string wide = "\xE6\xBC\xA2\xE5\xAD\x97 ";  // two CJK characters of two columns each
  std::string text = printable(tests::hostile_name()) + " " + std::string(200, 'x') + " ";
  for (int i = 0; i < 40; ++i) text += wide;
  for (const std::size_t width : {30, 31, 80, 120}) {
    for (const std::size_t indent : {0, 2}) {
      const std::string lines = wrapped(text, width, indent);
      for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1)
        CHECK(display_width(lines.substr(at, lines.find('\n', at) - at)) <= width);
    }
  }
  CHECK(display_width(wrapped(std::string(200, 'x'), 1)) <= 30);  // too narrow to read: a width that can be
}

TEST_CASE("names that differ only in the middle stay apart when shortened") {
  const std::string ends(70, 'x');
  const std::vector<std::string> names{
      ends + "1" + ends, ends + "2" + ends, ends + "1" + ends, "a/b", "a_b", "a b", "A B"};
  const std::vector<std::string> shown = shortened_apart(names, 20);
  CHECK(std::set<std::string>(shown.begin(), shown.end()).size() == 6);
  CHECK(shown[0] == shown[2]);
  for (const std::string& name : shown) CHECK(display_width(name) <= 20);
}

TEST_CASE("exact numbers are grouped by hand-worked rules") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(grouped(-100) == "-100");
  CHECK(grouped(std::numeric_limits<Count>::max()) == "9,223,372,036,854,775,807");
  CHECK(grouped(std::numeric_limits<Count>::min()) == "-9,223,372,036,854,775,808");
}

TEST_CASE("bytes are shown in powers of 1024 and never as 1024 of a unit") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(1023) == "1,023 B");
  CHECK(human_bytes(1024) == "1.00 KiB");
  CHECK(human_bytes(516'096) == "504 KiB");
  CHECK(human_bytes(1'048'000) == "1023 KiB");
  CHECK(human_bytes(1'048'575) == "1.00 MiB");
  CHECK(human_bytes(std::numeric_limits<Count>::max()) == "8.00 EiB");
}

TEST_CASE("times carry three digits") {
  CHECK(human_ns(999) == "999 ns");
  CHECK(human_ns(1500) == "1.50 us");
  CHECK(human_ns(12'345) == "12.3 us");
  CHECK(human_ns(999'499) == "999 us");
  CHECK(human_ns(999'500) == "1.00 ms");
  CHECK(human_ns(2'000'000'000) == "2.00 s");
  CHECK(human_ns(72'000'000'000'000) == "72,000 s");
  CHECK(human_ns(7'200'000'000'000) == "7200 s");
}

TEST_CASE("a ratio that is not defined is a dash") {
  CHECK(human_ratio(1.5) == "1.50");
  CHECK(human_ratio(std::nullopt) == "-");
}

}  // namespace
}  // namespace kvreplay::reports
