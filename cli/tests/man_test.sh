#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The manual page has every verb with every option of its help, and only these; the version is that of the tool.
# usage: man_test.sh WEFT PAGE VERSION WORK_DIR
set -eu
weft=$1 page=$2 version=$3 work=$4
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work"
cd "$work"

# By the first word of each line of the list, where the page's generator reads it with sed.
names() { awk '/^(verbs|benches):$/ { list = 1; next } NF == 0 { list = 0 } list { print $1 }'; }
options() { sed -n '/^options:$/,$s/^  \(--*[a-z][a-z0-9-]*\) .*/\1/p' | sort; }

# Sections of the page, "VERB: OPTION OPTION ..", as the helps have them.
{
  for verb in $("$weft" --help | names); do
    echo "$verb: $("$weft" "$verb" --help | options | tr '\n' ' ')"
    [ "$verb" = bench ] || continue
    for bench in $("$weft" bench --help | names); do
      echo "bench $bench: $("$weft" bench "$bench" --help | options | tr '\n' ' ')"
    done
  done
} >help.txt
[ "$(wc -l <help.txt)" -ge 25 ] || { echo "few verbs in the help"; exit 1; }

sed 's/\\-/-/g' "$page" | awk '
  /^\.SS weft / { name = $3 ($3 == "bench" && $4 ~ /^[a-z]/ ? " " $4 : "") }
  /^\.SH / { name = "" }
  name != "" && /^\.B --?[a-z]/ { print name "\t" $2 }' >page.options
while IFS=: read -r verb options; do
  sed -n "s/^$verb	//p" page.options | sort | tr '\n' ' ' | sed 's/ $//' >of.page
  echo "$options" | sed 's/^ *//; s/ *$//' | tr -d '\n' >of.help
  cmp -s of.page of.help || { echo "weft $verb: page '$(cat of.page)', help '$(cat of.help)'"; exit 1; }
done <help.txt

grep -q "^.TH WEFT 1 \"\" \"weft $version\"" "$page" || { echo "the page lacks version $version"; exit 1; }
"$weft" --version | grep -qE "^weft $version \\([0-9a-f]{12}\\+?\\)\$|^weft $version \\(unknown\\)\$" || {
  echo "the tool says: $("$weft" --version)"
  exit 1
}
# Without groff the layout is not looked at.
! command -v groff >/dev/null || [ -z "$(groff -man -Tutf8 -ww -z "$page" 2>&1)" ] || { echo "groff warns"; exit 1; }
echo "$(wc -l <help.txt) verbs and benches, $(wc -l <page.options) options"
