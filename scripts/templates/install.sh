#!/bin/sh
# Installs toolcheck @VERSION@: downloads the program for this system, compares it with the checksum below, and puts it
# into a folder. Nothing else is changed.
#
#   TOOLCHECK_INSTALL_DIR    the folder; by default $XDG_BIN_HOME, or ~/.local/bin
#   TOOLCHECK_DOWNLOAD_URL   a mirror of the release

set -eu

url=${TOOLCHECK_DOWNLOAD_URL:-@URL@}

fail() {
  echo "error: $1" >&2
  exit 1
}

has() {
  command -v "$1" > /dev/null 2>&1
}

download() {
  if has curl; then
    case $1 in
      https://*) curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location --output "$2" "$1" ;;
      *) curl --fail --silent --show-error --output "$2" "$1" ;;
    esac
  elif has wget; then
    wget --quiet --output-document="$2" "$1"
  else
    fail "neither curl nor wget is installed"
  fi
}

checksum() {
  if has sha256sum; then
    sha256sum "$1"
  elif has shasum; then
    shasum -a 256 "$1"
  else
    fail "neither sha256sum nor shasum is installed"
  fi
}

# All of it is in a function, so that a script of which only a part was downloaded does nothing.
main() {
  case $(uname -s)-$(uname -m) in
@CASES@
    *) fail "there is no program for $(uname -s) on $(uname -m): cargo install --locked @PACKAGE@ builds one" ;;
  esac
  name=@PACKAGE@-$target-v@VERSION@
  folder=${TOOLCHECK_INSTALL_DIR:-${XDG_BIN_HOME:-$HOME/.local/bin}}
  temporary=$(mktemp -d)
  trap 'rm -rf "$temporary"' EXIT
  download "$url/$name.tar.gz" "$temporary/archive" || fail "$url/$name.tar.gz can't be downloaded"
  found=$(checksum "$temporary/archive")
  # The name of the file follows.
  found=${found%% *}
  [ "$found" = "$sum" ] || fail "$name.tar.gz has the checksum $found and not $sum: nothing was installed"
  tar -xzf "$temporary/archive" -C "$temporary"
  mkdir -p "$folder"
  # Renamed within the folder, so that a program that runs is not written over.
  cp "$temporary/$name/toolcheck" "$folder/.toolcheck.new"
  chmod 755 "$folder/.toolcheck.new"
  mv -f "$folder/.toolcheck.new" "$folder/toolcheck"
  echo "$("$folder/toolcheck" --version) is in $folder"
  case :$PATH: in
    *:"$folder":*) ;;
    *) echo "Add $folder to the PATH." ;;
  esac
}

main
