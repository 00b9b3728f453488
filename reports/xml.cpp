#include "reports/xml.hpp"

#include "reports/text.hpp"

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

struct Text : pugi::xml_writer {
  std::string text;
  void write(const void* data, std::size_t size) override { text.append(static_cast<const char*>(data), size); }
};

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out = printable(text);
  for (const std::string_view excluded : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = 0; (at = out.find(excluded, at)) != std::string::npos;) out.replace(at, 3, "\xEF\xBF\xBD");
  }
  return out;
}

void set_attribute(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(xml_text(value).c_str());
}

pugi::xml_node add_junit_suites(pugi::xml_document& document, std::string_view name) {
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set_attribute(declaration, "version", "1.0");
  set_attribute(declaration, "encoding", "UTF-8");
  pugi::xml_node suites = document.append_child("testsuites");
  set_attribute(suites, "name", name);
  return suites;
}

void JunitTally::add(const JunitTally& more) {
  tests += more.tests;
  failures += more.failures;
  errors += more.errors;
  skipped += more.skipped;
  ns += more.ns;
}

std::string junit_seconds(Count ns) { return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000); }

void set_tally(pugi::xml_node node, const JunitTally& tally) {
  node.append_attribute("tests") = tally.tests;
  node.append_attribute("failures") = tally.failures;
  node.append_attribute("errors") = tally.errors;
  node.append_attribute("skipped") = tally.skipped;
  set_attribute(node, "time", junit_seconds(tally.ns));
}

std::string saved(const pugi::xml_document& document) {
  Text out;
  document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
  return out.text;
}

}  // namespace kvreplay::reports
