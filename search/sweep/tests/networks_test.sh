#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A network is the same sweep as an ONNX file, by its table, and as other tools write tables; a generated network needs
# its name only.
. "$(dirname "$0")/common.sh"
"$weft" net resnet18 --size 32 --divisor 8 --quiet -o small.onnx --layers table.yaml
sed 's/^name: .*/name: table/' table.yaml >table2.yaml && mv table2.yaml table.yaml
cat >topology.csv <<'END'
Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
window, 8, 8, 3, 3, 16, 16, 1,
END
cat >problem.yaml <<'END'
problem:
  shape: cnn-layer
  instance: {C: 16, M: 16, R: 3, S: 3, P: 6, Q: 6}
END
cat >own.yaml <<'END'
name: own
layers: [{name: window, P: 6, Q: 6, K: 16, C: 16, R: 3, S: 3}]
END
cat >s.yaml <<'END'
arrays: [dim4, dim8]
networks: [small.onnx, table.yaml, topology.csv, problem.yaml, own.yaml]
END
"$weft" sweep s.yaml -o s.sqlite --quiet
sums() { "$weft" query s.sqlite "SELECT point, cycles, energy_pj, macs FROM point_network WHERE network = '$1' ORDER BY point" | tail -n +2; }
for pair in small:table own:topology own:problem; do
  sums "${pair%:*}" >a.txt
  sums "${pair#*:}" >b.txt
  [ "$(wc -l <a.txt)" = 2 ] && ! grep -q ',,' a.txt || fail "${pair%:*}: $(cat a.txt)"
  cmp a.txt b.txt || fail "${pair%:*} is not ${pair#*:}"
done

printf 'arrays: [dim4]\nnetworks: [lstm]\n' >made.yaml
"$weft" sweep made.yaml --plan | grep -q '^made: 1 points, 1 networks, [1-9]' || fail "a generated network has no layers"
printf 'arrays: [dim4]\nnetworks: [none.onnx]\n' >none.yaml
! "$weft" sweep none.yaml --plan 2>none.err || fail "a file that is not there"
grep -q 'none.onnx' none.err || fail "$(cat none.err)"
echo "tables, ONNX, topology, problem: the same"
