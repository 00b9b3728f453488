#!/usr/bin/env bash
# Builds kvreplay and replays one recording of a real engine through the five seed policies, with the tiny trained model.
#
#   scripts/demo.sh [RECORDING.yaml]
set -euo pipefail
called_from=$PWD
cd "$(dirname "$0")/.."

recording=workloads/recorded/guidance-0.2.1_transformers-4.47.1/fewshot_w64.yaml
if [ $# -gt 0 ]; then
  recording=$1
  [ "${recording#/}" != "$recording" ] || recording=$called_from/$recording
fi
[ -r "$recording" ] || { printf 'demo: cannot read %s\n' "$recording" >&2; exit 2; }

scripts/install-packages.sh build
# Read only where the build folder is made; an existing one keeps its generator.
export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
cmake --preset release >&2
cmake --build --preset release --parallel "$(nproc)" --target kvreplay >&2

mkdir -p build/demo
printf '\nReplaying %s\nonce through each of the five seed policies, with real buffers and real arithmetic.\n\n' \
  "$recording" >&2
build/release/kvreplay run "$recording" --depth compute \
  -o build/demo/report.html -o build/demo/report.json -o build/demo/report.md -o build/demo/report.csv

cat >&2 <<END

To look at, in a browser: $PWD/build/demo/report.html
The same numbers are beside it in report.json, report.md, report.csv.
What to try next, from $PWD:
  build/release/kvreplay explain $recording --policy doubling
      every evaluation: what was kept and fed, the capacity, and why
  build/release/kvreplay verify $recording
      the outputs against those of a run that caches nothing
  build/release/kvreplay run --policy help
      all policies with their options
END
