#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tool uses the library alone: of the symbols in it that its own sources need and do not define, each is a function
# of weft.h or a helper of base/ (wf_).
# usage: library_test.sh WEFT MAP OBJECT;OBJECT..
set -eu
weft=$1 map=$2 objects=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Symbols of the tool; all others that an object needs are of other packages. Those that begin with _ are of linkers.
nm --defined-only "$weft" | awk '{ print $3 }' | sort -u >"$work/inside"
printf '%s\n' "$objects" | tr ';' '\n' >"$work/objects"
xargs nm --defined-only <"$work/objects" | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort -u >"$work/own"
xargs nm -u <"$work/objects" | awk '$1 == "U" { print $2 }' | sort -u | comm -12 - "$work/inside" | comm -23 - "$work/own" >"$work/needed"
sed -n 's/^    \(weft_[a-z_]*\);$/\1/p' "$map" | sort >"$work/library"
grep '^weft_' "$work/needed" >"$work/used" || { echo "$weft uses nothing of the library"; exit 1; }
grep -vE '^(wf_|_)' "$work/needed" | comm -23 - "$work/library" >"$work/beyond"
[ ! -s "$work/beyond" ] || { echo "beyond weft.h and base/:"; cat "$work/beyond"; exit 1; }
echo "$(wc -l <"$work/used") functions of the library, $(grep -c '^wf_' "$work/needed") helpers of base/"
