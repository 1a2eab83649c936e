#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `weft search --space`: the same answer for a seed, whose networks take in `weft sim` what it says; what it writes; what
# it refuses, and where. usage: codesign_test.sh WEFT
set -u
weft=$1
. "$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/expect.sh"
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT

figure() { tr -d ',\t' <"$2" | awk -F: -v key="\"$1\"" '$1 == key && !found { print $2; found = 1 }'; } # KEY FILE
same() { # WHAT SEARCHED SIMULATED
  awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0 && a - b <= 1e-6 * b && b - a <= 1e-6 * b) }' || fail "$1: the search says $2, sim says $3"
}

cat >space.yaml <<'END'
name: test
base: dim8
parameters:
  mesh.rows, mesh.columns: [4, 8]
  scratchpad.capacity_kib: [32, 64]
  dma.bus_bits: [64, 128]
  load.reservation_entries: [2, 8]
constraints:
  - accumulator.capacity_kib <= scratchpad.capacity_kib
END
cat >table.yaml <<'END'
name: table
description: for the test
layers:
  - {name: a, P: 64, K: 64, C: 64, count: 3}
  - {name: b, P: 14, Q: 14, K: 32, C: 32, R: 3, S: 3}
END

# A network and a table together. Every step of the network takes in `weft sim` what the answer says.
expect 0 '' "$weft" net bert-base --seq 16 --divisor 6 --depth 1 --quiet -o bert.onnx
expect 0 '' "$weft" search bert.onnx table.yaml --space space.yaml --budget 8 --weights 2,1 -o found --quiet --json found.json
expect 0 '' "$weft" sim bert.onnx --array found/array.yaml --mappings found/bert.maps --quiet --json sim.json
same "bert, cycles" "$(figure cycles found.json)" "$(figure cycles sim.json)"
same "bert, energy" "$(figure energy_uj found.json)" "$(figure energy_uj sim.json)"
expect 0 'good' "$weft" array check found/array.yaml
expect 0 'bert x 2 . table: edap .* times less than the base' cat found/report.txt
expect 0 'bert, every step: [0-9,]+ cycles' cat found/report.txt
expect 0 'dma.bus_bits is (64|128)' cat found/report.txt
expect 0 '^event,point,rung,expected' cat found/trace.csv
expect 0 ',cycle,' cat found/trace.csv
expect 0 'clock: 1000 MHz; the longest path, in [a-z_]+, allows [0-9]+ MHz' cat found/report.txt
expect 0 '"clock_mhz_most":' cat found.json

# WEFT_FEW: fewer simulations, for sanitizers.
few() { [ -n "${WEFT_FEW-}" ] && echo "$1" || echo "$2"; } # FEW USUAL

# With mixes the answer is what `weft sim` says of the whole network.
cat >mixes.yaml <<'END'
name: mixes
base: dim8
parameters:
  isa.revision: [2]
  scratchpad.capacity_kib: [32, 64]
END
expect 0 '' "$weft" net resnet18 --size 32 --divisor 8 --quiet -o res.onnx
expect 0 '' "$weft" search res.onnx --space mixes.yaml --budget "$(few 2 4)" --objective edp --fuse auto --whole 1 -o mixed --quiet --json mixed.json
expect 0 '' "$weft" sim res.onnx --array mixed/array.yaml --mappings mixed/res.maps --fuse auto --tune-objective edp \
  --timing-only --quiet --json sim.json
same "mixed, cycles" "$(figure cycles mixed.json)" "$(figure cycles sim.json)"
same "mixed, energy" "$(figure energy_uj mixed.json)" "$(figure energy_uj sim.json)"
expect 0 'whole networks, of 1 points: .* without mixes' cat mixed/report.txt
expect 0 ',network,' cat mixed/trace.csv
expect 0 '"first_value_without_mixes":' cat mixed/result.json

# Layers of a table take on the array what a sweep says of them, where they have the mapper's mapping.
expect 0 '' "$weft" search table.yaml --space space.yaml --budget 8 --method random -o one --quiet --json one.json
cat >sweep.yaml <<'END'
arrays: [one/array.yaml]
networks: [table.yaml]
END
expect 0 '' "$weft" sweep sweep.yaml -o one.sqlite --quiet
"$weft" query one.sqlite "SELECT name, cycles FROM point_layer" >layers.csv || fail "no layers"
tr -d '\n\t ' <one.json | grep -oE '"layer":"[a-z]+","times":[0-9]+,"cycles":[0-9]+,[^}]*"own_mapping":false' |
  sed -E 's/"layer":"([a-z]+)".*"cycles":([0-9]+),"energy.*/\1,\2/' >own.csv
[ -s own.csv ] || fail "no layer has the mapper's mapping"
while read -r line; do
  grep -qx "$line" layers.csv || fail "layer $line is not in $(cat layers.csv)"
done <own.csv
"$weft" search table.yaml --space space.yaml --budget 8 --method random --threads 1 --quiet --json again.json || fail again
grep -v seconds one.json >one.txt
grep -v seconds again.json | diff one.txt - || fail "another answer with one process"

# Bounds and fronts.
expect 0 'front of latency and area, hypervolume' "$weft" search table.yaml --space space.yaml --budget "$(few 6 12)" \
  --objective latency --pareto area
expect 3 'within the bounds' "$weft" search table.yaml --space space.yaml --budget 6 --max-area 0.001 --quiet

# What only the joint search knows asks for it, in the space `default`.
expect 3 'within the bounds' "$weft" search table.yaml --max-latency 0.000001 --budget 2 --quiet
"$weft" search table.yaml --weights 2 --method random --budget 2 --threads 1 --quiet --json implied.json || fail implied
"$weft" search table.yaml --space default --weights 2 --method random --budget 2 --threads 1 --quiet --json said.json || fail said
grep -v seconds said.json >said.txt
grep -v seconds implied.json | diff said.txt - || fail "another space than the default one"

# What costs what.
expect 0 'mesh +383471 +268430 +536859' "$weft" array cost
expect 0 '[a-z_]+ allows [0-9]+ MHz' "$weft" array cost
expect 0 '"clock_mhz_most":' "$weft" array cost --json -
expect 0 '"unknown":' "$weft" array cost dim4 --json -

# Refused.
expect 1 'fuse auto: a table has no steps' "$weft" search table.yaml --space mixes.yaml --fuse auto
expect 2 'pareto has no mixes' "$weft" search res.onnx --space mixes.yaml --fuse auto --pareto area
expect 2 'whole is for --fuse auto' "$weft" search res.onnx --space mixes.yaml --whole 2
expect 2 'fuse is off or auto' "$weft" search res.onnx --space mixes.yaml --fuse all
printf 'parameters:\n  dma.bus_bits: [64, 65]\n' >bad.yaml
expect 1 "bad.yaml:2:22: error: '65' is no value of dma.bus_bits" "$weft" search table.yaml --space ./bad.yaml
printf 'parameters:\n  dma.bus_bits: [64]\nconstraints:\n  - dma.bus_bits < 64\n' >none.yaml
expect 3 'no point of the space can be built' "$weft" search table.yaml --space ./none.yaml
expect 1 'small-bus is one' "$weft" search table.yaml --space nothing
expect 2 'take no --exact' "$weft" search table.yaml --max-latency 1 --exact
expect 2 'take no --exact' "$weft" search table.yaml --space space.yaml --exact
expect 2 'take no --exact' "$weft" search table.yaml --check-rtl 1 --exact
expect 2 'check-rtl' "$weft" search table.yaml --space space.yaml --check-rtl 0
expect 2 'at most 1000 layers' "$weft" search table.yaml --space space.yaml --check-rtl 1001
expect 2 'take no --array' "$weft" search table.yaml --space space.yaml --array dim8
expect 2 'a number above 0 for each network' "$weft" search table.yaml --space space.yaml --weights 1,2
expect 2 'another than --objective' "$weft" search table.yaml --space space.yaml --pareto edap
expect 2 'number of simulations' "$weft" search table.yaml --space space.yaml --budget 3x
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
