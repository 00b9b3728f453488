#!/usr/bin/env bash
# Runs clang-tidy 19 with the checks of .clang-tidy over every source that preset release compiles.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh build check
export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
cmake --preset release -DKVREPLAY_TESTS=ON -DKVREPLAY_BENCH=ON >/dev/null
# The part of the path that keeps out what CMake fetched or generated in build/.
root=$(pwd -P)
run-clang-tidy-19 -quiet -p build/release -j "$(nproc)" "^$root/(policies|workloads|reports|sim|cli|bench|tests)/"
