#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of a network's steps fits the terminal, names what it leaves out, drops what all names begin with, and has
# colours on terminals alone.
# usage: terminal_test.sh WEFT
set -eu
weft=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*" && exit 1; }
escape=$(printf '\033')
unset COLUMNS NO_COLOR
run() { "$weft" sim bert-base --depth 1 --seq 8 --divisor 8 --array dim4 "$@" 2>err.txt; }

run >pipe.txt
head -n 1 pipe.txt | grep -qx 'all names begin with encoder.layer.0.' || fail "prefix: $(head -n 1 pipe.txt)"
grep -q '^ *0 attention.query.MatMul ' pipe.txt || fail 'the prefix is still there'
! grep -q "$escape" pipe.txt || fail 'colours in a pipe'
steps=$(sed '/^network /,$d' pipe.txt | grep -c '^ *[0-9]')
for columns in 200 120 100 80 60; do
  COLUMNS=$columns run >"$columns.txt"
  sed '/^network /,$d' "$columns.txt" >table.txt
  [ "$(grep -c '^ *[0-9]' table.txt)" = "$steps" ] || fail "$columns columns: steps are missing"
  # The columns that are left out are named, and no line is longer than the terminal.
  sed '/^for want of room/d' table.txt >rows.txt
  [ "$(wc -L <rows.txt)" -le "$columns" ] || fail "$columns columns: a line of $(wc -L <rows.txt)"
  for head in step node operator result place cycles 'util %' bytes 'energy uJ' 'waits most for'; do
    grep -q "^step .*$head\|^$head " rows.txt || grep -q "^for want of room without .*$head.*; --wide has all" table.txt ||
      fail "$columns columns: nothing says where $head is"
  done
done
grep -q '^for want of room' 80.txt || fail 'nothing is left out of 80 columns'
COLUMNS=80 run --wide >wide.txt
sed '/^network /,$d' pipe.txt >a.txt
sed '/^network /,$d' wide.txt >b.txt
cmp a.txt b.txt || fail '--wide is not what a pipe gets'

# A terminal: script makes one.
on_terminal() { script -qec "stty cols 90; $*" /dev/null </dev/null; }
TERM=xterm on_terminal "$weft sim resnet18 --size 64 --divisor 8 --array dim4" >terminal.txt
grep -q "$escape\[1mstep" terminal.txt || fail 'no colours on a terminal'
sed "s/$escape\[[0-9;]*[mK]//g; s/\r*$//; s/.*\r//" terminal.txt | sed '/^network /,$d; /^for want/d' >rows.txt
[ "$(wc -L <rows.txt)" -le 90 ] || fail "90 columns: a line of $(wc -L <rows.txt)"
TERM=xterm on_terminal "$weft sim nosuch.onnx" >error.txt || true
grep -q "$escape\[1;31merror:$escape\[0m " error.txt || fail "messages: $(cat error.txt)"
TERM=xterm on_terminal "$weft array show nosuch" >error.txt || true
grep -q "^weft: $escape\[1;31merror:$escape\[0m .*nosuch" error.txt || fail "messages of a session: $(cat error.txt)"
TERM=xterm NO_COLOR=1 on_terminal "$weft sim resnet18 --size 64 --divisor 8 --array dim4" >terminal.txt
! grep -q "$escape\[[0-9;]*m" terminal.txt || fail 'NO_COLOR'

# A question to a store: CSV in a pipe, a table on a terminal.
cp "$(dirname "$0")/../../search/sweep/tests/tiny.yaml" .
cp "$(dirname "$0")/../../search/sweep/tests/tiny_sweep.yaml" sweep.yaml
sed -i '/lopsided/d' tiny.yaml
"$weft" sweep sweep.yaml -o s.sqlite --quiet
ask="$weft query s.sqlite 'order by cycles'"
eval "$ask" >pipe.csv
TERM=dumb on_terminal "$ask --csv" | tr -d '\r' | cmp - pipe.csv || fail '--csv on a terminal is not what a pipe gets'
TERM=dumb on_terminal "$ask" | tr -d '\r' >table.txt
[ "$(wc -L <table.txt)" -le 90 ] || fail "query: a line of $(wc -L <table.txt)"
grep -q '^network *tiny$' table.txt || fail "what all rows have alike: $(cat table.txt)"
for head in $(head -n 1 pipe.csv | tr , ' '); do grep -qw -- "$head" table.txt || [ "$head" = reason ] || fail "query: nothing says where $head is"; done
grep -q '^point .* cycles  *energy_pj' table.txt || fail "query: the figures are not there: $(cat table.txt)"
[ "$(sed '1,/^point /d' table.txt | wc -l)" = "$(($(wc -l <pipe.csv) - 1))" ] || fail "query: rows are missing: $(cat table.txt)"
echo 'tables fit; colours on terminals alone'
