#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A network's row of a sweep has the cycles of `weft sim` on that array, and its energy: an ONNX file's and those of all
# generated networks, exactly with `steps: all`, within 3 % with some of equal steps. Tables that other tools write are
# the same sweep.
. "$(dirname "$0")/common.sh"
"$weft" net resnet18 --size 32 --divisor 8 --quiet -o small.onnx
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
networks: [topology.csv, problem.yaml, own.yaml]
END
"$weft" sweep s.yaml -o s.sqlite --quiet
sums() { "$weft" query s.sqlite "SELECT point, cycles, energy_pj, macs FROM point_network WHERE network = '$1' ORDER BY point" | tail -n +2; }
for pair in own:topology own:problem; do
  sums "${pair%:*}" >a.txt
  sums "${pair#*:}" >b.txt
  [ "$(wc -l <a.txt)" = 2 ] && ! grep -q ',,' a.txt || fail "${pair%:*}: $(cat a.txt)"
  cmp a.txt b.txt || fail "${pair%:*} is not ${pair#*:}"
done

# A line for each network: its name here, what `sim` calls it, and options as the sweep says them.
cat >nets.txt <<'END'
small small.onnx
resnet18 resnet18 size: 32, divisor: 8
resnet50 resnet50 size: 32, divisor: 8
resnet50-float resnet50 size: 32, divisor: 8, float-ends: true
resnet18-uint8 resnet18 size: 32, divisor: 8, input-type: uint8
mobilenetv2 mobilenetv2 size: 64, divisor: 4
mobilenetv3-small mobilenetv3-small size: 64, divisor: 4
efficientnet-b0 efficientnet-b0 size: 64, divisor: 8
shufflenetv2 shufflenetv2 size: 64, divisor: 4
resnext50-32x4d resnext50-32x4d size: 32, divisor: 8
densenet-121 densenet-121 size: 32, divisor: 8
convnext-t convnext-t size: 32, divisor: 8
swin-t swin-t size: 64, divisor: 3
vgg16 vgg16 size: 32, divisor: 16
unet unet size: 32, divisor: 16
retinanet retinanet size: 64, divisor: 16
bert-base bert-base seq: 16, divisor: 6, depth: 3
vit-b16 vit-b16 size: 32, divisor: 6, depth: 2
gpt2-block gpt2-block seq: 16, divisor: 6
llama2-7b-block llama2-7b-block seq: 8, divisor: 32
llama3-8b-block llama3-8b-block seq: 8, divisor: 32
lstm lstm seq: 4, divisor: 8, depth: 1
bottleneck bottleneck size: 14, divisor: 4
deepbench deepbench divisor: 16
END
"$weft" net --list | awk '/^[a-z0-9]/ { print $1 }' >generated.txt
[ "$(wc -l <generated.txt)" -ge 19 ] || fail "no list of networks: $(cat generated.txt)"
while read -r net; do
  grep -q "^$net " nets.txt || fail "network $net is not tried"
done <generated.txt
arrays='gemmini-default dim8'
if [ -n "${WEFT_FEW:-}" ]; then # under the sanitizers; runner_steps_test has half of the others
  arrays=dim8
  grep -E '^(small|resnet50-float|resnet18-uint8|mobilenetv3-small|swin-t|bert-base|gpt2-block|deepbench) ' nets.txt >few.txt
  mv few.txt nets.txt
fi
for steps in all equal; do
  printf 'arrays: [%s]\nsteps: %s\nnetworks:\n' "$(echo "$arrays" | sed 's/ /, /')" "$steps" >"$steps.yaml"
  while read -r name net options; do
    printf '  - {net: %s, name: %s%s}\n' "$net" "$name" "${options:+, $options}"
  done <nets.txt >>"$steps.yaml"
  "$weft" sweep "$steps.yaml" -o "$steps.sqlite" --quiet
done
value() { # STORE POINT NETWORK COLUMN
  "$weft" query "$1.sqlite" "SELECT $4 FROM point_network WHERE point = $2 AND network = '$3'" | tail -n +2
}
figure() { tr -d ',' <sim.json | awk -v key="\"$1\":" '$1 == key && !found { print $2; found = 1 }'; }
point=0
for array in $arrays; do
  while read -r name net options; do
    flags=$(echo "$options" | sed 's/float-ends: true/--float-ends/; s/input-type:/--input-type/; s/\([a-z]*\): /--\1 /g; s/,//g')
    # shellcheck disable=SC2086  # the flags are words
    "$weft" sim "$net" $flags --array "$array" --no-check --quiet --json sim.json
    cycles=$(figure cycles)
    [ "$cycles" -gt 0 ] || fail "$name: no cycles: $(head -n 20 sim.json)"
    all=$(value all "$point" "$name" cycles) equal=$(value equal "$point" "$name" cycles)
    # Where the hart reads numbers of floating point they are rounded another way here and there.
    near=$([ "$(figure host_cycles)" = 0 ] && echo 0 || echo 0.0005)
    awk -v a="$all" -v b="$cycles" -v n="$near" 'BEGIN { exit !(a - b <= n * b && b - a <= n * b) }' ||
      fail "$name on $array: $all in the sweep, $cycles in sim"
    awk -v a="$equal" -v b="$cycles" 'BEGIN { exit !(a > 0.97 * b && a < 1.03 * b) }' ||
      fail "$name on $array: $equal with some of equal steps, $cycles in sim"
    awk -v a="$(value all "$point" "$name" energy_pj)" -v b="$(figure energy_uj)" \
      'BEGIN { exit !(a > 0.999e6 * b && a < 1.001e6 * b) }' || fail "$name on $array: another energy than in sim"
    awk -v a="$(value all "$point" "$name" array_energy_pj)" -v b="$(figure array_energy_pj)" \
      'BEGIN { exit !(b > 0 && a > 0.999 * b && a < 1.001 * b) }' || fail "$name on $array: another energy of the array than in sim"
  done <nets.txt
  point=$((point + 1))
done

# Rows of steps add up to the network's.
bad=$("$weft" query equal.sqlite "SELECT count(*) FROM point_network n WHERE n.cycles <>
  (SELECT sum(s.cycles) FROM point_step s WHERE s.point = n.point AND s.network = n.network)" | tail -n 1)
[ "$bad" = 0 ] || fail "steps of $bad networks do not add up"

for table in measurement step; do
  "$weft" query all.sqlite "SELECT energy_pj, energy FROM $table" | tail -n +2 | tr -d '"{}' |
    awk -F '[,:]' '{ sum = 0; for (i = 3; i <= NF; i += 2) sum += $i; d = sum - $1; bad += d * d > 1e-12 * $1 * $1 }
      END { exit bad || !NR }' || fail "parts of energy do not add up in $table"
done

# An array with a normaliser has other steps than one without, in one sweep.
cat >unit.yaml <<'END'
arrays: [gemmini-default, transformer-16]
steps: all
networks: [{net: bert-base, seq: 16, divisor: 6, depth: 1}]
END
"$weft" sweep unit.yaml -o unit.sqlite --quiet
point=0
for array in gemmini-default transformer-16; do
  "$weft" sim bert-base --seq 16 --divisor 6 --depth 1 --array "$array" --no-check --quiet --json sim.json
  all=$(value unit "$point" bert-base cycles) cycles=$(figure cycles)
  [ -n "$cycles" ] && [ "$all" = "$cycles" ] || fail "bert-base on $array: $all in the sweep, $cycles in sim"
  point=$((point + 1))
done
grep -q Unit sim.json || fail "no rows in the normaliser of $array"

printf 'arrays: [dim4]\nnetworks: [lstm]\n' >made.yaml
"$weft" sweep made.yaml --plan | grep -q '^made: 1 points, 1 networks, [1-9]' || fail "a generated network has no program"
refused() { # TEXT MESSAGE
  printf 'arrays: [dim4]\nnetworks: [%s]\n' "$1" >none.yaml
  ! "$weft" sweep none.yaml --plan 2>none.err || fail "$1 is taken"
  grep -q "$2" none.err || fail "$1: $(cat none.err)"
}
refused none.onnx none.onnx
refused '{net: own.yaml}' 'is no ONNX file and no generated network'
refused '{size: 32}' 'has .net.'
refused '{net: lstm, sizes: 3}' sizes
refused '{net: lstm, input-type: u8}' 'input-type'
refused '{net: lstm, input-type: uint8, float-ends: true}' 'not with float-ends'
refused 'small.onnx, small.onnx' 'appears twice'
echo "tables: the same; programs: as sim"
