#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `weft search --space .. --check-rtl N`: the hardware of an answer takes as many cycles as the search says, with the
# oracle's results, for two networks; and with an array file of the answer `weft run` does, too.
# usage: codesign_rtl_test.sh WEFT WORK_DIR
set -u
weft=$1 work=$2
. "$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/expect.sh"
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work" && cd "$work" || exit 1

cat >space.yaml <<'END'
name: hardware
base: dim4
parameters:
  mesh.rows, mesh.columns: [4, 8]
  scratchpad.capacity_kib: [32, 64]
  scratchpad.banks: [2, 4]
  dma.bus_bits, l2.bytes_per_cycle: [[64, 8], [128, 16]]
  dma.reads_in_flight: [8, 16]
  load.reservation_entries, load.queue: [4, 8]
END
cat >mixed.yaml <<'END'
name: mixed
description: products and windows
layers:
  - {name: product, P: 64, K: 64, C: 64, count: 3}
  - {name: row, P: 1, K: 96, C: 128}
  - {name: window, P: 14, Q: 14, K: 32, C: 32, R: 3, S: 3}
  - {name: point, P: 28, Q: 28, K: 24, C: 32}
END

for network in mixed.yaml conv_1d; do
  expect 0 'on the Verilated hardware' "$weft" search "$network" --space space.yaml --budget 8 --check-rtl 3 -o found --json found.json
  expect 0 '^    [a-z_0-9]+: [0-9,]+ cycles, as said; the oracle.s bytes' cat found/report.txt
  [ "$(grep -c ' cycles, as said; the oracle' found/report.txt)" -eq 3 ] || fail "$network: $(grep ' cycles, .* said' found/report.txt)"
  [ "$(tr -d '\n\t ' <found.json | grep -oE '"rtl_cycles":[0-9]+,"wrong_bytes":0,"equal":true' | wc -l)" -eq 3 ] || fail "$network: JSON"
done
expect 3 'needs verilator' env PATH=/nowhere WEFT_CACHE="$work/empty" "$weft" search mixed.yaml --space space.yaml --budget 2 --check-rtl 1 --threads 1 --quiet -o kept
expect 0 'name: found' cat kept/array.yaml
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
