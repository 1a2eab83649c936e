#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every command that README, docs/ and results/ show exists: its verb, and each of its options in the help of that verb.
# usage: docs_test.sh WEFT SOURCE_DIR WORK_DIR
set -eu
weft=$1 sources=$2 work=$3
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work"
cd "$work"

# One command per line, "FILE<tab>VERB WORDS...": between backquotes or at the start of a line, up to a comment or pipe.
for file in "$sources"/*.md "$sources"/docs/*.md; do
  grep -oE '(^|`)(\./run|(build/release/)?weft) [a-z][^`]*' "$file" |
    sed -E 's/^`?[^ ]+ //; s/ [#|>&;].*//; s/[()]//g' | sed "s|^|${file##*/}	|"
done >commands.txt
for file in "$sources"/results/*.txt; do
  sed -n "2s|^# weft |${file##*/}	|p" "$file"
done >>commands.txt

# The examples of helps.
for verb in $("$weft" --help | sed -n '/^verbs:$/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'); do
  "$weft" "$verb" --help | sed -n "/^examples:\$/,\$s|^  weft |help.$verb	|p"
done >examples.txt
[ "$(wc -l <examples.txt)" -ge 10 ] || { echo "few examples in the helps"; exit 1; }
cat examples.txt >>commands.txt

# `weft bench NAME` has a help of its own.
help_of() {
  case $1 in
    bench) case ${2-} in [a-z]*) name="bench $2" ;; *) name=bench ;; esac ;;
    *) name=$1 ;;
  esac
  text="help.$(echo "$name" | tr ' ' '.')"
  # shellcheck disable=SC2086  # one or two words
  [ -s "$text" ] || "$weft" $name --help >"$text" 2>&1 || return 1
}

failed=0 checked=0
while read -r file verb words; do
  case $verb in *.elf | *.onnx) continue ;; esac
  # shellcheck disable=SC2086  # words are meant to be split
  if ! help_of "$verb" $words; then
    echo "$file: no verb: weft $verb $words"
    failed=$((failed + 1))
    continue
  fi
  checked=$((checked + 1))
  for option in $(printf '%s\n' "$words" | grep -oE '(^| )--?[a-z][a-z0-9-]*' || true); do
    grep -qE -- "(^|[^a-z0-9-])$option([^a-z0-9-]|\$)" "$text" && continue
    echo "$file: weft $verb has no $option: $verb $words"
    failed=$((failed + 1))
  done
done <commands.txt
echo "$checked commands, $failed wrong"
[ "$checked" -ge 100 ] && [ "$failed" = 0 ]
