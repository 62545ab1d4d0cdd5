#!/usr/bin/env bash
# Runs the tests of the packages around the program: bindings/test.sh PATH_OF_TOOLCHECK
# What cannot run here, because something is not installed and cannot be, is skipped and named.
set -uo pipefail
program=${1:-${TOOLCHECK_BIN:-$(command -v toolcheck)}}
if [ ! -f "$program" ] || [ ! -x "$program" ]; then
  echo "usage: bindings/test.sh PATH_OF_TOOLCHECK" >&2
  exit 2
fi
TOOLCHECK_BIN=$(realpath -- "$program")
export TOOLCHECK_BIN PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
cd "$(dirname "$0")" || exit 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# An install that takes longer than this is given up; without a network it fails sooner.
install() {
  timeout 60 "$@" > /dev/null 2>&1
}

# The package for Python is built if maturin and pytest are installed or can be, and its crates can be fetched, in the folder
# of the other targets: what is the same there is not built again. Its mock is the program that is given.
test_native() {
  if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
    echo "skipped: toolcheck-lint in Python (no Python 3.11 or newer)"
    return 0
  elif ! command -v cargo > /dev/null; then
    echo "skipped: toolcheck-lint in Python (no cargo)"
    return 0
  elif command -v maturin > /dev/null && python3 -c 'import pytest; assert pytest.version_tuple >= (8,)' 2> /dev/null; then
    python=python3 maturin=maturin
  elif python3 -m venv "$folder/native-venv" > /dev/null 2>&1 &&
    install "$folder/native-venv/bin/pip" install --retries 0 'pytest>=8' 'maturin>=1.14,<2'; then
    python=$folder/native-venv/bin/python maturin=$folder/native-venv/bin/maturin
    # More is tested with these; each test says what it lacks.
    install "$folder/native-venv/bin/pip" install --retries 0 hypothesis mypy polars pyarrow pydantic || true
  else
    echo "skipped: toolcheck-lint in Python (maturin and pytest are not installed, and could not be)"
    return 0
  fi
  if ! timeout 120 cargo fetch --quiet --locked --manifest-path python/Cargo.toml > /dev/null 2>&1; then
    echo "skipped: toolcheck-lint in Python (its crates are not at hand, and could not be fetched)"
    return 0
  fi
  export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../target}
  "$maturin" build --quiet --locked --offline --manifest-path python/Cargo.toml --out "$folder/wheels" || return 1
  # Into folders of their own: whatever is installed already stays.
  python3 -m zipfile --extract "$folder"/wheels/*.whl "$folder/native" || return 1
  # The types are what users see first; without mypy their tests are skipped, and named.
  "$python" -c 'import mypy' 2> /dev/null || install "$python" -m pip install --retries 0 --target "$folder/tools" mypy || true
  PYTHONPATH=$folder/native:$folder/tools "$python" -m pytest -q -p no:cacheprovider -p no:toolcheck_lint -rs -c python/pyproject.toml python/tests
}

test_node() {
  if ! node --eval 'process.exit(Number(parseInt(process.versions.node) < 20))' 2> /dev/null; then
    echo "skipped: toolcheck in Node (no Node 20 or newer)"
    return 0
  fi
  node --test --test-reporter=spec npm/test/*.node.mjs || return 1
  node --test --test-reporter=spec ../editors/vscode/test/*.test.js
}

test_vitest() {
  if ! node --eval 'process.exit(Number(parseInt(process.versions.node) < 20))' 2> /dev/null; then
    return 0
  elif [ -d npm/node_modules/vitest ]; then
    place=npm
  else
    place=$folder/npm
    cp -R npm "$place"
    if ! (cd "$place" && install npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries 0); then
      echo "skipped: toolcheck in vitest, and its types (vitest is not installed, and could not be)"
      return 0
    fi
  fi
  (cd "$place" && node node_modules/vitest/vitest.mjs run) || return 1
  (cd "$place" && node node_modules/typescript/bin/tsc --project test/types)
}

# The module is the one that TOOLCHECK_WASM names, or that is built. Building it takes as long as all tests of Rust.
test_wasm() {
  if ! node --eval 'process.exit(Number(parseInt(process.versions.node) < 20))' 2> /dev/null; then
    echo "skipped: toolcheck-wasm (no Node 20 or newer)"
    return 0
  fi
  if [ -n "${TOOLCHECK_WASM:-}" ]; then
    [ "$TOOLCHECK_WASM" -ef wasm/js/toolcheck.wasm ] || cp -- "$TOOLCHECK_WASM" wasm/js/toolcheck.wasm || return 1
  elif [ ! -f wasm/js/toolcheck.wasm ]; then
    echo "skipped: toolcheck-wasm (not built: bindings/wasm/build.sh builds it, or TOOLCHECK_WASM names it)"
    return 0
  fi
  local status=0
  node --test --test-reporter=spec wasm/test/*.test.js || status=1
  if [ -d wasm/node_modules/vitest ]; then
    (cd wasm && node node_modules/vitest/vitest.mjs run) || status=1
    (cd wasm && node node_modules/typescript/bin/tsc --project test/types) || status=1
  else
    echo "skipped: toolcheck-wasm in vitest, and its types (npm ci in bindings/wasm installs what they need)"
  fi
  # It says itself what it needs.
  node --test --test-reporter=spec ../web/test/*.test.js || status=1
  return $status
}

# They mostly wait, so they run at the same time. Each is a part of the table that `.ci/delivered` prints.
status=0
names=("toolcheck-lint in Python" "toolcheck in Node, the extension of VS Code" "toolcheck in vitest, its types" "toolcheck-wasm, the playground")
jobs=()
for part in native node vitest wasm; do
  "test_$part" > "$folder/$part.log" 2>&1 &
  jobs+=($!)
done
for part in native node vitest wasm; do
  ended=ok
  wait "${jobs[0]}" || { ended=failed status=1; }
  version=$(if [ "$part" = native ]; then python3 --version; else node --version; fi 2> /dev/null)
  echo "== ${names[0]} | ${version##*[ v]}"
  cat "$folder/$part.log"
  echo "== $ended"
  jobs=("${jobs[@]:1}") names=("${names[@]:1}")
done
exit $status
