#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What each verb uses beyond libweft's header: a table of its symbols that come from the floors below, with those of its
# helpers in cli/, and a list of verbs that use none, which only grows (cli/tests/api_verbs.txt). What all verbs share does
# not count: options (cli/common.c), output (output.c) and the program's frame (main.c).
# usage: verbs_test.sh WEFT OBJECTS MAP LIST
set -eu
weft=$1 objects=$2 map=$3 list=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One pass: symbols of the tool (all others are of other packages), those of libweft, and those of the objects of cli/.
nm --defined-only "$weft" >"$work/own"
nm -A "$objects"/*.c.o >"$work/objects"
cat >"$work/table.awk" <<'AWK'
# Objects that `name` needs, but for the frame, into `seen`.
function close_over(name,    symbol) {
  seen[name] = 1
  for (symbol in needs)
    if (index(needs[symbol], " " name " ") && symbol in where && !(where[symbol] in seen) && where[symbol] !~ frame)
      close_over(where[symbol])
}
function needed(symbol, name) { return index(needs[symbol], " " name " ") > 0 }
# Symbols that the objects of `seen` take from the floors: their count, and how many are of each floor in `of`.
function beyond(    symbol, name, count, floor) {
  split("", of)
  for (symbol in needs) {
    if (!(symbol in own) || symbol in api || symbol in where || symbol ~ /^_/) continue  # _: of linkers
    for (name in seen)
      if (needed(symbol, name)) {
        floor = symbol
        sub(/_.*/, "", floor)
        of[floor]++
        count++
        break
      }
  }
  return count + 0
}
# "hw 13, wf 1"; takes them out of `of`.
function floors(    most, floor, text) {
  for (;;) {
    most = ""
    for (floor in of)
      if (most == "" || of[floor] > of[most] || (of[floor] == of[most] && floor < most)) most = floor
    if (most == "") return text
    text = text (text == "" ? "" : ", ") most " " of[most]
    delete of[most]
  }
}

BEGIN { frame = "^(common|main|output)$" }
part == "own" { own[$3] = 1; next }
part == "api" { if (match($0, /^    weft_[a-z_]*;$/)) api[substr($1, 1, length($1) - 1)] = 1; next }
{
  sub(/^.*\//, "")
  name = $0
  sub(/\.c\.o:.*/, "", name)
  sub(/^[^:]*:/, "")
  names[name] = 1
  if (NF == 2) needs[$2] = needs[$2] " " name " "
  else if ($2 ~ /[A-Z]/) where[$3] = name
}
END {
  for (name in names) {
    if (name !~ /^cmd_/) continue
    split("", seen)
    seen[name] = 1
    mine = beyond()
    close_over(name)
    all = beyond()
    printf "%-16s %6d %13d  %s\n", substr(name, 5), mine, all, floors()
  }
}
AWK
awk -f "$work/table.awk" part=own "$work/own" part=api "$map" part=objects "$work/objects" | sort >"$work/table"

[ -s "$work/table" ] || { echo "$objects has no verbs"; exit 1; }
printf '%-16s %6s %13s  %s\n' verb own "with helpers" floors
cat "$work/table"
awk '$3 == 0 { print $1 }' "$work/table" >"$work/pure"
grep -v '^#' "$list" | sort | diff - "$work/pure" >"$work/diff" || {
  echo "verbs that use weft.h alone are others than in $list:"
  cat "$work/diff"
  exit 1
}
