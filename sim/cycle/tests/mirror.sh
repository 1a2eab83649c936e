#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mirror.sh SOURCE [--write]: the table "File by file" of docs/cycle-engine.md against the folders it is about. Every file
# of sim/cycle and every module of hw/rtl has one row, every file of a row exists, and the lines of a row are right to a
# quarter or twenty. With --write the lines are set.
set -eu
cd "$1"
page=docs/cycle-engine.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The files that a cell of the table names; a C file stands for the header of its name, too.
files_of() {
  for name in $(printf '%s' "$1" | tr -d '`,'); do
    case $name in
      *.c)
        echo "sim/cycle/$name"
        header=sim/cycle/${name%.c}.h
        [ ! -e "$header" ] || echo "$header"
        ;;
      *.h) echo "sim/cycle/$name" ;;
      *) if [ -e "hw/rtl/cells/$name" ]; then echo "hw/rtl/cells/$name"; else echo "hw/rtl/$name"; fi ;;
    esac
  done
}

lines_of() { # lines_of CELL: nothing if it names no file
  files=$(files_of "$1")
  [ -z "$files" ] || echo "$files" | xargs cat | wc -l
}

awk '/^## / { inside = $0 == "## File by file" } inside && /^\| `/' "$page" >"$work/rows"
[ -s "$work/rows" ] || { echo "$page has no table of files" >&2 && exit 1; }
while IFS='|' read -r _ c c_lines sv sv_lines only _; do
  c_now=$(lines_of "$c") sv_now=$(lines_of "$sv")
  files_of "$c $sv" >>"$work/files"
  printf '%s|%s|%s\n%s|%s|%s\n' "$c" "$c_lines" "$c_now" "$sv" "$sv_lines" "$sv_now" >>"$work/numbers"
  printf '|%s| %s |%s| %s |%s|\n' "$c" "$c_now" "$sv" "$sv_now" "$only" | sed 's/|  |/| |/g' >>"$work/new"
done <"$work/rows"

if [ "${2:-}" = --write ]; then
  awk -v new="$work/new" '
    /^## / { inside = $0 == "## File by file" }
    inside && /^\| `/ { getline < new }
    { print }' "$page" >"$work/page"
  cp "$work/page" "$page"
  exit 0
fi

find sim/cycle hw/rtl -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 -name '*.sv' | sort >"$work/there"
sort "$work/files" >"$work/named"
{
  uniq -d "$work/named" | sed 's/$/ has two rows/'
  uniq "$work/named" | comm -13 - "$work/there" | sed 's/$/ has no row/'
  while read -r file; do [ -e "$file" ] || echo "$file does not exist"; done <"$work/named"
  awk -F'|' '{
    off = $2 > $3 ? $2 - $3 : $3 - $2
    if (off > 20 && off * 4 > $3) print $1 "has " $3 " lines, the page says" $2 }' "$work/numbers"
} >"$work/wrong"
[ ! -s "$work/wrong" ] || { echo "$page, File by file:" && cat "$work/wrong" && exit 1; } >&2
