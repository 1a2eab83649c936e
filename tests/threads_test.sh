#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What runs in threads and in several processes, under the thread sanitizer: a race ends the program with exit code 66.
# usage: threads_test.sh WEFT SOURCE_DIR WORK_DIR
set -u
weft=$1 root=$2 work=$3
. "$root/cli/tests/expect.sh"
sh "$(dirname -- "$0")/work_dir.sh" "$work" && cd "$work" || exit 1
TSAN_OPTIONS="exitcode=66 halt_on_error=1"
export TSAN_OPTIONS

printf 'name: small\nlayers:\n  - {name: a, P: 64, K: 32, C: 48}\n  - {name: b, P: 24, K: 80, C: 16}\n' >small.yaml
printf 'name: three\nbase: dim4\nparameters: {scratchpad.capacity_kib: [16, 32, 64]}\nnetworks: [small.yaml]\n' >sweep.yaml
expect 0 'found by gradients' "$weft" search small.yaml --threads 4 --budget 2000
expect 0 '' "$weft" search small.yaml --array dim4 --simulate --threads 4 --candidates 3 --quiet
expect 0 '6 measurements, 6 of them now' "$weft" sweep sweep.yaml -o three.sqlite --jobs 3
expect 0 '' "$weft" net resnet18 --size 32 --divisor 16 -o net.onnx --quiet
expect 0 '^network ' "$weft" compile net.onnx --array dim4
expect 0 '' "$weft" sim net.onnx --array dim4 --jobs 4 --quiet
expect 0 '' "$weft" compile "$root/workloads/kernels/gemm.py" --shape M=32,N=32,K=32 --array dim4 --tune 4 --quiet

printf '%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
