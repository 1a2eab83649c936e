#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# weft sim and weft compile on networks: exit codes, messages, files, and that a network, its ONNX file and its program
# of the hart give the same outputs.
# usage: network_test.sh WEFT WORK_DIR
# shellcheck disable=SC2086  # lists of options are meant to be split
set -u
weft=$1 work=$2
. "$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/expect.sh"
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work" && cd "$work" || exit 1

# ---- bad input
expect 1 'nosuch.onnx' "$weft" sim nosuch.onnx
expect 1 'lenet: error' "$weft" sim lenet
expect 2 'one of minmax, percentile' "$weft" sim resnet18 --size 32 --divisor 8 --calibrate best
expect 2 'takes no --trace' "$weft" sim resnet18 --trace t.trace
expect 2 'has no cycles and so no timeline' "$weft" sim resnet18 --engine ref --timeline t.json
expect 1 'cannot read' "$weft" sim resnet18 --size 32 --divisor 8 --input nosuch.npy
printf 'no array' >bad.npy
expect 1 'input input is f32 \(1, 3, 32, 32\)' "$weft" sim resnet18 --size 32 --divisor 8 --input bad.npy
expect 2 'ends in .elf or .steps' "$weft" compile resnet18 --size 32 --divisor 8 -o out.c

# An array that stores no int32 leaves softmax and norms to the hart.
expect 0 'as the int8 reference' "$weft" sim gpt2-block --divisor 16 --array gemmini-lean

# ---- a network, its file, and its program say the same
network='--size 32 --divisor 8 --seed 3'
expect 0 'as the int8 reference' "$weft" sim resnet18 $network --array dim8 --json sim.json --csv sim.csv --report report.txt
want=$(sed -n 's/^output .*digest //p' out.txt)
expect 0 "digest $want" cat report.txt
expect 0 '"wrong":	0' cat sim.json
expect 0 'QConv,array' cat sim.csv
expect 0 "digest $want" "$weft" sim resnet18 $network --array dim8 --engine ref
expect 0 "digest $want" "$weft" sim resnet18 $network --array dim8 --native-host --no-check
expect 0 '' "$weft" net resnet18 $network -o net.onnx
expect 0 "digest $want" "$weft" sim net.onnx --seed 3 --array dim8
expect 0 '' "$weft" compile net.onnx --seed 3 --array dim8 -o net.elf
expect 0 "digest $want" "$weft" sim net.elf --array dim8
expect 0 'host fill, fill, fill, fill, quantize' "$weft" compile net.onnx --seed 3 --array dim8 --float-ends
expect 2 'exclude each other' "$weft" sim net.onnx --float-ends --int8-ends

# A camera's bytes are int8 and 128: the same image in both forms gives the same bytes, the hart's cycles stand at the ends.
pixels() { head -c 3072 net.onnx; }
image() { # TYPE: an image of 32 x 32 with 3 channels
  printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|$1', 'fortran_order': False, 'shape': (1, 32, 32, 3), }"
}
{ image i1 && pixels; } >signed.npy
{ image u1 && pixels | LC_ALL=C tr '\000-\177\200-\377' '\200-\377\000-\177'; } >bytes.npy
expect 0 'at ends    0,' "$weft" sim resnet18 $network --array dim8 --input-type int8 --input signed.npy
want_pixels=$(sed -n 's/^output .*digest //p' out.txt)
expect 0 'at ends    [1-9]' "$weft" sim resnet18 $network --array dim8 --input-type uint8 --input bytes.npy
cp out.txt pixels.txt && expect 0 "digest $want_pixels" cat pixels.txt
expect 0 'as the int8 reference' "$weft" sim resnet18 $network --array dim8 --input-type uint8 --engine ref
expect 2 'one of int8, uint8' "$weft" sim net.onnx --input-type u8
expect 2 'input-type is for ends of integers' "$weft" sim net.onnx --input-type uint8 --float-ends
expect 2 'input-type is for ends of integers' "$weft" sim net.onnx --input-type uint8 --quality 1
expect 1 'input' "$weft" sim resnet18 $network --input-type uint8 --input signed.npy
expect 1 'signed.npy,signed.npy: error: the network has 1 inputs' "$weft" sim resnet18 $network --array dim8 --input-type int8 --input signed.npy,signed.npy

# ---- zeros in weights: the same network with fewer products, on all ways
expect 1 'blocks:0.25 leaves a quarter' "$weft" net resnet18 --prune blocks:2 -o none.onnx
expect 1 'is not weights:DENSITY' "$weft" sim resnet18 $network --prune rows:0.5
pruned='--size 64 --divisor 2 --seed 3'
expect 0 'as the int8 reference' "$weft" sim resnet18 $pruned --json dense.json
expect 0 'as the int8 reference' "$weft" sim resnet18 $pruned --prune blocks:0.2 --json sparse.json
want_pruned=$(sed -n 's/^output .*digest //p' out.txt)
cycles() { sed -n 's/^\t"cycles":\t\([0-9]*\),*$/\1/p' "$1"; }
[ "$(cycles sparse.json)" -lt $(($(cycles dense.json) * 3 / 4)) ] || { echo "FAILED: zeros take their time" && failed=1; }
bytes() { sed -n 's/^\t"weight_bytes":\t\([0-9]*\),*$/\1/p' "$1"; }
[ "$(bytes sparse.json)" -lt $(($(bytes dense.json) / 2)) ] || { echo "FAILED: zeros take room" && failed=1; }
expect 0 '' "$weft" net resnet18 $pruned --prune blocks:0.2 -o pruned.onnx
expect 0 "digest $want_pruned" "$weft" sim pruned.onnx --seed 3 --engine ref
expect 0 "digest $want_pruned" "$weft" sim pruned.onnx --seed 3 --fuse all
expect 0 'as the int8 reference' "$weft" sim resnet18 $pruned --prune weights:0.02 --array dim4
# As a program; without a seed, where all verbs take the same one.
pruned='--size 32 --divisor 8 --prune blocks:0.2'
expect 0 'as the int8 reference' "$weft" sim resnet18 $pruned
want_pruned=$(sed -n 's/^output .*digest //p' out.txt)
expect 0 '' "$weft" compile resnet18 $pruned -o pruned.elf
expect 0 "digest $want_pruned" "$weft" sim pruned.elf
expect 0 '' "$weft" net resnet18 $pruned -o default.onnx
expect 0 "digest $want_pruned" "$weft" sim default.onnx

# ---- a network that ends earlier, at a tensor or a node
expect 0 'as the int8 reference' "$weft" sim net.onnx --seed 3 --array dim8 --outputs layer2.0.add --json cut.json
expect 0 '"node":	"layer2.0' cat cut.json
expect 1 "no tensor and no node has the name 'nowhere'" "$weft" sim net.onnx --outputs nowhere
expect 2 'not of the form NAME,NAME' "$weft" graph net.onnx --outputs ''
expect 0 'output layer1.0.add' "$weft" graph net.onnx --outputs layer1.0.add

# ---- inputs that are constants: the file says which one, or the command
printf '\010\001\020\001\102\001q\112\004\000\000\000\000' > q.pb # f32 [1], of the name q
expect 1 "a value is given for 'q', which is no input" "$weft" sim net.onnx --values q.pb
expect 1 "a value is given for 'inputs'" "$weft" graph net.onnx --values inputs=q.pb
expect 1 'nowhere.pb' "$weft" graph net.onnx --values nowhere.pb

# ---- quality: layer by layer, ranges from files, nodes in float
expect 0 'layers       dB' "$weft" sim resnet18 $network --array dim8 --quality 1 --json quality.json
expect 0 '"input_sqnr_db":' cat quality.json
# Queries that are scaled behind a gather have the bytes of the gather.
expect 0 '^ +[2-9][0-9]\.[0-9] .* features.1.0.attn.q \(Gather\)' "$weft" sim swin-t --divisor 4 --quality 1 --native-host --no-check --timing-only
expect 1 "no node 'nowhere' that could stay in float" "$weft" sim resnet18 $network --keep-float nowhere
expect 0 'as the int8 reference' "$weft" sim resnet18 $network --array dim8 --keep-float layer1.0.conv1,fc --json keep.json
expect 0 '"in_float":' cat keep.json
expect 2 'a number of dB' "$weft" sim resnet18 $network --quality-at-least good
expect 0 'in float     [0-9]+ nodes: [0-9.]+ dB, without' "$weft" sim resnet18 $network --quality-at-least 30 --engine ref
mkdir pictures empty
for i in 1 2 3; do
  { printf 'P6\n# picture\n8 4\n255\n' && head -c 96 "$weft"; } >pictures/$i.ppm
done
expect 0 'as the int8 reference' "$weft" sim resnet18 $network --array dim8 --calibrate pictures --mean 0.5 --deviation 0.25,0.25,0.3
expect 0 'as the int8 reference' "$weft" sim resnet18 $network --array dim8 --calibrate percentile,pictures --quality 2
expect 1 'has no .npy and no .ppm files' "$weft" sim resnet18 $network --calibrate empty
expect 1 'deviations above 0' "$weft" sim resnet18 $network --calibrate pictures --deviation 0
expect 1 'takes no pictures' "$weft" sim bert-base --seq 4 --divisor 16 --depth 1 --calibrate pictures
printf 'P6 8 4 255\n' >pictures/4.ppm
expect 1 '4.ppm: error: is no binary .ppm picture' "$weft" sim resnet18 $network --calibrate pictures
cp bad.npy empty/
expect 1 'input input is f32' "$weft" sim resnet18 $network --calibrate empty

# ---- one token, whose masks and sums have one element; gates that no step reads
expect 0 'as the int8 reference' "$weft" sim gpt2-block --seq 1 --divisor 32 --depth 1
# Decoding: a cache of keys and values as inputs, on the array and as a program.
decode='--past 9 --divisor 12 --array dim8'
# shellcheck disable=SC2086  # words of options
for net in gpt2-block llama2-7b-block llama3-8b-block; do
  expect 0 'as the int8 reference' "$weft" sim $net $decode
  expect 0 'as the int8 reference' "$weft" sim $net $decode --batch 2 --seq 3 --engine ref
done
expect 1 'no option --past' "$weft" sim bert-base --past 9
# A cache of int4: all bytes, from its program too; what has none, or cannot widen it.
printf 'name: packed\nmesh: {rows: 8, columns: 8}\nload: {packed_int4: true}\n' >packed.yaml
decode='--past 9 --divisor 12 --array packed.yaml --cache int4'
# shellcheck disable=SC2086  # words of options
{
  expect 0 'cache        int4: .* dB, as int8 .* dB' "$weft" sim gpt2-block $decode
  expect 0 'as the int8 reference' "$weft" sim llama3-8b-block $decode --seq 2
  expect 0 '^engine       flow' "$weft" sim gpt2-block $decode --engine flow
  want=$("$weft" sim gpt2-block $decode | sed -n 's/.*present_value, digest \(.*\)/\1/p')
  expect 0 '' "$weft" compile gpt2-block $decode -o decode.elf
  expect 0 "present_value digest $want" "$weft" sim decode.elf --array packed.yaml
}
expect 2 'array dim8 loads no packed int4 \(load.packed_int4\)' "$weft" sim gpt2-block --past 9 --array dim8 --cache int4
expect 2 'one of int8, int4' "$weft" sim gpt2-block --past 9 --cache int2
expect 1 'no input is a cache' "$weft" sim gpt2-block --seq 4 --divisor 12 --array packed.yaml --cache int4
expect 0 '"wrong":.?0' "$weft" bench decode --quick --net gpt2-block --json -
expect 0 'as the int8 reference' "$weft" sim lstm --seq 2 --divisor 32 --depth 1

# ---- rows in the normaliser: on by default where the array has one, the same from its program, off if asked
small='--seq 16 --divisor 4 --depth 1 --seed 3'
expect 2 'one of on, off, auto' "$weft" sim bert-base $small --normaliser maybe
expect 2 'gemmini-default has none that networks can use' "$weft" sim bert-base $small --normaliser on
expect 0 'as the int8 reference' "$weft" sim bert-base $small --array transformer-16 --json unit.json --report unit.txt
# A name that is too long for the table is cut at its front, where names of layers are alike.
grep -qE '^ *[0-9]+ attention\.output\.dense\.MatMul ' out.txt && ! grep -qE '^ *[0-9]+ encoder\.layer\.0\.attention' out.txt || {
  failed=$((failed + 1))
  echo "FAILED: names of bert-base in the table: $(sed -n 5,9p out.txt)"
}
want=$(sed -n 's/^output .*digest //p' out.txt)
expect 0 'normaliser   .*GELU: .* dB, by the hart .* dB; with softmax it would be' cat unit.txt
expect 0 'QGeluUnit' cat unit.json
expect 0 '"hart_sqnr_db":' cat unit.json
expect 0 '' "$weft" compile bert-base $small --array transformer-16 -o unit.elf
expect 0 "digest $want" "$weft" sim unit.elf --array transformer-16
expect 0 ' QSoftmax ' "$weft" sim bert-base $small --array transformer-16 --normaliser off
hart=$(sed -n 's/^output .*digest //p' out.txt)
# auto: the least of the ways is the run, with the bytes of that way.
expect 0 "digest $want" "$weft" sim bert-base $small --array transformer-16 --normaliser auto
expect 0 '\* normaliser' "$weft" sim bert-base $small --array transformer-16 --normaliser auto --timing-only
least=$(sed -n 's/.* \(hart\|array\|normaliser\)  *\([0-9,]*\) cycles.*/\2/p' out.txt | tr -d , | sort -n | head -n 1)
total=$(sed -n 's/^cycles *\([0-9,]*\), .*/\1/p' out.txt | tr -d ,)
[ -n "$least" ] && [ "$(grep -c ' cycles, .* uJ$' out.txt)" = 3 ] && [ "$least" = "$total" ] || {
  failed=$((failed + 1))
  echo "FAILED: the least of the ways takes '$least' cycles, the run '$total'"
}
expect 0 "digest $hart" "$weft" sim bert-base $small --normaliser auto
expect 0 'refused: the array has no normaliser' "$weft" sim bert-base $small --normaliser auto --timing-only
expect 0 'array +refused: steps that are mixed' "$weft" sim bert-base $small --normaliser auto --fuse auto
expect 0 'hart +refused: hart and array at one time' "$weft" sim bert-base $small --normaliser auto --overlap auto
expect 0 '\* normaliser' "$weft" sim bert-base $small --array transformer-16 --normaliser auto --tune-objective energy --timing-only
expect 2 'no effect without trials' "$weft" sim bert-base $small --array transformer-16 --normaliser auto --with flow
expect 0 '"chosen":.?true' "$weft" sim bert-base $small --normaliser auto --json -
expect 0 "digest $hart" "$weft" sim bert-base $small

# By energy, scores and probabilities stay in the scratchpad, through the normaliser.
printf 'name: spad4\nisa: {revision: 2}\nmesh: {rows: 4, columns: 4}\ntypes: {output_bits: 20}\n' >spad4.yaml
printf 'scratchpad: {capacity_kib: 64}\naccumulator: {capacity_kib: 32}\nunits: {normaliser: true}\n' >>spad4.yaml
expect 0 'keeps 2 tensors of .*scaled.i8 .*softmax.i8' "$weft" sim bert-base --seq 24 --divisor 6 --depth 1 --array spad4.yaml --fuse auto --tune-objective energy
grep -q "result  *as the int8 reference's" out.txt || { failed=$((failed + 1)) && echo 'FAILED: probabilities in the scratchpad'; }

# ---- an array that cannot do it says what it lacks
printf 'name: spad\nmesh: {rows: 8, columns: 8}\naccumulator: {execute_writes: false}\n' >spad.yaml
expect 3 "execute unit cannot write to the accumulator" "$weft" sim lstm --seq 2 --divisor 32 --depth 1 --array spad.yaml

# ---- timing alone has the same cycles on the array
cycles=$(sed -n 's/.*"array_cycles":.\([0-9]*\).*/\1/p' sim.json)
expect 0 '' "$weft" sim resnet18 $network --array dim8 --timing-only --native-host --json timing.json
expect 0 "\"array_cycles\":	$(sed -n 's/.*"array_cycles":.\([0-9]*\).*/\1/p' timing.json)" \
  "$weft" sim resnet18 $network --array dim8 --native-host --json -
[ -n "$cycles" ] || failed=$((failed + 1))

expect 0 '' "$weft" sim resnet18 $network --array dim8 --native-host --no-check --timeline timeline.json
expect 0 '^\]\}' tail -n 1 timeline.json

# ---- an input from a file: 1 x 3 x 32 x 32 numbers of f32, all 0
header="{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 32, 32), }"
{
  printf '\223NUMPY\001\000\166\000'
  printf '%-117s\n' "$header"
  head -c 12288 /dev/zero
} >zeros.npy
expect 0 'as the int8 reference' "$weft" sim resnet18 $network --array dim8 --input zeros.npy
expect 0 'quality .* dB' "$weft" sim resnet18 $network --array dim8 --quality 2
expect 0 'at ends    0' "$weft" sim resnet18 $network --array dim8 --int8-ends
want=$(sed -n 's/^output .*digest //p' out.txt)
expect 0 "digest $want" "$weft" sim resnet18 $network --array dim8
expect 0 'at ends    [1-9]' "$weft" sim resnet18 $network --array dim8 --float-ends

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
