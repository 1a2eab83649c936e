#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `weft search --simulate` from end to end: its folder has what a user takes away, each part fits the others, and reports and
# queries read it. $1: weft, $2: the checkout, $3: a directory to work in.
set -eu
weft=$1 root=$2 work=$3
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work"
cd "$work"
fail() {
  echo "FAILED: $1" >&2
  exit 1
}

"$weft" search "$root/search/sweep/tests/tiny.yaml" --simulate --array dim4 2>odd.err && fail "a layer without kernel was accepted"
grep -q "dilations" odd.err || fail "no reason: $(cat odd.err)"

sed '/lopsided/d' "$root/search/sweep/tests/tiny.yaml" >tiny.yaml
"$weft" search tiny.yaml --simulate --array dim4 --side-max 16 --budget 1s --candidates 6 -o out --quiet --json result.json 2>err.txt
for file in array.yaml curve.csv layers.csv report.txt result.json points.sqlite rtl/weft.f rtl/array.yaml \
  mappings/product.map mappings/window.map kernels/product.c kernels/window.c; do
  [ -s "out/tiny/$file" ] || fail "no $file"
done
"$weft" array check out/tiny/array.yaml >/dev/null || fail "the array is none"
"$weft" array diff out/tiny/array.yaml out/tiny/rtl/array.yaml >/dev/null || fail "the RTL is of another array"

# The best in the table is the best in the store, and it is what the array measures again.
best=$("$weft" query out/tiny/points.sqlite "order by edp" --limit 1 --write-array best.yaml | tail -n 1 | cut -d, -f3)
grep -q "\"array_hash\":	\"$best\"" result.json || fail "the best of the store is not in the result"
"$weft" array diff best.yaml out/tiny/array.yaml >/dev/null || fail "the best of the store is another array"
cycles=$("$weft" run "$root/workloads/kernels/gemm.py" --shape M=40,N=32,K=48,scale=0.01,bias=False,relu=False \
  --mapping out/tiny/mappings/product.map --array out/tiny/array.yaml --json - --quiet | sed -n 's/^	"cycles":	\([0-9]*\),$/\1/p')
grep -q "^product,2,61440,[0-9]*,[0-9.]*,[0-9.e+-]*,$cycles," out/tiny/layers.csv || fail "product takes $cycles cycles: $(cat out/tiny/layers.csv)"
[ "$(tail -n +2 out/tiny/curve.csv | wc -l)" -ge 3 ] || fail "a short curve"

# The model of the machine proposes, within an area: the same files, and arrays that keep it but for the base.
"$weft" search tiny.yaml --simulate --model machine --max-area 0.3 --objective area-delay --array dim4 --side-max 16 --budget 1s \
  --candidates 6 -o bound --quiet --json bound.json 2>err.txt
grep -q '"predicted":	[1-9]' bound.json || fail "nothing was predicted"
grep -q '"machine_edp":' bound.json || fail "no figure of the model of the machine"
tail -n +3 bound/tiny/curve.csv | awk -F, '{ if ($4 * $4 * 453.125e-6 + $5 * 2.125e-3 + $6 * 2.28125e-3 > 0.3) exit 1 }' ||
  fail "beyond the area: $(cat bound/tiny/curve.csv)"
kernel=$(sed -n 's/^product,2,61440,[^,]*,[^,]*,[^,]*,\([0-9]*\),.*/\1/p' bound/tiny/layers.csv)
cycles=$("$weft" run "$root/workloads/kernels/gemm.py" --shape M=40,N=32,K=48,scale=0.01,bias=False,relu=False \
  --mapping bound/tiny/mappings/product.map --array bound/tiny/array.yaml --json - --quiet | sed -n 's/^	"cycles":	\([0-9]*\),$/\1/p')
[ "$kernel" = "$cycles" ] || fail "product takes $cycles cycles, not $kernel"
"$weft" search tiny.yaml --simulate --fix pe=8 --array dim4 --budget 1s --candidates 4 -o fixed --quiet 2>err.txt
tail -n +3 fixed/tiny/curve.csv | awk -F, '$4 != 8 { exit 1 }' || fail "another side: $(cat fixed/tiny/curve.csv)"

"$weft" report out/tiny -o page --no-pictures >/dev/null
grep -q '"candidates"' page/index.html || fail "the report has no candidates"
! "$weft" report out -o page2 2>dir.err || fail "a folder without store"
grep -q "points.sqlite" dir.err || fail "$(cat dir.err)"

# Tables: a name that is none, and one that is made, with its command.
! "$weft" bench all --only nothing 2>/dev/null || fail "a table that is none"
"$weft" bench all --only exact -o tables 2>/dev/null
sed -n 2p tables/exact.txt | grep -q "^# weft search resnet50 bert retinanet unet --exact" || fail "no command in the table"
echo good
