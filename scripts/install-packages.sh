#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages of the named groups, only those that are missing, and says so first.
#
#   scripts/install-packages.sh build test check browser
#
# build: compile the program and its tests; test: run all tests; check: formatting, linting, sanitizers; browser: look at
# the HTML report in headless Chromium (large; without it that test prints a notice).
# As root or through sudo. KVREPLAY_NO_INSTALL=1 trusts what is there (other distributions, prepared containers).
set -euo pipefail

build_packages=(g++ cmake make ninja-build git ca-certificates libeigen3-dev libyaml-cpp-dev catch2 libbenchmark-dev
                libcli11-dev nlohmann-json3-dev libfmt-dev libssl-dev zlib1g-dev libpugixml-dev libboost-dev
                libjs-chart.js)
test_packages=(python3 libbenchmark-tools python3-numpy python3-scipy python3-jsonschema python3-yaml)
check_packages=(cppcheck clang-19 llvm-19 libomp-19-dev libclang-rt-19-dev clang-format-19 clang-tidy-19)
browser_packages=(chromium fonts-dejavu-core)

fail() {
  printf 'install-packages: %s\n' "$@" >&2
  exit 1
}

wanted=()
for group in "$@"; do
  case "$group" in
    build) wanted+=("${build_packages[@]}") ;;
    test) wanted+=("${test_packages[@]}") ;;
    check) wanted+=("${check_packages[@]}") ;;
    browser) wanted+=("${browser_packages[@]}") ;;
    *) fail "unknown group '$group': build, test, check and browser are known" ;;
  esac
done
[ ${#wanted[@]} -gt 0 ] || fail "name at least one group: build, test, check or browser"
[ -z "${KVREPLAY_NO_INSTALL:-}" ] || exit 0

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  fail "this is not a Debian or Ubuntu system (no apt-get)." \
       "Install what these packages hold by your own means and set KVREPLAY_NO_INSTALL=1: ${wanted[*]}"
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || fail "not root and no sudo; run as root: apt-get install ${missing[*]}"
  as_root=(sudo)
  [ -t 0 ] || as_root+=(--non-interactive)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" </dev/null >>"$log" 2>&1
}

printf 'Installing %d packages: %s\n' ${#missing[@]} "${missing[*]}" >&2
for attempt in first last; do
  # One stale or unreachable list among several is no reason to stop: the installation decides.
  apt update || true
  unknown=()
  for package in "${missing[@]}"; do
    apt-cache show --no-all-versions "$package" >/dev/null 2>&1 || unknown+=("$package")
  done
  if [ ${#unknown[@]} -eq 0 ] && apt install --no-install-recommends "${missing[@]}"; then
    exit 0
  fi
  [ "$attempt" = last ] || { printf 'That failed; trying once more.\n' >&2; sleep 3; }
done

tail -n 20 "$log" >&2
if [ ${#unknown[@]} -gt 0 ]; then
  fail "the package lists of this system do not have: ${unknown[*]}" \
       "If apt-get update failed above, mend the network or /etc/apt/sources.list; if this release lacks them" \
       "(Debian 12 has clang-19, an older Ubuntu may not), install them by other means and set KVREPLAY_NO_INSTALL=1."
fi
fail "apt-get could not install: ${missing[*]}" "The end of its output is above; mend that and start again."
