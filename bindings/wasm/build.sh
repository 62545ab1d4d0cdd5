#!/usr/bin/env bash
# Builds js/toolcheck.wasm: bindings/wasm/build.sh
#
# It needs a Rust toolchain and its standard library for WebAssembly: rustup target add wasm32-unknown-unknown
# With TOOLCHECK_BUILD_STD=1 the library is built too, for size, and what panics would say is left out: then the module is
# smaller. This needs the library's source (rustup component add rust-src), and sets RUSTC_BOOTSTRAP.
# CARGO and RUSTC name other programs than those on the PATH, and TOOLCHECK_WASM_LINKER another linker.
# If wasm-opt is on the PATH, or WASM_OPT names it, or npm ci has installed it, it makes the module smaller.
set -euo pipefail
cd "$(dirname "$0")"
target=wasm32-unknown-unknown
rustc=${RUSTC:-rustc}
cargo=${CARGO:-cargo}

flags=()
[ -z "${TOOLCHECK_WASM_LINKER:-}" ] || flags+=("-Clinker=$TOOLCHECK_WASM_LINKER")
flags+=(--cfg 'getrandom_backend="custom"')
# The places of panics are in the module: without the folders of this machine they are shorter, and the same everywhere.
flags+=("--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src/=" "--remap-path-prefix=$(cd ../.. && pwd)/=")
options=()
if [ "${TOOLCHECK_BUILD_STD:-}" = 1 ]; then
  export RUSTC_BOOTSTRAP=1
  options+=(-Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size)
  flags+=(-Zunstable-options -Cpanic=immediate-abort)
elif [ ! -d "$("$rustc" --print sysroot)/lib/rustlib/$target/lib" ]; then
  echo "the standard library for $target is missing: rustup target add $target" >&2
  exit 3
fi
wasm_opt=${WASM_OPT:-$(command -v wasm-opt node_modules/.bin/wasm-opt | head -n 1 || true)}
# wasm-opt needs the names, and strips them itself.
[ -z "$wasm_opt" ] || export CARGO_PROFILE_RELEASE_STRIP=none
# The values have no spaces, and Cargo splits at this character.
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}")
export CARGO_ENCODED_RUSTFLAGS

"$cargo" build --release --locked --target "$target" ${options[@]+"${options[@]}"}
built=${CARGO_TARGET_DIR:-target}/$target/release/toolcheck_wasm.wasm
if [ -n "$wasm_opt" ]; then
  # What is inlined compresses worse than what is called, even where there is one caller.
  "$wasm_opt" -g -Oz --one-caller-inline-max-function-size 20 --always-inline-max-function-size 1 "$built" \
    -o js/toolcheck.wasm
  # The copies of a generic function have similar names. Side by side, they compress better.
  "$wasm_opt" -g --reorder-functions-by-name js/toolcheck.wasm -o js/toolcheck.wasm
  "$wasm_opt" --strip-debug --strip-producers --strip-target-features js/toolcheck.wasm -o js/toolcheck.wasm
else
  cp "$built" js/toolcheck.wasm
fi
# test/api.test.js says how large a plain build may be, and this how much is downloaded of a release; 2,000,000 is wanted. It
# was 2,260,000 before sessions of Pi 1.6, Oh My Pi and OpenClaw, what nine agents put right themselves, messages of TanStack AI
# and facts about requests.
size=$(gzip -9c js/toolcheck.wasm | wc -c) most=2295000
echo "js/toolcheck.wasm: $(wc -c < js/toolcheck.wasm) bytes, $size with gzip"
if [ "${TOOLCHECK_BUILD_STD:-}" = 1 ] && [ -n "$wasm_opt" ] && [ "$size" -gt "$most" ]; then
  echo "js/toolcheck.wasm is larger than $most bytes with gzip" >&2
  exit 1
fi
