#!/usr/bin/env bash
# Runs workloads and suites, compares the result with a stored one and keeps every report: what docs/ci.md calls.
#
#   scripts/ci-suite.sh FOLDER BASELINE FILE... [-- OPTION...]
#
# FOLDER gets result.json, report.html, report.md, result.junit.xml and, with a baseline, comparison.md; OPTIONs go to
# 'kvreplay run'. BASELINE is a result file, or - for none. One that does not exist yet is said and, unless
# KVREPLAY_REQUIRE_BASELINE=1, is no failure: the first run makes it. KVREPLAY names the program.
# Exit code: the worse one of run and compare (docs/ci.md).
set -uo pipefail

fail() {
  printf 'ci-suite: %s\n' "$1" >&2
  exit 2
}

[ $# -ge 3 ] || fail "needs a folder, a baseline (or -) and at least one workload or suite"
folder=$1 baseline=$2
shift 2
files=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  [ -n "$1" ] || fail "one of the files has an empty name"
  files+=("$1")
  shift
done
[ $# -eq 0 ] || shift
[ ${#files[@]} -gt 0 ] || fail "needs at least one workload or suite"
[ -n "$folder" ] && [ -n "$baseline" ] || fail "the folder and the baseline need names; - is no baseline"

program=${KVREPLAY:-$(dirname "$0")/../build/release/kvreplay}
[ -x "$program" ] || fail "$program is no program: build kvreplay, or set KVREPLAY"
mkdir -p "$folder" || exit 3
result=$folder/result.json
# An old result must not be taken for this run's.
rm -f "$result" "$folder/comparison.md" || exit 3

"$program" run "${files[@]}" -o "$result" -o "$folder/report.html" -o "$folder/report.md" \
  -o "$folder/result.junit.xml" "$@"
ran=$?
# 1: a gate failed, and the reports are there. Anything else left nothing to compare.
[ "$ran" -le 1 ] || exit "$ran"
[ "$baseline" != - ] || exit "$ran"

if [ ! -e "$baseline" ]; then
  message="there is no baseline $baseline yet: nothing was compared; store $result as the first one"
  [ -z "${GITHUB_ACTIONS:-}" ] || printf '::warning title=kvreplay::%s\n' "$message"
  printf 'ci-suite: %s\n' "$message" >&2
  [ "${KVREPLAY_REQUIRE_BASELINE:-0}" = 1 ] || exit "$ran"
  exit 4
fi
"$program" compare "$baseline" "$result" -o "$folder/comparison.md"
compared=$?
# A failed gate of the run outweighs a comparison that was merely inconclusive.
[ "$compared" -ne 5 ] || [ "$ran" -eq 0 ] || exit "$ran"
[ "$compared" -le "$ran" ] || exit "$compared"
exit "$ran"
