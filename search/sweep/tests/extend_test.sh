#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A store whose text has changed: what was measured stays, what is new is measured, and what a reader sees is a fresh sweep of
# the new text. What measurements depend on cannot change.
# shellcheck source=search/sweep/tests/common.sh
. "$2/common.sh"
sed '/lopsided/d' "$sources/tiny.yaml" >tiny.yaml
sed 's/name: tiny/name: more/; s/C: 16/C: 32/' tiny.yaml >more.yaml
cat >first.yaml <<'END'
parameters: {load.queue: [2, 4], scratchpad.capacity_kib: [64, 128]}
networks: [tiny.yaml]
END
sed 's/\[2, 4\]/[4, 8, 16]/; s/tiny.yaml/more.yaml, tiny.yaml/' first.yaml >second.yaml
json() { sed -n 's/.*"'"$1"'":[^0-9]*\([0-9]*\).*/\1/p' "$2" | head -n 1; }
# All that readers see of the points of a store, without places and times.
seen() {
  "$weft" query "$1" "SELECT point, network, name, count, array, status, reason, cycles, energy_pj, mapping, program_digest
    FROM point_layer ORDER BY point, network, position"
  "$weft" query "$1" "SELECT * FROM point ORDER BY id"
}
"$weft" sweep first.yaml -o s.sqlite --quiet --json first.json
cp s.sqlite before.sqlite

! "$weft" sweep second.yaml -o s.sqlite --quiet 2>err.txt || fail "another text was taken without --extend"
grep -q -- '--extend' err.txt || fail "no hint: $(cat err.txt)"
"$weft" sweep second.yaml -o s.sqlite --extend --quiet --json extended.json
"$weft" sweep second.yaml -o fresh.sqlite --quiet --json fresh.json
seen s.sqlite >a.txt
seen fresh.sqlite >b.txt
cmp a.txt b.txt || fail "an extended store is not a fresh one"
all=$(json measurements fresh.json) new=$(json measured_now extended.json)
[ "$(json 'done' extended.json)" = "$all" ] || fail "not all is measured: $(cat extended.json)"
[ "$new" -gt 0 ] && [ "$new" -lt "$all" ] || fail "measured $new of $all"
# What the first text measured is there as it was; the new text does not ask for all of it.
rows="SELECT array, layer, cycles, wall_seconds, version FROM measurement ORDER BY array, layer"
"$weft" query before.sqlite "$rows" >old.txt
"$weft" query s.sqlite "$rows" >now.txt
[ "$(grep -cxFf old.txt now.txt)" = "$(wc -l <old.txt)" ] || fail "measurements were lost or made again"
[ $(($(wc -l <now.txt) - 1)) -gt "$all" ] || fail "what the new text does not ask for was dropped"

# Back again: nothing is measured, and no flag is needed for the same text.
"$weft" sweep first.yaml -o s.sqlite --extend --quiet --json again.json
[ "$(json measured_now again.json)" = 0 ] || fail "measured twice: $(cat again.json)"
"$weft" sweep first.yaml -o s.sqlite --quiet --json again.json
seen s.sqlite >a.txt
seen before.sqlite >b.txt
cmp a.txt b.txt || fail "the way back leads elsewhere"
"$weft" report s.sqlite -o page --no-pictures --quiet

refuse() {
  ! "$weft" sweep "$2" -o s.sqlite --extend --quiet 2>err.txt || fail "$2 was taken"
  grep -q "$1" err.txt || fail "$2: $(cat err.txt)"
  seen s.sqlite | cmp - a.txt || fail "a refusal changed the store"
}
{ cat second.yaml && echo 'mapping: {tune: 2}'; } >tuned.yaml
refuse 'another choice of mappings' tuned.yaml
cp "$sources/../../../hw/tech/180nm.yaml" tech.yaml
{ cat second.yaml && echo 'technology: tech.yaml'; } >other.yaml
refuse 'another technology' other.yaml

# What a time limit ended is tried again; a failure that is one stays.
python3 - <<'END'
import sqlite3
with sqlite3.connect("s.sqlite") as db:
    rows = db.execute("SELECT array, layer FROM measurement WHERE status = 'good' LIMIT 2").fetchall()
    for row, status in zip(rows, ("timeout", "cannot map")):
        db.execute("UPDATE measurement SET status = ?, reason = 'said so', cycles = NULL WHERE array = ? AND layer = ?", (status, *row))
END
"$weft" sweep second.yaml -o s.sqlite --extend --quiet --json again.json
"$weft" sweep first.yaml -o s.sqlite --extend --quiet --json last.json
[ $(($(json measured_now again.json) + $(json measured_now last.json))) = 1 ] || fail "tried again: $(cat again.json last.json)"
"$weft" query s.sqlite "SELECT status FROM measurement WHERE reason = 'said so'" >said.txt
[ "$(tail -n +2 said.txt)" = 'cannot map' ] || fail "said: $(cat said.txt)"
echo "$new of $all measured after the text changed"
