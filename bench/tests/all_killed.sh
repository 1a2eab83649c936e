#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `weft bench all` that is killed leaves the tables as they were and nothing beside them, and its command ends too; what an
# older one left is gone at the next start. $1: weft, $2: a directory to work in.
set -eu
weft=$1 work=$2
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work"
cd "$work"
fail() {
  echo "FAILED: $1" >&2
  exit 1
}

mkdir tables
echo old >tables/graph.txt
echo torn >tables/kernels.txt.new
echo mine >tables/notes.txt.new
"$weft" bench all --only graph -o tables 2>all.err &
all=$!
made='' tries=0
while [ -z "$made" ] && [ $((tries += 1)) -lt 600 ]; do
  made=$(pgrep -P "$all" -f "bench graph" || true)
  sleep 0.1
done
[ -n "$made" ] || fail "the command did not start: $(cat all.err)"
kill -9 "$all"
wait "$all" 2>/dev/null || true
[ "$(ls tables)" = "$(printf 'graph.txt\nnotes.txt.new')" ] || fail "left: $(ls tables)"
[ "$(cat tables/graph.txt)" = old ] || fail "a table that is torn: $(cat tables/graph.txt)"
tries=0
while kill -0 "$made" 2>/dev/null && [ $((tries += 1)) -lt 600 ]; do sleep 0.1; done
! kill -0 "$made" 2>/dev/null || fail "the command of a killed run goes on"

# A folder that is none is refused before any work.
! "$weft" bench all --only exact -o all.err 2>odd.err || fail "a file as a folder"
grep -q "all.err: error: cannot be written" odd.err || fail "$(cat odd.err)"
echo good
