#include "reports/html.hpp"

#include "reports/html_data.hpp"
#include "reports/html_pieces.hpp"

#include <stdexcept>
#include <string_view>

namespace kvreplay::reports {
namespace {

// Nothing in it can end a script element or begin a comment, whatever the names hold.
std::string escaped_for_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view piece(std::string_view mark, std::string_view data) {
  if (mark == "style") return html_style;
  if (mark == "data") return data;
  if (mark == "chart_library") return html_chart_library;
  if (mark == "script") return html_script;
  throw std::logic_error("reports/html/page.html has a mark nobody fills");
}

}  // namespace

std::string write_html(const ResultFile& file) {
  const std::string data = escaped_for_script(dumped(page_data(file)));
  std::string out;
  std::string_view rest = html_page;
  for (;;) {
    const std::size_t open = rest.find("{{"), close = rest.find("}}");
    if (open == std::string_view::npos) return out.append(rest);
    out.append(rest.substr(0, open)).append(piece(rest.substr(open + 2, close - open - 2), data));
    rest.remove_prefix(close + 2);
  }
}

}  // namespace kvreplay::reports
