# The page of the HTML report becomes part of the library reports.
set(html_pieces ${CMAKE_CURRENT_BINARY_DIR}/html_pieces.cpp)
set(chart_library ${KVREPLAY_CHART_LIBRARY})
if(NOT chart_library)
  set(chart_library "")
endif()
file(GLOB html_sources CONFIGURE_DEPENDS reports/html/*)
add_custom_command(OUTPUT ${html_pieces} VERBATIM
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${html_pieces}
    "-DCHART_LIBRARY=${chart_library}" -P ${PROJECT_SOURCE_DIR}/cmake/html_pieces.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/cmake/html_pieces.cmake ${html_sources} ${chart_library})
target_sources(kvreplay_reports PRIVATE ${html_pieces})
