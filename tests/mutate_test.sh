#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Changed inputs for every reader of the tool, under its limits: see mutate.c. Best with a sanitized build.
# usage: mutate_test.sh MUTATE WEFT SOURCE_DIR WORK_DIR [COUNT [SEED]]
set -u
mutate=$1 weft=$2 root=$3 work=$4 count=${5-100000} seed=${6-$$}
sh "$(dirname -- "$0")/work_dir.sh" "$work" && mkdir -p "$work/seeds" && cd "$work/seeds" || exit 1
export ASAN_OPTIONS=detect_leaks=0

# ---- what to begin with
kernels=$root/workloads/kernels
programs=$root/build/release/driver/examples/gemmini-default
"$weft" net lstm --divisor 16 --seq 2 -o lstm.onnx --quiet && "$weft" net resnet18 --size 32 --divisor 16 -o res.onnx --quiet &&
  "$weft" net bert-base --divisor 32 --depth 1 --seq 8 -o bert.onnx --quiet &&
  "$weft" compile "$kernels/gemm.py" --shape M=16,N=16,K=16 --array dim4 -o gemm.trace --quiet &&
  "$weft" compile "$kernels/gemm.py" --shape M=16,N=16,K=16 --array dim4 -o gemm.command --quiet &&
  "$weft" compile "$kernels/gemm.py" --shape M=16,N=16,K=16 --array dim4 -o gemm.elf --quiet &&
  "$weft" compile "$kernels/gemm.py" --shape M=16,N=16,K=16 --array dim4 --dump-after tile >gemm.block &&
  "$weft" compile "$kernels/gemm.py" --shape M=64,N=64,K=64 --print-mapping >gemm.map || exit 1
printf 'name: n\nlayers:\n  - {name: a, P: 16, K: 16, C: 16}\n  - {name: b, P: 6, Q: 6, K: 8, C: 8, R: 3, S: 3}\n' >net.yaml
cp "$root/search/layers/tests/seeds/"*.csv . && set -- *.csv
csv=$(printf '%s|' "$@")
printf 'name: s\nbase: dim4\nparameters: {scratchpad.capacity_kib: [16, 32], load.queue: {from: 1, to: 4}}\nnetworks: [%s/net.yaml]\n' \
  "$PWD" >sweep.yaml
"$weft" sweep sweep.yaml -o store.sqlite --quiet || exit 1
printf 'arrays: [dim4]\nnetworks: [%s/net.yaml]\ncompress: [{channel: [0.5], round: [side, 4]}, {weight: [0.1]}]\nmapping: [default, {tune: 2}]\n' \
  "$PWD" >study.yaml
"$weft" array show dim4 >array.yaml
printf 'M=16,N=16,K=16,scale=0.1,relu=True' >shape.txt
printf 'cycles < 20e6 and dim <= 16 order by edp' >condition.txt
nodes=/usr/share/libonnx-testdata/data/node
models=lstm.onnx
for name in Conv MatMul Gemm Softmax Relu MaxPool Reshape Concat; do
  lower=$(printf '%s' $name | tr '[:upper:]' '[:lower:]')
  for file in "$nodes/test_$lower"*/model.onnx; do [ -e "$file" ] && models="$models|$file" && break; done
done
elfs=gemm.elf
for name in mvin tiled_gemm; do [ ! -e "$programs/$name.elf" ] || elfs="$elfs|$programs/$name.elf"; done
relu=$nodes/test_relu
{
  printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4, 5), }"
  head -c 240 /dev/zero
} >relu.npy

# ---- the readers
here=$PWD
cat >../list.txt <<LIST
elf $elfs disasm @
elf $elfs sim @ --engine ref --array dim4 --any-array --max-instructions 100000
elf $elfs sim @ --array dim4 --any-array --max-instructions 20000
yaml array.yaml|$root/hw/configs/gemmini-default.yaml array check @
yaml array.yaml array show @
onnx $models|res.onnx|bert.onnx graph @
onnx $models|res.onnx|bert.onnx graph @ --stage placed
onnx $models compile @ --array dim4
onnx $models sim @ --array dim4 --quiet
py $kernels/gemm.py compile @ --shape M=16,N=16,K=16
py $kernels/conv2d.py compile @ --shape N=1,H=8,W=8,C=8,K=8,scale=0.1
block gemm.block compile @ --from block --array dim4
command gemm.command compile @ --from command --array dim4
trace gemm.trace sim @ --array dim4
yaml net.yaml search @ --budget 200
csv ${csv%|} search @ --budget 200
yaml sweep.yaml sweep @ --plan
yaml study.yaml study @ --plan
map gemm.map compile $kernels/gemm.py --shape M=64,N=64,K=64 --mapping @
text shape.txt compile $kernels/gemm.py --shape @
text condition.txt query $here/store.sqlite @ --limit 100
sqlite store.sqlite query @
sqlite store.sqlite report @ -o report --no-pictures
pb $relu/test_data_set_0/input_0.pb sim $relu/model.onnx --array dim4 --input @ --quiet
npy relu.npy sim $relu/model.onnx --array dim4 --input @ --quiet
LIST
exec "$mutate" "$weft" ../list.txt "$work/run" "$count" "$seed"
