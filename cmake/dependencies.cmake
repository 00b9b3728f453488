# Dependencies come from the system's package manager; with a network CMake fetches what is missing.
include(FetchContent)

# What is fetched brings no tests and no documentation; its option()s respect these variables.
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
set(CMAKE_POLICY_VERSION_MINIMUM 3.5)  # CMake 4 refuses the versions some of them ask for
set(BUILD_TESTING OFF)
set(EIGEN_BUILD_DOC OFF)
set(YAML_CPP_BUILD_TOOLS OFF)
set(BENCHMARK_ENABLE_TESTING OFF)

# Makes `target` available from `repository`: its headers raise no warnings of ours, `cmake --install` leaves it out.
function(kvreplay_fetch name target repository tag)
  message(STATUS "${name} not found on the system, fetching ${tag}")
  FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${tag} GIT_SHALLOW ON)
  FetchContent_MakeAvailable(${name})
  FetchContent_GetProperties(${name} SOURCE_DIR source)
  set_property(DIRECTORY ${source} PROPERTY EXCLUDE_FROM_ALL ON)

  get_target_property(real_target ${target} ALIASED_TARGET)
  if(NOT real_target)
    set(real_target ${target})
  endif()
  get_target_property(headers ${real_target} INTERFACE_INCLUDE_DIRECTORIES)
  set_property(TARGET ${real_target} APPEND PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${headers})
endfunction()

find_package(Eigen3 3.4 QUIET NO_MODULE)
if(NOT TARGET Eigen3::Eigen)
  kvreplay_fetch(Eigen3 Eigen3::Eigen https://gitlab.com/libeigen/eigen.git 3.4.0)
endif()

find_package(yaml-cpp QUIET)
if(TARGET yaml-cpp::yaml-cpp AND NOT TARGET yaml-cpp)
  add_library(yaml-cpp ALIAS yaml-cpp::yaml-cpp)
elseif(NOT TARGET yaml-cpp)
  kvreplay_fetch(yaml-cpp yaml-cpp https://github.com/jbeder/yaml-cpp.git 0.8.0)
endif()

find_package(CLI11 QUIET)
if(NOT TARGET CLI11::CLI11)
  kvreplay_fetch(CLI11 CLI11::CLI11 https://github.com/CLIUtils/CLI11.git v2.3.2)
endif()

find_package(nlohmann_json QUIET)
if(NOT TARGET nlohmann_json::nlohmann_json)
  kvreplay_fetch(nlohmann_json nlohmann_json::nlohmann_json https://github.com/nlohmann/json.git v3.11.3)
endif()

find_package(fmt QUIET)
if(NOT TARGET fmt::fmt)
  kvreplay_fetch(fmt fmt::fmt https://github.com/fmtlib/fmt.git 9.1.0)
endif()

find_package(pugixml QUIET)
if(NOT TARGET pugixml::pugixml)
  kvreplay_fetch(pugixml pugixml::pugixml https://github.com/zeux/pugixml.git v1.13)
endif()

# Headers only: distributions of Boost.Math, whose own repository stands alone from 1.78 on.
find_package(Boost 1.74 QUIET)
if(NOT TARGET Boost::headers)
  set(BOOST_MATH_STANDALONE ON)
  kvreplay_fetch(boost_math Boost::math https://github.com/boostorg/math.git boost-1.84.0)
  add_library(Boost::headers ALIAS boost_math)
endif()

# One file of JavaScript, which the HTML report carries; nothing to fetch, so without it pages have no charts.
find_file(KVREPLAY_CHART_LIBRARY chart.min.js PATHS /usr/share/javascript/chart.js DOC "Chart.js 3.9, minified")
if(NOT KVREPLAY_CHART_LIBRARY)
  message(WARNING "Chart.js not found (Debian: libjs-chart.js): HTML reports will show their numbers as tables, without "
                  "charts. Name a chart.min.js of version 3.9 with -DKVREPLAY_CHART_LIBRARY=FILE.")
endif()

find_package(OpenMP REQUIRED COMPONENTS CXX)      # with clang 19: libomp-19-dev
find_package(OpenSSL REQUIRED COMPONENTS Crypto)  # SHA-256 of workload files
find_package(ZLIB REQUIRED)                       # CRC-32 of ledgers

if(KVREPLAY_TESTS)
  find_package(Catch2 QUIET)
  if(NOT TARGET Catch2::Catch2)
    kvreplay_fetch(Catch2 Catch2::Catch2 https://github.com/catchorg/Catch2.git v3.4.0)
    # An installed Catch2 adds the folder of Catch.cmake to the module path itself.
    FetchContent_GetProperties(Catch2 SOURCE_DIR catch2_source)
    list(APPEND CMAKE_MODULE_PATH ${catch2_source}/extras)
  endif()
endif()

if(KVREPLAY_BENCH)
  find_package(benchmark QUIET)
  if(NOT TARGET benchmark::benchmark)
    kvreplay_fetch(benchmark benchmark::benchmark https://github.com/google/benchmark.git v1.7.1)
  endif()
endif()
