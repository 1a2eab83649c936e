#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each wait of waits.def has its place in the sources of engine flow, "(NAME)" in a comment, and a row on the page.
# Usage: waits.sh SOURCE_DIRECTORY
set -eu
cd "$1"
defined=$(mktemp)
written=$(mktemp)
trap 'rm -f "$defined" "$written"' EXIT
sed -n 's/^WAIT(\([A-Z0-9_]*\),.*/\1/p' sim/flow/waits.def | sort >"$defined"
sed -n 's/^| \([A-Z][A-Z0-9_]*\) |.*/\1/p' docs/flow-engine.md | sort >"$written"
if ! diff "$defined" "$written"; then
  echo "waits.sh: waits.def and docs/flow-engine.md name different waits" >&2
  exit 1
fi
bad=0
while read -r name; do
  if ! grep -q "[(, ]${name}[,)]" sim/flow/*.c; then
    echo "waits.sh: no source says (${name})" >&2
    bad=1
  fi
done <"$defined"
exit "$bad"
