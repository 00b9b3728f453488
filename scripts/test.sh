#!/usr/bin/env bash
# Installs what is missing, builds everything and runs the whole test suite; exits as ctest does.
#
#   scripts/test.sh [PRESET] [CMAKE-OPTION...]     PRESET: release (default), debug, asan
#   scripts/test.sh asan -DKVREPLAY_WARNINGS_AS_ERRORS=ON
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
  preset=$1
  shift
fi
if [ "$preset" = tsan ]; then
  printf 'test: for ThreadSanitizer there is scripts/test-threads.sh\n' >&2
  exit 2
fi
scripts/install-packages.sh build test

jobs=$(nproc)
# Read only where the folder is made; an existing one keeps its generator.
export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
cmake --preset "$preset" -DKVREPLAY_TESTS=ON "$@"
cmake --build --preset "$preset" --parallel "$jobs"
exec ctest --preset "$preset" --parallel "$jobs"
