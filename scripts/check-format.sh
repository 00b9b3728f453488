#!/usr/bin/env bash
# Fails if a C++ file is not as clang-format 19 lays it out, naming the places; --fix lays them out.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(--dry-run --Werror)
[ "${1:-}" != --fix ] || mode=(-i)
scripts/install-packages.sh check
mapfile -d '' files < <(git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp')
[ ${#files[@]} -gt 0 ] || { printf 'check-format: git lists no C++ file here\n' >&2; exit 1; }
clang-format-19 "${mode[@]}" "${files[@]}"
printf '%d files laid out as .clang-format asks\n' ${#files[@]}
