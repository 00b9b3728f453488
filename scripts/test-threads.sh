#!/usr/bin/env bash
# Builds the tests of the folder that starts threads with ThreadSanitizer (clang 19, libomp) and runs them.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh build test check
export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
cmake --preset tsan -DKVREPLAY_TESTS=ON "$@"
cmake --build --preset tsan --parallel "$(nproc)" --target test_sim
exec ctest --preset tsan --parallel "$(nproc)" -R '^sim:'
