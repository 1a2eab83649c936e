#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The answer of a search on a network is what `weft sim` says of it: the same cycles and energy on the array and with the mappings that
# were found, as on the base array. usage: search_program_test.sh WEFT WORK_DIR
set -u
weft=$1
. "$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/expect.sh"
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$2" && cd "$2" || exit 1

figure() { tr -d ',\t' <"$2" | awk -F: -v key="\"$1\"" '$1 == key && !found { print $2; found = 1 }'; } # KEY FILE
whole() { awk '/"whole"/ { on = 1 } on' found.json >whole.json && figure "$1" whole.json; }
same() { # WHAT SEARCHED SIMULATED
  awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0 && a - b <= 1e-6 * b && b - a <= 1e-6 * b) }' || fail "$1: the search says $2, sim says $3"
}
compare() { # NET: the answer in found.json and found/NET
  "$weft" sim "$1.onnx" --array dim8 --no-check --quiet --json base.json || fail "$1 on the base"
  "$weft" sim "$1.onnx" --array "found/$1/array.yaml" --mappings "found/$1/program.maps" --quiet --json best.json || fail "$1 on the best"
  same "$1, base cycles" "$(whole base_cycles)" "$(figure cycles base.json)"
  same "$1, base energy" "$(whole base_energy_uj)" "$(figure energy_uj base.json)"
  same "$1, base energy of the array" "$(whole base_array_energy_uj)" "$(figure array_energy_pj base.json | awk '{ print $1 / 1e6 }')"
  same "$1, energy of the array" "$(whole array_energy_uj)" "$(figure array_energy_pj best.json | awk '{ print $1 / 1e6 }')"
  same "$1, cycles" "$(whole cycles)" "$(figure cycles best.json)"
  same "$1, energy" "$(whole energy_uj)" "$(figure energy_uj best.json)"
}

# Attention, with the hart between the products; mappings that the model of the machine chose.
expect 0 '' "$weft" net bert-base --seq 16 --divisor 6 --depth 2 --quiet -o bert.onnx
expect 0 '' "$weft" search bert.onnx --simulate --model machine --array dim8 --candidates 4 --budget 2000 --side-max 16 --objective latency \
  -o found --quiet --json found.json
compare bert
[ "$(whole mappings)" -gt 0 ] || fail "no mapping of its own"
[ "$(whole cycles)" -le "$(whole base_cycles)" ] || fail "worse than the base"
expect 0 'whole network: [0-9,]+ cycles' cat found/bert/report.txt

# Depthwise convolutions, with the mapper's mappings.
expect 0 '' "$weft" net mobilenetv2 --size 32 --divisor 8 --quiet -o mobile.onnx
expect 0 '' "$weft" search mobile.onnx --simulate --array dim8 --candidates 3 --budget 2000 --side-max 16 -o found --quiet --json found.json
compare mobile
expect 0 '"layer":.*"features.1.conv.1.0"' cat found.json
expect 0 '"energy_of":.*"array"' cat found.json

# The energy of the whole is another account than the array's.
candidate() { awk '/"candidates"/ { on = 1 } on' found.json >candidate.json && figure energy_uj candidate.json; }
array=$(candidate)
expect 0 'whole uJ' "$weft" search mobile.onnx --simulate --array dim8 --candidates 1 --budget 2000 --energy whole --json found.json
expect 0 '"energy_of":.*"whole"' cat found.json
awk -v a="$array" -v b="$(candidate)" 'BEGIN { exit !(a > 0 && b > 0 && a != b) }' || fail "the base has $array uJ in both accounts"
expect 2 'energy is array or whole' "$weft" search mobile.onnx --simulate --energy all
expect 2 'energy is for --simulate' "$weft" search resnet50 --energy whole

# Files of mappings that are none.
with_mappings() { "$weft" sim bert.onnx --array found/bert/array.yaml --quiet --mappings "$1"; }
echo 'mapping primitive ws' >none.maps
expect 1 'none.maps:1:.*begin with .kernel' with_mappings none.maps
echo 'kernel 12 gemm' >none.maps
expect 1 'none.maps:1:.*a hash of 16 digits' with_mappings none.maps
expect 1 'missing.maps' with_mappings missing.maps
sed 's/ C [0-9]* R/ C 99999999 R/' found/bert/program.maps >large.maps
expect 3 'error: ' with_mappings large.maps
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
