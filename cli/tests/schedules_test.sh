#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Schedule stores: what one run tunes another one takes, with the same cycles and right bytes; layers of other sizes and
# other arrays are tuned from it; list, export, import and prune.
# usage: schedules_test.sh WEFT SOURCE_DIR WORK_DIR
set -u
weft=$1 kernels=$2/workloads/kernels work=$3
. "$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/expect.sh"
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work" && cd "$work" || exit 1

# WEFT_FEW: networks as small as show the same, for sanitizers.
net="resnet18 --size 32 --divisor $([ -n "${WEFT_FEW-}" ] && echo 8 || echo 4)"
cycles_in() { sed -n 's/^cycles  *\([0-9,]*\).*/\1/p' "$1" | head -n 1 | tr -d ,; }
cycles_of() { # OPTIONS..
  # shellcheck disable=SC2086
  "$weft" sim $net --timing-only --quiet --report - "$@" 2>err.txt >out.txt || fail "sim $*: $(cat err.txt)"
  cycles_in out.txt
}

# ---- networks
# shellcheck disable=SC2086
expect 1 'there is no such store' "$weft" sim $net --schedules store
plain=$(cycles_of)
tuned=$(cycles_of --tune 6 --schedules store)
[ "$tuned" -lt "$plain" ] || fail "tuned $tuned cycles, the mapper's $plain"
stored=$(cycles_of --schedules store)
[ "$stored" -eq "$tuned" ] || fail "from the store $stored cycles, tuned $tuned"
# shellcheck disable=SC2086
expect 0 'as the int8 reference' "$weft" sim $net --schedules store
other=$(cycles_of --array dim8) && carried=$(cycles_of --array dim8 --tune 2 --schedules store)
[ "$carried" -le "$other" ] || fail "carried over $carried cycles, the mapper's $other"
# shellcheck disable=SC2086
expect 0 '^weft: schedules store: [1-9][0-9]* layers known, 0 mappings carried over' "$weft" sim $net --schedules store

# ---- mixes: engine flow leaves some to engine cycle
net="mobilenetv2 --size 64 --divisor $([ -n "${WEFT_FEW-}" ] && echo 2 || echo 1)"
plain=$(cycles_of)
# shellcheck disable=SC2086
expect 0 'as the int8 reference' "$weft" sim $net --fuse auto --with flow --report -
mixed=$(cycles_in out.txt)
[ "$mixed" -lt "$plain" ] || fail "mixed $mixed cycles, by themselves $plain"

# ---- kernels
gemm="$kernels/gemm.py --shape M=49,N=31,K=70,scale=0.01"
# shellcheck disable=SC2086
expect 0 'result +as the oracle' "$weft" run $gemm --tune 4 --schedules store
# shellcheck disable=SC2086
expect 0 'store: 1 layers known' "$weft" run $gemm --schedules store
# shellcheck disable=SC2086
expect 2 'exclude each other' "$weft" run $gemm --schedules store --mapping store

# ---- the verb
expect 0 'gemm .* P=49 K=31 C=70: gemmini-default, cycles, ' "$weft" schedules list store
expect 0 '"class":' "$weft" schedules list store --json -
expect 0 'weights depth' "$weft" schedules export store
expect 0 'store: ([1-9][0-9]*) of \1 rows taken' "$weft" schedules import new store
expect 0 'store: 0 of ' "$weft" schedules import new store
expect 0 'new: [0-9]+ of [0-9]+ rows removed' "$weft" schedules prune new
expect 0 '^new: 0 of ' "$weft" schedules prune new --other-versions
expect 2 'one of list, export, import, prune' "$weft" schedules drop store
expect 2 'list takes one store' "$weft" schedules list store new
expect 2 'import takes a store and' "$weft" schedules import store
expect 2 'is for prune' "$weft" schedules list store --other-versions
expect 2 'is for list' "$weft" schedules export store --json -
echo none >text
expect 1 'no schedule store' "$weft" schedules list text
expect 1 'no such store' "$weft" schedules list nosuch
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
