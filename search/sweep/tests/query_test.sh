#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Questions to a store: conditions, order, failures as rows, the array of the best point, and that nobody writes.
. "$(dirname "$0")/common.sh"
"$weft" sweep "$sources/tiny_sweep.yaml" -o s.sqlite --quiet

rows() { "$weft" query s.sqlite "$@" | tail -n +2; }
# A network with a layer that no array can have has no good point.
code=0
"$weft" query s.sqlite "order by cycles" >none.csv 2>/dev/null || code=$?
[ "$code" = 3 ] && [ ! -s none.csv ] || fail "failed layers only: ends with $code, $(cat none.csv)"

# The layer with dilations that differ has no kernel: a row with the reason, and so no sum for the network.
[ "$(rows "SELECT count(*) FROM point_layer WHERE name = 'lopsided' AND status = 'cannot map' AND reason LIKE '%dilations%'")" -gt 0 ] ||
  fail "no row for the layer without kernel"
# Layers that are alike are measured once.
[ "$(rows "SELECT count(DISTINCT layer) FROM measurement")" = 3 ] || fail "layers that are alike are measured apart"

sed '/lopsided/d' "$sources/tiny.yaml" >tiny.yaml
cp "$sources/tiny_sweep.yaml" good.yaml
"$weft" sweep good.yaml -o good.sqlite --quiet
"$weft" query good.sqlite "dim = 8 order by cycles" --limit 1 --write-array best.yaml >best.csv
[ "$(wc -l <best.csv)" = 2 ] || fail "one row expected: $(cat best.csv)"
"$weft" array check best.yaml >/dev/null || fail "the array of the best point is none"
least=$("$weft" query good.sqlite "SELECT min(cycles) FROM point_network n JOIN array a ON a.hash = n.array WHERE dim = 8" | tail -n 1)
grep -q ",$least," best.csv || fail "not the fastest: $(cat best.csv), least is $least"

# Rows are ordered and the condition holds: as the store's own tables say.
"$weft" query good.sqlite "dim = 8 order by cycles" >eight.csv
[ "$(head -n 1 eight.csv | cut -d, -f8,13)" = "cycles,dim" ] || fail "other columns: $(head -n 1 eight.csv)"
awk -F, 'NR > 1 && ($13 != 8 || $8 < before) { exit 1 } NR > 1 { before = $8 }' eight.csv ||
  fail "not in order, or not of side 8: $(cat eight.csv)"
count=$("$weft" query good.sqlite "SELECT count(*) FROM point_network n JOIN array a ON a.hash = n.array
  WHERE dim = 8 AND n.status = 'good'" | tail -n 1)
[ "$count" -gt 1 ] && [ "$(tail -n +2 eight.csv | wc -l)" = "$count" ] || fail "not the $count points of side 8"

code=0
"$weft" query good.sqlite "cycles < 0" >/dev/null 2>&1 || code=$?
[ "$code" = 3 ] || fail "no rows end with $code"
for text in "cycles <" "SELECT 1; DROP TABLE point" "DELETE FROM point" "SELECT writefile('x', 'y')" "1) UNION SELECT 1 --"; do
  ! "$weft" query good.sqlite "$text" >/dev/null 2>&1 || fail "not refused: $text"
done
! "$weft" query none.sqlite "" >/dev/null 2>&1 || fail "a store that is not there"
# A limit holds whatever the condition is, and is as large as it says; integers keep their digits.
[ "$("$weft" query good.sqlite "1 = 1 --" --limit 1 | wc -l)" = 2 ] || fail "a comment drops the limit"
[ "$("$weft" query good.sqlite "1 = 1 /*" --limit 1 | wc -l)" = 2 ] || fail "a comment drops the limit"
[ "$("$weft" query good.sqlite "" --limit 4294967297 | wc -l)" -gt 2 ] || fail "a limit of 33 bits is one of 32"
"$weft" query good.sqlite "SELECT 9007199254740993 AS n, -9223372036854775807 AS m, 5 AS k" --json digits.json
tr -d '\t\n ' <digits.json | grep -q '"n":9007199254740993,"m":-9223372036854775807,"k":5}' || fail "$(cat digits.json)"

# Stores of other tables, and files that are none.
cp good.sqlite other.sqlite
if command -v sqlite3 >/dev/null; then
  sqlite3 other.sqlite "UPDATE sweep SET value = '999' WHERE key = 'schema'"
  for verb in "query other.sqlite" "report other.sqlite -o other" "sweep good.yaml -o other.sqlite"; do
    # shellcheck disable=SC2086  # words
    ! "$weft" $verb >/dev/null 2>other.err || fail "tables of another version: $verb"
    grep -q "has tables of version 999; this program knows version 4" other.err || fail "$verb: $(cat other.err)"
  done
fi
echo "not a store" >text.sqlite
! "$weft" query text.sqlite "" >/dev/null 2>&1 || fail "a text as store"
! "$weft" sweep good.yaml -o text.sqlite --quiet >/dev/null 2>&1 || fail "a text as store to sweep into"
echo good
