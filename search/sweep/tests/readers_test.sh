#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A store is read while a sweep writes it: query and report see what is there at one time. A second sweep into it is
# refused; readers do not keep the sweep from its end. At rest a store is one file.
. "$(dirname "$0")/common.sh"
cat >wide.yaml <<'END'
name: wide
layers:
  - {name: small, P: 32, K: 32, C: 32}
  - {name: product, P: 512, K: 512, C: 256}
END
cat >slow.yaml <<'END'
name: slow
parameters: {load.queue: {from: 2, to: 64, times: 2}, store.queue: {from: 2, to: 64, times: 2}}
networks: [wide.yaml]
END
count() { "$weft" query s.sqlite "SELECT count(*) FROM measurement" | tail -n 1; }

"$weft" sweep slow.yaml -o s.sqlite --quiet --jobs 1 2>sweep.err &
pid=$!
tries=0
first=0
while [ "${first:-0}" -lt 20 ] && [ "$tries" -lt 2000 ]; do
  tries=$((tries + 1))
  sleep 0.01
  first=$(count 2>query.err)
done
[ "${first:-0}" -ge 20 ] || fail "query during a sweep: $(cat query.err)"
"$weft" query s.sqlite "" >/dev/null || fail "a condition during a sweep"
"$weft" report s.sqlite -o during --no-pictures >/dev/null || fail "report during a sweep"
! "$weft" sweep slow.yaml -o s.sqlite --quiet 2>second.err || fail "a second sweep into the store"
grep -q "another process sweeps into this file" second.err || fail "the second sweep says: $(cat second.err)"
second=$(count)
kill -0 "$pid" 2>/dev/null || fail "the sweep was over before it was read: $first, $second"
[ "$second" -ge "$first" ] || fail "$second measurements after $first"

# A reader that stays is no hindrance.
while kill -0 "$pid" 2>/dev/null; do "$weft" query s.sqlite "" >/dev/null || fail "query during a sweep"; done
wait "$pid" || fail "the sweep that was read: $(cat sweep.err)"
[ "$(count)" = 72 ] || fail "$(count) measurements"
"$weft" sweep slow.yaml -o whole.sqlite --quiet
findings s.sqlite >s.txt
findings whole.sqlite >whole.txt
cmp s.txt whole.txt || fail "reading changed the store"

# Killed, a sweep leaves its log and its lock; the store can be read, and the same sweep goes on.
"$weft" sweep slow.yaml -o killed.sqlite --quiet --jobs 1 &
pid=$!
tries=0
while [ ! -s killed.sqlite-wal ] && [ "$tries" -lt 2000 ]; do
  tries=$((tries + 1))
  sleep 0.01
done
sleep 0.2
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
"$weft" query killed.sqlite "SELECT count(*) FROM measurement" >/dev/null || fail "the killed store cannot be read"
"$weft" sweep slow.yaml -o killed.sqlite --quiet || fail "the killed sweep does not go on"
findings killed.sqlite >killed.txt
cmp killed.txt whole.txt || fail "the killed sweep ends otherwise"
for ending in wal shm lock journal; do
  [ ! -e "whole.sqlite-$ending" ] && [ ! -e "killed.sqlite-$ending" ] || fail "whole.sqlite or killed.sqlite has a -$ending"
done
echo "read at $first and $second of 72 measurements"
