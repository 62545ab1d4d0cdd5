#!/usr/bin/env bash
# Runs the tests of the packages around the program: bindings/test.sh PATH_OF_TOOLCHECK
# What cannot run here, because something is not installed and cannot be, is skipped and named.
set -uo pipefail
cd "$(dirname "$0")"
program=${1:-${TOOLCHECK_BIN:-$(command -v toolcheck)}} || true
if [ ! -x "$program" ]; then
  echo "usage: bindings/test.sh PATH_OF_TOOLCHECK" >&2
  exit 2
fi
TOOLCHECK_BIN=$(cd "$OLDPWD" && realpath "$program")
export TOOLCHECK_BIN PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# The time in which an install has to come to an end; without a network it fails sooner.
install() {
  timeout 20 "$@" > "$folder/install.log" 2>&1
}

python=
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
  echo "skipped: pytest-toolcheck (no Python 3.11 or newer)"
elif python3 -c 'import pytest; assert pytest.version_tuple >= (8,)' 2> /dev/null; then
  python=python3
elif python3 -m venv "$folder/venv" 2> /dev/null && install "$folder/venv/bin/pip" install --retries 0 'pytest>=8'; then
  python=$folder/venv/bin/python
else
  echo "skipped: pytest-toolcheck (pytest is not installed, and could not be)"
fi
if [ -n "$python" ]; then
  "$python" -m pytest -q -p no:cacheprovider -rs pytest/tests || failed=1
fi

if ! node --eval 'process.exit(Number(parseInt(process.versions.node) < 20))' 2> /dev/null; then
  echo "skipped: vitest-toolcheck (no Node 20 or newer)"
  exit $failed
fi
node --test --test-reporter=spec vitest/test/plain.node.js || failed=1

if [ -d vitest/node_modules/vitest ]; then
  vitest=vitest
else
  vitest=$folder/vitest
  cp -R vitest "$vitest"
  if ! (cd "$vitest" && install npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries 0); then
    echo "skipped: vitest-toolcheck in vitest (vitest is not installed, and could not be)"
    exit $failed
  fi
fi
(cd "$vitest" && node node_modules/vitest/vitest.mjs run) || failed=1
exit $failed
