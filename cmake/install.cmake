# An installed program finds models and workloads beside itself: <prefix>/bin/kvreplay reads <prefix>/share/kvreplay.
include(GNUInstallDirs)

install(TARGETS kvreplay RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY workloads/models workloads/recorded workloads/constructed
        DESTINATION ${CMAKE_INSTALL_DATADIR}/kvreplay/workloads)
install(FILES workloads/suite.yaml workloads/suite-quick.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/kvreplay/workloads)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
