// XML that is valid whatever bytes the names hold. Only .cpp files include this: the library is a private dependency of
// reports/.
#pragma once

#include "reports/result.hpp"

#include <string>
#include <string_view>

#include <pugixml.hpp>

namespace kvreplay::reports {

// Printable, and without the two code points XML 1.0 excludes beside controls.
std::string xml_text(std::string_view text);

// Adds an attribute.
void set_attribute(pugi::xml_node node, const char* name, std::string_view value);

// The root of a JUnit document, which is empty before: its declaration and <testsuites name=...>.
pugi::xml_node add_junit_suites(pugi::xml_document& document, std::string_view name);

// What a suite of JUnit, or all of them, came to.
struct JunitTally {
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  Count ns = 0;
  void add(const JunitTally& more);
};

// The time as seconds with all digits.
std::string junit_seconds(Count ns);

// Adds the attributes of a <testsuite> or <testsuites>.
void set_tally(pugi::xml_node node, const JunitTally& tally);

// The document as UTF-8, indented.
std::string saved(const pugi::xml_document& document);

}  // namespace kvreplay::reports
