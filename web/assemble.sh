#!/usr/bin/env bash
# Puts the page and the module into one folder: web/assemble.sh OUT
set -euo pipefail
out=${1:?usage: web/assemble.sh OUT}
here=$(cd "$(dirname "$0")" && pwd)
package=$here/../bindings/wasm/js
if [ ! -f "$package/toolcheck.wasm" ]; then
  echo "build the module first: bindings/wasm/build.sh" >&2
  exit 2
fi
mkdir -p "$out/toolcheck"
cp "$here"/index.html "$here"/style.css "$here"/*.js "$out"
cp "$package"/web.js "$package"/core.js "$package"/body.js "$package"/places.js "$package"/toolcheck.wasm "$out/toolcheck"
