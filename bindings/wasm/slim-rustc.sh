#!/usr/bin/env bash
# Compiles crates for the module: slim-rustc.sh RUSTC ARGUMENTS
#
# Those of regular expressions are compiled without features that make the module larger and find nothing more: prefilters,
# automata that match in one pass, and tables of Unicode that expressions of ECMA-262, and so of JSON Schema, can't name.
# Other crates ask for these features, and Cargo can't take away what one of them asks for.
set -euo pipefail
case " $* " in
  *' --crate-name regex_automata '* | *' --crate-name regex_syntax '*) ;;
  *) exec "$@" ;;
esac

arguments=()
for argument in "$@"; do
  case $argument in
    'feature="perf"' | 'feature="perf-literal'* | 'feature="dfa-onepass"' | 'feature="unicode-age"' | 'feature="unicode-segment"')
      unset 'arguments[-1]' # --cfg
      ;;
    *) arguments+=("$argument") ;;
  esac
done
exec "${arguments[@]}"
