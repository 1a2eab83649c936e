#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each wait of waits.def has its place in the sources of engine flow, "(NAME)" in a comment, and a row on the page.
# Usage: waits.sh SOURCE_DIRECTORY
set -eu
cd "$1"
bad=0
for name in $(sed -n 's/^WAIT(\([A-Z0-9_]*\),.*/\1/p' sim/flow/waits.def); do
  if ! grep -q "[(, ]${name}[,)]" sim/flow/*.c; then
    echo "waits.sh: no source says ($name)" >&2
    bad=1
  fi
  if ! grep -q "^| ${name} |" docs/flow-engine.md; then
    echo "waits.sh: docs/flow-engine.md has no row for $name" >&2
    bad=1
  fi
done
for name in $(sed -n 's/^| \([A-Z][A-Z0-9_]*\) |.*/\1/p' docs/flow-engine.md); do
  if ! grep -q "^WAIT(${name}," sim/flow/waits.def; then
    echo "waits.sh: waits.def has no $name" >&2
    bad=1
  fi
done
exit $bad
