#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# weft bench learn: samples that it writes it reads again, in groups of any size; files that it cannot write or read end
# it before the work.
# usage: learn.sh WEFT
set -eu
weft=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
learn() { "$weft" bench learn --no-network --trees 5 "$@"; }
learn --groups 8 --judged 3 --collect fit --collect-judges judge >first
learn --data fit --judges judge >again
cmp first again
# All rows are one group, of sixty mappings.
awk 'NR > 1 { $1 = 0 } { print }' judge >one
learn --data fit --judges one | grep -q 'none: model'
refuses() {
  if learn "$@" 2>message; then
    echo "not refused: $*" >&2
    exit 1
  fi
  cat message
}
refuses --groups 1 --judged 0 --write /nowhere/trees | grep -q '/nowhere/trees'
head -c 3000 fit >short
refuses --data short --judges judge | grep -q 'short:[0-9]*: error'
refuses --data first --judges judge | grep -q 'not samples of this version'
