#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `weft sim` of all test models of the ONNX project, on the engine with cycles and the hart: at least so many run, and
# every byte is the reference's; all others are refused by a message. None crashes.
#   onnx_nodes.sh WEFT FOLDER LEAST [PAGE]
# A model whose shapes depend on values gets these at compile time, as a network has them: the inputs behind the first
# one are constants (--values), or where that is not enough all of them.
#   PAGE      has to be what is printed; `onnx_nodes.sh WEFT FOLDER 0 > PAGE` renews it
#   WEFT_FEW=1          some models of each operator, for sanitizers; four of five have to run, PAGE does not count
#   ONNX_NODES=PATTERN  only the models whose names match; LEAST and PAGE do not count
set -u

files() { find "$1" -name 'input_*.pb' ! -name "$2" | sort | paste -s -d , -; }

# try NAME OPTIONS..: "NAME" if the model runs; ends at a crash. Leaves the message in $work.err.
try() {
  name=$1
  shift
  timeout 300 "$weft" sim "$model" --array dim4 --quiet "$@" > /dev/null 2> "$work.err"
  code=$?
  [ $code -eq 0 ] && echo "$name $model" && exit
  if [ $code -gt 3 ] || [ $code -eq 2 ] || ! grep -q 'error: ' "$work.err"; then
    echo "wrong $model: exit code $code: $(tr '\n' ' ' < "$work.err")"
    exit
  fi
}

if [ "$1" = --one ]; then
  weft=$2 work=$3/$$ model=$4
  try free
  cp "$work.err" "$work.first"
  set=$(dirname "$model")/test_data_set_0
  others=$(files "$set" input_0.pb) all=$(files "$set" none)
  [ -n "$others" ] && try constants --values "$others"
  reason=$work.first
  if grep -qE 'constant|depends on data' "$work.first"; then
    cp "$work.err" "$work.second"
    reason=$work.second
    [ -n "$all" ] && try folded --values "$all"
  fi
  sed -n 's/^.*error: //p' "$reason" | head -n 1 |
    sed -E "s/^node '?[^ ]*'? \(([A-Za-z]+)\)( cannot be lowered)?: /refused \1 | /; t named; s/^/refused - | /; :named
      s/(input|tensor) '?[^ ]*'?(:| is| has)/\1\2/"
  exit
fi

# All, or the first of each operator and every tenth of the others.
choose() {
  if [ -z "${WEFT_FEW:-}" ]; then cat; else awk -F/ '{ split($(NF - 1), word, "_") } !seen[word[2]]++ || NR % 10 == 0'; fi
}

weft=$1 folder=$2 least=$3 page=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for model in "$folder"/node/*/model.onnx "$folder"/pytorch-*/*/model.onnx "$folder"/simple/*/model.onnx; do
  echo "$model"
done | grep -E "${ONNX_NODES:-.}" | choose | xargs -P 2 -I '{}' sh "$0" --one "$weft" "$work" '{}' > "$work/all"

count() { grep -c "^$1 " "$work/all"; }
{
  echo '# ONNX models in `weft sim`'
  echo
  echo 'Written by `cli/tests/onnx_nodes.sh build/release/weft /usr/share/libonnx-testdata/data 0'
  echo '> docs/onnx-sim.md`: the models of the ONNX project'"'"'s tests (opset 1 to 17) as programs of the array'
  echo 'and the hart, every byte as the reference'"'"'s. Where shapes depend on values, `--values` gives them at'
  echo 'compile time.'
  echo
  echo '| what becomes of a model | models |'
  echo '|---|---|'
  echo "| it runs as it is | $(count free) |"
  echo "| it runs, the inputs behind the first one are constants | $(count constants) |"
  echo "| all inputs decide a shape: with their values it is a constant | $(count folded) |"
  echo "| it is refused | $(count refused) |"
  echo
  echo 'What is refused, by operator:'
  echo
  echo '| operator | reason | models |'
  echo '|---|---|---|'
  sed -n 's/^refused //p' "$work/all" | sort | uniq -c | sort -k1,1nr -k2 | sed -E 's/^ *([0-9]+) (.*)$/| \2 | \1 |/'
} > "$work/page"
cat "$work/page"
grep '^wrong ' "$work/all" >&2
ran=$(($(count free) + $(count constants) + $(count folded)))
echo "$ran run, $(count refused) refused, $(count wrong) wrong" >&2
[ "$(count wrong)" -eq 0 ] || exit 1
[ -z "${WEFT_FEW:-}" ] || { [ $ran -ge $((($(wc -l < "$work/all") * 8) / 10)) ]; exit; }
[ -n "${ONNX_NODES:-}" ] || { [ $ran -ge "$least" ] && { [ -z "$page" ] || diff "$page" "$work/page"; }; }
