#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the search proposes is real: for some sides an array is searched, its hardware is built, and every layer with the mapping that the
# search chose has the oracle's result on it, in as many cycles as the search measured. usage: search_rtl_test.sh WEFT CHECKOUT WORK_DIR SIDE...
set -eu
weft=$1 root=$2 work=$3
shift 3
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work"
cd "$work"
fail() {
  echo "FAILED: $1" >&2
  exit 1
}

# With fewer channels than the side has rows, a convolution would be another kernel's (conv2d_narrow).
cat >sample.yaml <<'YAML'
name: sample
description: layers for the hardware
layers:
  - {name: product, P: 40, K: 24, C: 40}
  - {name: window, P: 7, Q: 7, K: 12, C: 16, R: 3, S: 3}
  - {name: stride, P: 5, Q: 5, K: 8, C: 16, R: 3, S: 3, stride: 2}
YAML

# run_layer NAME KERNEL SHAPE ENGINE: its cycles; a result other than the oracle's is an exit code other than 0.
run_layer() {
  "$weft" run "$root/workloads/kernels/$2.py" --shape "$3,scale=0.01,bias=False,relu=False" --mapping "out/sample/mappings/$1.map" \
    --array out/sample/array.yaml --engine "$4" --json - --quiet >run.json || fail "$1 on $4, side $side"
  sed -n 's/^	"cycles":	\([0-9]*\),$/\1/p' run.json
}

for side in "$@"; do
  for model in paper machine; do
    rm -rf out
    "$weft" search sample.yaml --simulate --model $model --array dim4 --fix "pe=$side" --kib-max 32 --candidates 5 -o out --quiet 2>err.txt ||
      fail "$(cat err.txt)"
    while read -r name kernel shape; do
      measured=$(sed -n "s/^$name,1,[0-9]*,[^,]*,[^,]*,[^,]*,\([0-9]*\),.*/\1/p" out/sample/layers.csv)
      for engine in cycle rtl; do
        cycles=$(run_layer "$name" "$kernel" "$shape" $engine)
        [ -n "$cycles" ] && [ "$cycles" = "$measured" ] || fail "$name, side $side, $model: $cycles cycles on $engine, $measured in the search"
      done
    done <<'LAYERS'
product gemm M=40,N=24,K=40
window conv2d N=1,H=9,W=9,R=3,S=3,stride=1,padding=0,dilation=1,C=16,K=12
stride conv2d N=1,H=11,W=11,R=3,S=3,stride=2,padding=0,dilation=1,C=16,K=8
LAYERS
  done
done
echo good
