#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# includes_test.sh ROOT: holds the floors of docs/architecture.md. Reads its table `| folder | may include |` and
# compares every include line of sources that are no tests with it. A folder that the table does not know, an include
# that it does not allow, and a permission that no line uses are errors. `weft` is driver/include/weft/.
set -eu
cd "$1"
table=$(mktemp) lines=$(mktemp)
trap 'rm -f "$table" "$lines"' EXIT

# "folder allowed" pairs of the table; a folder may always include itself.
awk -F'|' '
  /^\| folder \| may include \|/ { inside = 1; next }
  inside && !/^\|/ { inside = 0 }
  inside && $2 ~ /`/ {
    gsub(/[` ]/, "", $2)
    print $2, $2
    n = split($3, allowed, /[` ]+/)
    for (i = 1; i <= n; i++) if (allowed[i] != "") print $2, allowed[i]
  }' docs/architecture.md | sort -u >"$table"
[ -s "$table" ] || { echo "docs/architecture.md has no table of floors"; exit 1; }

# "folder included file:line" of every include of a project header.
git ls-files '*.c' '*.h' '*.cpp' '*.inc' | grep -v /tests/ | xargs grep -nE '^#include "[a-z_]+/' |
  sed -E 's|^([a-z_]+)/([^:]*):([0-9]+):#include "([a-z_]+)/.*|\1 \4 \1/\2:\3|' >"$lines"

awk '
  NR == FNR { allowed[$1, $2] = 1; known[$1] = 1; next }
  !($1 in known) { print $3 ": folder " $1 "/ is not in the table of docs/architecture.md"; bad = 1; next }
  !(($1, $2) in allowed) { print $3 ": " $1 "/ may not include " $2 "/"; bad = 1 }
  { used[$1, $2] = 1 }
  END {
    for (pair in allowed) {
      split(pair, part, SUBSEP)
      if (part[1] != part[2] && !(pair in used)) { print part[1] "/ may include " part[2] "/, but does not"; bad = 1 }
    }
    exit bad
  }' "$table" "$lines"
echo "$(wc -l <"$lines") include lines, $(wc -l <"$table") permissions"
