#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What each verb uses beyond libweft's header: a table of its symbols that come from the floors below, with those of its
# helpers in cli/, and a list of verbs that use none, which only grows (cli/tests/api_verbs.txt). What all verbs share does
# not count: options and output (cli/common.c) and the program's frame (main.c).
# usage: verbs_test.sh WEFT OBJECTS MAP LIST
set -eu
weft=$1 objects=$2 map=$3 list=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm --defined-only "$weft" | awk '$2 != "U" { print $3 }' | sort -u >"$work/own"  # not from other packages
sed -n 's/^    \(weft_[a-z_]*\);$/\1/p' "$map" | sort >"$work/api"
for object in "$objects"/*.c.o; do
  name=$(basename "$object" .c.o)
  nm -u "$object" | awk '{ print $2 }' | sort -u >"$work/$name.needed"
  nm --defined-only -g "$object" | awk -v name="$name" '{ print $3, name }'
done | sort >"$work/where"

# Objects of cli/ that one needs, but for the shared ones; and what several take from elsewhere.
frame='^(common|main)$'
closure() {
  todo=$1 done=
  while [ -n "$todo" ]; do
    next=
    for name in $todo; do
      done="$done $name"
      for other in $(join "$work/$name.needed" "$work/where" | awk '{ print $2 }' | sort -u | grep -Ev "$frame" || true); do
        case " $done $todo $next " in *" $other "*) ;; *) next="$next $other" ;; esac
      done
    done
    todo=$next
  done
  echo "$done"
}
beyond() {
  for name in "$@"; do cat "$work/$name.needed"; done | sort -u | comm -12 - "$work/own" | comm -23 - "$work/api" |
    join -v 1 - "$work/where"
}

: >"$work/pure"
printf '%-16s %6s %13s  %s\n' verb own "with helpers" floors
for object in "$objects"/cmd_*.c.o; do
  name=$(basename "$object" .c.o)
  # shellcheck disable=SC2046  # words
  beyond $(closure "$name") >"$work/all"
  beyond "$name" >"$work/mine"
  floors=$(sed 's/_.*//' "$work/all" | sort | uniq -c | sort -rn | awk '{ printf "%s %d, ", $2, $1 }' | sed 's/, $//')
  printf '%-16s %6d %13d  %s\n' "${name#cmd_}" "$(wc -l <"$work/mine")" "$(wc -l <"$work/all")" "$floors"
  [ -s "$work/all" ] || echo "${name#cmd_}" >>"$work/pure"
done
grep -v '^#' "$list" | sort | diff - "$work/pure" >"$work/diff" || {
  echo "verbs that use weft.h alone are others than in $list:"
  cat "$work/diff"
  exit 1
}
