# Writes OUTPUT, a C++ file that holds the page of the HTML report: reports/html/ under SOURCE_DIR and CHART_LIBRARY, if
# that names a file. Run as a script when one of them changes.
set(delimiter kvreplay_page)  # of raw string literals

function(append_piece name)
  set(text "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} content)
    string(APPEND text "${content}")
  endforeach()
  string(FIND "${text}" ")${delimiter}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${ARGN} holds )${delimiter}\", which ends a raw string: choose another delimiter")
  endif()
  file(APPEND ${OUTPUT}.new "const std::string_view ${name} = R\"${delimiter}(${text})${delimiter}\";\n")
endfunction()

set(page ${SOURCE_DIR}/reports/html)
file(WRITE ${OUTPUT}.new "#include \"reports/html_pieces.hpp\"\n\nnamespace kvreplay::reports {\n")
append_piece(html_page ${page}/page.html)
append_piece(html_style ${page}/style.css)
append_piece(html_script ${page}/elements.js ${page}/charts.js ${page}/events.js ${page}/budgets.js ${page}/glance.js
             ${page}/page.js)
append_piece(html_chart_library ${CHART_LIBRARY})
file(APPEND ${OUTPUT}.new "}  // namespace kvreplay::reports\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
