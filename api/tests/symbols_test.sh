#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libweft exports exactly what weft.map lists, all of it is declared in the header and described in its page, and the
# library needs no others than it has to.
# usage: symbols_test.sh LIBRARY HEADER MAP PAGE TOOLS EXAMPLE
set -eu
library=$1 header=$2 map=$3 page=$4 tools=$5 example=$6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@@?WEFT_[0-9]+$/, "", $3); print $3 }' | sort >"$work/exported"
sed -n 's/^    \(weft_[a-z_]*\);$/\1/p' "$map" | sort >"$work/listed"
"$tools/cdef.sh" "$header" | tr '\n' ' ' | grep -oE '\bweft_[a-z_]+\(' | tr -d '(' | grep -v '_function$' |
  sort -u >"$work/declared"
[ "$(wc -l <"$work/listed")" -ge 50 ] || { echo "$map lists few names"; exit 1; }
for other in exported declared; do
  diff "$work/listed" "$work/$other" >"$work/diff" || { echo "listed in $map and $other differ:"; cat "$work/diff"; exit 1; }
done
readelf -d "$library" | grep -q 'SONAME.*\[libweft\.so\.1\]' || { echo "the soname is not libweft.so.1"; exit 1; }
"$tools/page.sh" "$header" "$example" | diff "$page" - || { echo "$page: renew it by $tools/page.sh"; exit 1; }
echo "$(wc -l <"$work/listed") names"
