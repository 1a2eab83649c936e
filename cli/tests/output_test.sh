#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Results that cannot be written are errors, at once where the work is long, and nothing leaves a half file.
# usage: output_test.sh WEFT SOURCE_DIR WORK_DIR
set -u
weft=$1 root=$2 work=$3
. "$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/expect.sh"
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work" && cd "$work" || exit 1

# ---- inputs
gemm="$root/workloads/kernels/gemm.py" shape=M=16,N=16,K=16
"$weft" net lstm --divisor 16 --seq 2 -o net.onnx --quiet && "$weft" net lstm --divisor 16 --seq 2 --layers net.yaml --quiet &&
  "$weft" compile "$gemm" --shape $shape --array dim4 -o gemm.elf --quiet &&
  "$weft" compile "$gemm" --shape $shape --array dim4 -o gemm.trace --quiet || exit 1
printf 'name: small\nbase: dim4\nparameters: {scratchpad.capacity_kib: [16]}\nnetworks: [net.yaml]\n' >sweep.yaml
"$weft" sweep sweep.yaml -o store.sqlite --quiet || exit 1
printf 'arrays: [dim4]\nnetworks: [net.yaml]\ncompress: [{channel: [0.5]}]\n' >study.yaml
"$weft" run "$gemm" --shape $shape --array dim4 --tune 2 --schedules schedules --quiet || exit 1

# ---- stdout is full: each verb, and most of their ways to print
full() {
  "$weft" "$@" >/dev/full 2>err.txt </dev/null
  got=$?
  if [ $got -ne 1 ] || ! grep -q 'cannot write' err.txt; then
    failed=$((failed + 1))
    printf 'FAILED: weft %s >/dev/full\n  exit code %s, expected 1 and "cannot write"\n' "$*" "$got"
    sed 's/^/  | /' err.txt | head -5
  else
    passed=$((passed + 1))
  fi
  tested="$tested $1"
}
tested=
full --help
full --version
full compile "$gemm" --shape $shape --array dim4 --print-mapping
full compile "$gemm" --shape $shape --array dim4 --dump-after lower
full compile net.onnx --array dim4
full run "$gemm" --shape $shape --array dim4
full run "$gemm" --shape $shape --array dim4 --quiet --json -
full sim gemm.elf --array dim4
full sim gemm.elf --array dim4 --report - --quiet
full sim net.onnx --array dim4
full sim net.onnx --array dim4 --csv - --quiet
full sweep sweep.yaml --plan
full sweep sweep.yaml -o store.sqlite
full study study.yaml --plan
full study study.yaml -o study
full study study.yaml -o study --quiet --json -
full query store.sqlite
full schedules list schedules
full query store.sqlite --json -
full example list
full report store.sqlite -o report --no-pictures
full crosscheck net.yaml --array dim4
full check gemm.trace --array dim4
full diff-engines gemm.trace --array dim4 --engines cycle,cycle
full bench --list
full bench model --help
full bench graph lstm --divisor 16
full search net.yaml --budget 500
full rtl dim2 -o rtl
full net --list
full net lstm --divisor 16 --seq 2 --layers - --quiet
full array list
full array show dim2
full array params
full array diff dim2 dim4
full graph net.onnx
full graph net.onnx --json - --quiet
full isa table
full disasm gemm.elf
for verb in $("$weft" --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do
  case " $tested " in
    *" $verb "*) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)) && printf 'FAILED: no test of weft %s with a full stdout\n' "$verb" ;;
  esac
done
# A verb that prints nothing needs no stdout.
"$weft" array check dim2 --quiet >&- 2>err.txt || { failed=$((failed + 1)) && cat err.txt; }

# ---- files that cannot be written are refused before long work
long="$root/workloads/layers/resnet50.yaml"
at_once() { expect 1 'nowhere.*(cannot|unable)' timeout 10 "$weft" "$@"; }
at_once search "$long" --budget 600s -o nowhere/deep
at_once search "$long" --budget 600s --json nowhere/x.json
at_once search "$long" --simulate -o nowhere/deep
at_once sweep sweep.yaml -o nowhere/x.sqlite
at_once study study.yaml -o nowhere/deep
at_once study study.yaml --csv nowhere/x.csv
at_once sim resnet50 --json nowhere/x.json
at_once sim resnet50 --csv nowhere/x.csv
at_once sim resnet50 --report nowhere/x.txt
at_once sim resnet50 --report nowhere/page
at_once sim resnet50 --timeline nowhere/x.json
at_once sim gemm.elf --array dim4 --report nowhere/x.txt
at_once compile resnet50 -o nowhere/x.elf
at_once compile "$gemm" --shape M=8192,N=8192,K=8192 -o nowhere/x.trace
at_once net bert-base -o nowhere/x.onnx
at_once bench networks --csv nowhere/x.csv

# ---- what fails or is killed leaves the file of before
echo before >old
expect 1 'cannot write' "$weft" sim net.onnx --array dim4 --quiet --csv /dev/full
for option in --timeline --csv --json; do
  expect 1 'nosuch' "$weft" sim nosuch.onnx $option old
done
cp old text.txt
expect 1 'nosuch' "$weft" sim nosuch.onnx --report text.txt
cmp old text.txt || failed=$((failed + 1))
expect 1 'old: .*this is a file' "$weft" sim net.onnx --array dim4 --report old
expect 1 'cannot make the folder' "$weft" sim net.onnx --array dim4 --quiet --report /dev/full.txt/x
expect 1 'nosuch' "$weft" sim nosuch.elf --trace old --engine ref
"$weft" sim resnet50 --array dim4 --timeline old --quiet >out.txt 2>&1 &
pid=$!
sleep 1
kill -9 $pid
wait $pid 2>kill.txt
if [ "$(cat old)" = before ] && [ "$(find . -name 'old*' | wc -l)" -eq 1 ]; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAILED: a failed or killed run changed its output"
fi

printf '%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
