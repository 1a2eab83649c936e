#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `weft search` and `weft bench search`: results, files, and what is refused. usage: search_test.sh WEFT WORK_DIR
set -u
weft=$1
. "$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/expect.sh"
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$2" && cd "$2" || exit 1

# contains FILE PATTERN
contains() { expect 0 "$2" cat "$1"; }

expect 0 '1.5068e\+09 uJ x cycles: the optimum' "$weft" search bert --exact
expect 0 '^bert: 16 x 16 array, scratchpad 108 KiB, accumulator 32 KiB' "$weft" search bert --exact --fix pe=16,acc=32
expect 0 '"edp":.1506' "$weft" search bert --exact --json -
expect 0 '' "$weft" search bert dlrm --exact --quiet -o results
contains results/bert.txt 'mm_4 .* L3\[WIO\] '
contains results/bert.json '"mapping":.*L0\[W\] P'
contains results/dlrm.json '"network":.*"dlrm"'

# An array to take away: what the optimum wants, rounded up to what can be built, on the base that --array gives.
contains results/bert.txt 'can be built from gemmini-default as 128 x 128, scratchpad 256 KiB \(\+124\), accumulator 512 KiB \(\+128\)'
contains results/bert.json '"name":.*"found-bert"'
expect 0 'good' "$weft" array check results/bert.yaml
expect 0 'found-bert' "$weft" array show results/bert.yaml
expect 0 '' "$weft" search dlrm --exact --quiet --array dim4 -o small
contains small/dlrm.txt 'can be built from dim4 as '
expect 1 'dim5' "$weft" search dlrm --exact --array dim5

printf 'name: mine\nlayers:\n  - {name: a, P: 64, K: 64, C: 64}\n' >mine.yaml
expect 0 '^mine: ' "$weft" search mine.yaml --exact --side-max 16 --kib-max 64
sed 's/P: 64/P: x/' mine.yaml >bad.yaml
expect 1 'bad.yaml:3:18: error: P must be a whole number' "$weft" search bad.yaml --exact
expect 1 'one of .*resnet50' "$weft" search resnet51 --exact
expect 3 'no mapping of some layer fits' "$weft" search bert --exact --fix pe=600,acc=1
expect 2 'missing argument' "$weft" search --exact
expect 2 '--fix takes' "$weft" search bert --exact --fix pe=0
expect 2 '--fix takes' "$weft" search bert --exact --fix pes=4
expect 2 '--fix takes' "$weft" search bert --exact --fix pe=4x
expect 2 '--side-max' "$weft" search bert --exact --side-max 7
expect 2 '--constants' "$weft" search bert --exact --constants timeloop
expect 1 'cannot make the folder' "$weft" search dlrm --exact -o mine.yaml/x

# ---- by gradients
expect 0 '1.5[012][0-9]*e\+09 uJ x cycles: found by gradients' "$weft" search bert
expect 0 '^bert: 16 x 16 array, scratchpad 64 KiB, accumulator 32 KiB' "$weft" search bert --fix pe=16,spad=64,acc=32 --budget 20000
expect 0 '"method":.*"descent"' "$weft" search bert --budget 5000 --seed 2 --json -
expect 0 'polished: ' "$weft" search bert --budget 0.1s --objective energy
expect 0 '' "$weft" search bert --quiet --budget 5000 --starts 8 --steps 20 --threads 1 -o found
contains found/bert.txt 'for edp, seed 1: '
contains found/bert.json '"objective":.*"edp"'
expect 3 'no mapping of some layer fits' "$weft" search bert --fix pe=600,acc=1 --starts 1 --steps 1
expect 0 '  [01]\.[0-9]+ mm2 of PEs and memories, .* mW at 500 MHz' "$weft" search bert --max-area 1.5 --clock 500 --budget 20000
expect 0 '"power_mw":' "$weft" search bert --objective area-delay --max-power 900 --budget 20000 --json -
expect 3 'or the bounds on area and power' "$weft" search bert --max-power 0.001 --budget 5000
expect 2 'take numbers above 0' "$weft" search bert --max-area 0
expect 2 'model is paper or machine' "$weft" search bert --simulate --model other
expect 2 'both of them' "$weft" search bert --model machine
expect 2 'take numbers above 0' "$weft" search bert --clock fast
expect 2 '--budget takes' "$weft" search bert --budget 3m
expect 2 '--budget takes' "$weft" search bert --budget 0
expect 2 '--objective is' "$weft" search bert --objective edap
expect 2 '--exact takes no' "$weft" search bert --exact --budget 10s

expect 0 'plain model: [0-9.]+ million evaluations' "$weft" bench search --throughput --seconds 0
expect 0 '"plain_evaluations_per_second":' "$weft" bench search --throughput --seconds 0 --json -

expect 0 'over the tape .* million with gradients' "$weft" bench search --throughput --seconds 0
expect 0 '  random +[0-9.]+e\+[0-9]+ +[0-9.]+ %' "$weft" bench search --nets bert --methods random,descent --seeds 2 --budget 5000 -o rows.csv
contains rows.csv '^bert,descent,1\.[0-9]+e\+09,'
expect 0 '"method":.*"genetic"' "$weft" bench search --nets dlrm --methods genetic --seeds 1 --budget 2000 --json -
expect 0 '  machine-simulated +[0-9.]+e\+[0-9]+ .* 1[0-9.]* ' "$weft" bench search --nets mine.yaml --methods default-tuned,descent --seeds 2 \
  --budget 2000 --simulate --simulations 2 --array dim4 -o simulated.csv
expect 0 '^mine,descent,.*,[0-9.]+$' grep -E '^(network,.*,own_mappings|mine,(default-tuned|descent|machine|machine-simulated),)' simulated.csv
# Runs are kept; an entry that was cut off is made again, and a file of something else is begun anew.
kept="$weft bench search --nets mine.yaml --methods descent --seeds 1 --budget 2000 --simulate --simulations 2 --array dim4 --runs kept"
strip() { sed 's/ [0-9.]*$//' "$1"; } # without processor times
$kept >first.txt || fail "runs were not kept"
cp kept whole
truncate -s -100 kept
$kept >second.txt || fail "runs were not taken"
[ "$(stat -c %s kept)" = "$(stat -c %s whole)" ] || fail "a run that was cut off was not made again"
printf 'something else' >kept
$kept >third.txt || fail "a file of something else was not begun anew"
[ "$(stat -c %s kept)" = "$(stat -c %s whole)" ] || fail "runs were not made again"
[ "$(strip first.txt)" = "$(strip second.txt)" ] && [ "$(strip first.txt)" = "$(strip third.txt)" ] || fail "kept runs differ"
expect 2 '1 to 64 simulations' "$weft" bench search --simulate --simulations 65
expect 0 '^  bert +30 descent ' "$weft" bench search --nets bert --methods descent --seeds 1 --budget 1000 --curve
expect 0 '^bert,1000,published,' "$weft" bench search --nets bert --methods published --seeds 1 --budget 1000 --curve --csv -
expect 1 'no method is named "luck"' "$weft" bench search --methods luck
expect 1 'one of .*resnet50' "$weft" bench search --nets nosuch --methods random
expect 2 'at least 1000 evaluations' "$weft" bench search --budget 10

spaces=--spaces
[ -z "${WEFT_FEW:-}" ] || spaces='' # under the sanitizers
# shellcheck disable=SC2086  # may be nothing
expect 0 '' "$weft" bench model --samples 6 --seed 3 $spaces --quiet --csv samples.csv --json model.json
if [ -n "$spaces" ]; then
  contains model.json '"of":.*"dim4 4 x 8 x 8"'
  contains model.json '"mappings":.*352'
fi
expect 0 '^cycles +6 .*' "$weft" bench model --samples 6 --seed 3
contains samples.csv '^5,(default|random),'
contains model.json '"log_pearson":'
expect 2 '--samples is 1 to' "$weft" bench model --samples 0

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
