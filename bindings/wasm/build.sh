#!/usr/bin/env bash
# Builds js/toolcheck.wasm: bindings/wasm/build.sh
#
# It needs a Rust toolchain and its standard library for WebAssembly: rustup target add wasm32-unknown-unknown
# Without that library, TOOLCHECK_BUILD_STD=1 builds the library too. This needs its source, and sets RUSTC_BOOTSTRAP.
# CARGO and RUSTC name other programs than those on the PATH, and TOOLCHECK_WASM_LINKER another linker.
# If wasm-opt is on the PATH, or WASM_OPT names it, it makes the module smaller.
set -euo pipefail
cd "$(dirname "$0")"
target=wasm32-unknown-unknown
rustc=${RUSTC:-rustc}
cargo=${CARGO:-cargo}

flags=()
[ -z "${TOOLCHECK_WASM_LINKER:-}" ] || flags+=("-Clinker=$TOOLCHECK_WASM_LINKER")
flags+=(--cfg 'getrandom_backend="custom"')
options=()
if [ -d "$("$rustc" --print sysroot)/lib/rustlib/$target/lib" ]; then
  :
elif [ "${TOOLCHECK_BUILD_STD:-}" = 1 ]; then
  export RUSTC_BOOTSTRAP=1
  options+=(-Zbuild-std=std,panic_abort)
else
  echo "the standard library for $target is missing: rustup target add $target" >&2
  exit 3
fi
# The values have no spaces, and Cargo splits at this character.
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}")
export CARGO_ENCODED_RUSTFLAGS

"$cargo" build --release --locked --target "$target" ${options[@]+"${options[@]}"}
built=${CARGO_TARGET_DIR:-target}/$target/release/toolcheck_wasm.wasm
wasm_opt=${WASM_OPT:-$(command -v wasm-opt || true)}
if [ -n "$wasm_opt" ]; then
  "$wasm_opt" -Oz --enable-bulk-memory --enable-sign-ext --enable-mutable-globals --enable-nontrapping-float-to-int \
    --enable-reference-types --enable-multivalue "$built" -o js/toolcheck.wasm
else
  cp "$built" js/toolcheck.wasm
fi
echo "js/toolcheck.wasm: $(wc -c < js/toolcheck.wasm) bytes, $(gzip -9c js/toolcheck.wasm | wc -c) with gzip"
