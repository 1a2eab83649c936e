#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every example runs as it is shown, in a folder of its own, and keeps files that were changed there. The one on the
# hardware is left to the tests of engine rtl, the one of the hart needs a compiler.
# usage: example_test.sh WEFT
set -eu
weft=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*" && exit 1; }

names=$("$weft" example list | cut -d' ' -f1)
for name in $names; do
  "$weft" example show "$name" | grep '^\$ weft ' >lines.txt || fail "$name shows no lines"
  case $name in
    rtl) continue ;;
    program) command -v riscv64-unknown-elf-gcc >/dev/null || continue ;;
  esac
  "$weft" example run "$name" -o "in-$name" >"$name.txt" 2>"$name.err" || fail "$name: $(tail -n 5 "$name.err")"
  # shellcheck disable=SC2016  # the dollar is what stands in front of a line
  grep '^\$ weft ' "$name.txt" | cmp - lines.txt || fail "$name: runs other lines than it shows"
done
grep -q 'as the oracle' gemm.txt || fail 'gemm was not compared'
[ -s in-sweep/page/index.html ] || fail 'no page'
[ -s in-array/mine-rtl/weft.f ] || fail 'no hardware'

# JSON has the same; a file that was changed stays; mistakes are answered.
"$weft" example list --json - | python3 -c '
import json, sys
found = [e["name"] for e in json.load(sys.stdin)]
assert found == sys.argv[1].split(), found' "$names"
echo '# mine' >>in-gemm/gemm.py
"$weft" example run gemm -o in-gemm --quiet >/dev/null
tail -n 1 in-gemm/gemm.py | grep -q mine || fail 'a changed file was written over'
refuse() {
  want=$1
  shift
  code=0
  "$weft" example "$@" >out.txt 2>&1 || code=$?
  [ "$code" = 2 ] && grep -q "$want" out.txt || fail "example $*: $code, $(cat out.txt)"
}
refuse 'did you mean gemm' run gem
refuse 'list, show or run' start gemm
refuse 'missing argument' run
refuse '\-o is for run' show gemm -o x
refuse 'json is for list' run gemm --json -
refuse 'no NAME' list gemm
# The code of a line that fails is that of the example.
mkdir broken && echo 'kernel?' >broken/gemm.py
code=0
"$weft" example run gemm -o broken >out.txt 2>&1 || code=$?
[ "$code" = 1 ] || fail "a broken kernel: $code"
echo "$(echo "$names" | wc -l) examples"
