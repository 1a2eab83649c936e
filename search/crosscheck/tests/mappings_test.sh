#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mappings for Timeloop of two networks on two arrays, read by a program of their own; one that is changed is refused, and
# layers that have none are named. $1: weft, $2: a folder to work in, $3: python3.
set -eu
weft=$1 work=$2 python=$3
check=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/mappings_check.py
sh "$(dirname -- "$0")/../../../tests/work_dir.sh" "$work"
cd "$work"
fail() {
  echo "FAILED: $1" >&2
  exit 1
}

# WEFT_FEW: the convolutions on one array, the products on the other, for sanitizers.
for net in resnet50 bert-base; do
  arrays="gemmini-default dim8"
  [ -z "${WEFT_FEW-}" ] || arrays=$([ $net = resnet50 ] && echo gemmini-default || echo dim8)
  "$weft" crosscheck $net --problems problems
  for array in $arrays; do
    code=0
    "$weft" crosscheck $net --array "$array" --mappings maps 2>err.txt || code=$?
    [ $code = 1 ] || fail "$net has layers without mapping, and the code is $code"
    grep -q 'has no mapping of Timeloop' err.txt || fail "no layer is named: $(cat err.txt)"
    "$python" "$check" maps problems
    rm -r maps
  done
  rm -r problems
done

printf 'Layer, M, N, K,\nproduct, 64, 48, 40,\n' >layers.csv
"$weft" crosscheck layers.csv --problems problems
"$weft" crosscheck layers.csv --mappings maps
"$python" "$check" maps problems
for change in '0,/P=[0-9]*/s//P=7/' '0,/M=[0-9]*/s//M=5/' '0,/keep: \[Inputs, Weights\]/s//keep: [Inputs]/' '0,/permutation: \[./s//permutation: [C, C/'; do
  cp -r maps bad
  sed -i "$change" bad/001-product.mapping.yaml
  ! "$python" "$check" bad problems 2>/dev/null || fail "not noticed: $change"
  rm -r bad
done
code=0
"$weft" crosscheck layers.csv --mappings maps --csv x.csv 2>err.txt || code=$?
[ $code = 2 ] && grep -q 'mappings runs nothing' err.txt || fail "with --csv: $code $(cat err.txt)"
echo good
