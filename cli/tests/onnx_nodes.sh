#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `weft sim` of all test models of the ONNX project, on the engine with cycles and the hart: at least so many run, and
# every byte is the reference's; all others are refused by a message. None crashes.
#   onnx_nodes.sh WEFT FOLDER LEAST
set -u
weft=$1 folder=$2 least=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ran=0 refused=0 bad=0
for model in "$folder"/node/*/model.onnx "$folder"/pytorch-*/*/model.onnx "$folder"/simple/*/model.onnx; do
  timeout 300 "$weft" sim "$model" --array dim4 --quiet > "$work/out" 2> "$work/err"
  code=$?
  if [ $code -eq 0 ]; then
    ran=$((ran + 1))
  elif [ $code -le 3 ] && [ $code -ne 2 ] && grep -q 'error: ' "$work/err"; then
    refused=$((refused + 1))
  else
    bad=$((bad + 1))
    echo "$model: exit code $code"
    cat "$work/err"
  fi
done
echo "$ran run, $refused refused, $bad wrong"
[ $bad -eq 0 ] && [ $ran -ge "$least" ]
