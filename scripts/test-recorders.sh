#!/usr/bin/env bash
# Records the programs behind the shipped recordings with the real engines and compares.
#
#   scripts/test-recorders.sh [guidance-0.2] [guidance-0.3] [transformers-4.47] [transformers-4.57] [transformers-5]
#                             [llama.cpp]                                          default: all but the last
#
# Makes virtual environments in build/recorders/ (KVREPLAY_RECORDERS=FOLDER: elsewhere) with pip. The first time that is
# 5.5 GB to download, 12 GB on disk and 5 to 15 minutes, nearly all of it two versions of torch, which comes with CUDA where
# pip looks; afterwards it takes two minutes. llama.cpp is compiled, in 5 minutes on two cores.
# Wants Python 3.10 to 3.12 (KVREPLAY_RECORDERS_PYTHON=PROGRAM: that one) and a built kvreplay (build/release/kvreplay;
# KVREPLAY=PROGRAM: that one). Exit code 1: a recording differs. The share of a step that recording
# takes is printed and decides nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  printf 'test-recorders: %s\n' "$@" >&2
  exit 2
}

python=${KVREPLAY_RECORDERS_PYTHON:-python3}
kvreplay=$(realpath -m "${KVREPLAY:-build/release/kvreplay}")
home=${KVREPLAY_RECORDERS:-build/recorders}
[ -x "$kvreplay" ] || fail "no program $kvreplay: build it (scripts/demo.sh) or name it in KVREPLAY"
"$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 13))' ||
  fail "$python is not Python 3.10 to 3.12: name one in KVREPLAY_RECORDERS_PYTHON"

# environment NAME TORCH REQUIREMENT...: TORCH names the environment whose torch is shared; "" for none
environment() {
  local name=$1 torch=$2 place="$home/$1" packages
  shift 2
  if [ ! -e "$place/complete" ] || [ "$(cat "$place/complete")" != "$*" ]; then
    printf 'Installing into %s: %s\n' "$place" "$*"
    rm -rf "$place"
    "$python" -m venv "$place"
    if [ -n "$torch" ]; then
      packages=$(packages_of "$place")
      packages_of "$home/$torch" >"$packages/torch.pth"
    fi
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    printf '%s' "$*" >"$place/complete"
  fi
}

packages_of() {
  "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}

mkdir -p "$home"
export OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false PYTHONDONTWRITEBYTECODE=1
export KVREPLAY=$kvreplay HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error

[ $# -gt 0 ] || set -- guidance-0.2 guidance-0.3 transformers-4.47 transformers-4.57 transformers-5
home_of() {
  case $1 in
    transformers-4.47) echo "$home/guidance-0.2" ;;
    transformers-4.57) echo "$home/guidance-0.3" ;;
    *) echo "$home/$1" ;;
  esac
}
for engine in "$@"; do
  case $engine in
    guidance-* | transformers-4.*) environment torch-2.5 '' 'torch==2.5.1' 'numpy<2' pyyaml safetensors psutil ;;
    transformers-5) environment torch-2.6 '' 'torch==2.6.0' 'numpy<2' pyyaml safetensors psutil ;;  # 5.24 refuses 2.5
  esac
  case $engine in
    guidance-0.2 | transformers-4.47)
      environment guidance-0.2 torch-2.5 guidance==0.2.1 llguidance==0.6.31 transformers==4.47.1 'numpy<2' ;;
    guidance-0.3 | transformers-4.57) environment guidance-0.3 torch-2.5 guidance==0.3.1 transformers==4.57.6 'numpy<2' ;;
    transformers-5) environment transformers-5 torch-2.6 transformers==5.24.0 'numpy<2' ;;
    llama.cpp)
      export CMAKE_ARGS=-DGGML_NATIVE=ON
      environment llama.cpp '' --no-binary llama-cpp-python llama-cpp-python==0.3.36 gguf==0.19.0 'numpy<2' \
        guidance==0.3.1 safetensors pyyaml ;;
    *) fail "unknown engine '$engine': guidance-0.2, guidance-0.3, transformers-4.47, transformers-4.57, transformers-5" \
            "and llama.cpp are known" ;;
  esac
done

status=0
for engine in "$@"; do
  printf '\n=== %s\n' "$engine"
  place=$(home_of "$engine")
  "$place/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall ./workloads/recorders
  rm -rf workloads/recorders/build workloads/recorders/*.egg-info  # setuptools leaves these
  # guidance's monitor thread complains on stderr that it cannot look at GPUs
  "$place/bin/python" -W ignore tests/recorders/real/record.py "$engine" "$home/out/$engine" 2>"$home/stderr.txt" || {
    status=1
    tail -n 20 "$home/stderr.txt" >&2
  }
done
exit "$status"
