// The files of reports/html/ and the chart library as text, embedded when the program is built
// (cmake/html_pieces.cmake).
#pragma once

#include <string_view>

namespace kvreplay::reports {

extern const std::string_view html_page;           // with marks {{style}}, {{data}}, {{chart_library}}, {{script}}
extern const std::string_view html_style;          // CSS
extern const std::string_view html_script;         // the page's own scripts, one after the other
extern const std::string_view html_chart_library;  // Chart.js with its licence; empty where the build machine lacks it

}  // namespace kvreplay::reports
