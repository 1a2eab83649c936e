#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A sweep that is killed again and again ends with the same store as one that is not; nothing is measured twice. A store
# that is whole is compared, and the next kills begin another. With a number as fourth argument, so many kills; 20
# otherwise.
. "$(dirname "$0")/common.sh"
write_sweep
kills=${4:-20}

"$weft" sweep sweep.yaml -o whole.sqlite --quiet
findings whole.sqlite >whole.txt
total=$("$weft" query whole.sqlite "SELECT count(*) AS n FROM measurement" | tail -n 1)
[ "$total" -gt 40 ] || fail "only $total measurements"

# How long a run takes here, in milliseconds, to kill within it.
start=$(date +%s%N)
"$weft" sweep sweep.yaml -o time.sqlite --quiet
duration=$((($(date +%s%N) - start) / 1000000))

# The killed store, gone on with to its end, is that of an uninterrupted sweep.
compare() {
  "$weft" sweep sweep.yaml -o killed.sqlite --quiet
  findings killed.sqlite >killed.txt
  cmp whole.txt killed.txt || fail "kill $done: the store differs from that of an uninterrupted sweep"
}

seed=$$
done=0
stores=1
while [ "$done" -lt "$kills" ]; do
  seed=$(((seed * 1103515245 + 12345) % 2147483648))
  wait=$(((seed >> 8) % (duration / 4 + 20)))
  "$weft" sweep sweep.yaml -o killed.sqlite --quiet &
  pid=$!
  sleep "$(printf '%d.%03d' $((wait / 1000)) $((wait % 1000)))"
  kill -9 "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  done=$((done + 1))
  if [ -s killed.sqlite ]; then
    # A store that was killed before its tables were there has none.
    "$weft" query killed.sqlite "SELECT array, layer, policy, wall_seconds FROM measurement" >now.txt 2>/dev/null || continue
    # What an earlier run measured is still there, as it was measured then.
    [ ! -f before.txt ] || [ "$(sort before.txt now.txt | uniq -d | wc -l)" -eq "$(wc -l <before.txt)" ] ||
      fail "kill $done: a measurement is lost or was made again"
    mv now.txt before.txt
    if [ "$(tail -n +2 before.txt | wc -l)" = "$total" ] && [ "$done" -lt "$kills" ]; then
      compare
      rm -f killed.sqlite* before.txt
      stores=$((stores + 1))
    fi
  fi
done
compare

# Again: there is nothing left to do.
"$weft" sweep sweep.yaml -o killed.sqlite --quiet --json again.json
grep -q '"measured_now":	0' again.json || fail "measured again: $(cat again.json)"

# An interrupt leaves a clean store and a hint; what is under way is finished. The store is there once interrupts are
# heard, and the layers of this sweep take far longer together than what comes between.
cat >wide.yaml <<'END'
name: wide
layers:
  - {name: product, P: 512, K: 512, C: 512}
END
cat >slow.yaml <<'END'
parameters: {load.queue: {from: 2, to: 64, times: 2}, store.queue: {from: 2, to: 64, times: 2}}
networks: [wide.yaml]
END
"$weft" sweep slow.yaml -o stopped.sqlite --quiet --jobs 1 2>stopped.err &
pid=$!
while [ ! -e stopped.sqlite ] && kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 10 ] || fail "an interrupted sweep ends with $code: $(cat stopped.err)"
grep -q "the same command goes on" stopped.err || fail "no hint: $(cat stopped.err)"
[ ! -e stopped.sqlite-wal ] || fail "the store was not closed"
"$weft" query stopped.sqlite "SELECT count(*) FROM point" >/dev/null || fail "the interrupted store cannot be read"

# Another sweep, or another process, is refused.
sed 's/\[1, 4, 64\]/[4]/' sweep.yaml >other.yaml
! "$weft" sweep other.yaml -o killed.sqlite --quiet 2>other.err || fail "another sweep went on"
grep -q "is the store of another sweep" other.err || fail "$(cat other.err)"
echo "$kills kills, $stores stores of $total measurements: all the same"
