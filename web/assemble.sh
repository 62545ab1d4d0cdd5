#!/usr/bin/env bash
# Puts the page and the module into one folder: web/assemble.sh OUT
set -euo pipefail
mkdir -p "${1:?usage: web/assemble.sh OUT}"
# What is bundled is written from another folder.
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
package=$here/../bindings/wasm/js
if [ ! -f "$package/toolcheck.wasm" ]; then
  echo "build the module first: bindings/wasm/build.sh" >&2
  exit 2
fi
if [ ! -d "$here/node_modules/esbuild" ]; then
  echo "install what the page is bundled with first: npm ci --ignore-scripts --prefix web" >&2
  exit 2
fi

# Copies a file of the package and whatever it names with "./", so that no list of files has to be kept.
add() {
  [ ! -e "$out/toolcheck/$1" ] || return 0
  cp "$package/$1" "$out/toolcheck/$1"
  [ "${1##*.}" = js ] || return 0
  local name
  while read -r name; do
    add "$name"
  done < <(grep --only-matching '"\./[^"]*"' "$package/$1" | sed 's/^"\.\///; s/"$//')
}

rm -rf "$out/toolcheck"
mkdir -p "$out/toolcheck"
for file in "$here"/index.html "$here"/style.css "$here"/*.js; do
  case ${file##*/} in bundle.js | editor.js) ;; *) cp "$file" "$out" ;; esac
done
node "$here/bundle.js" "$out"
add web.js
