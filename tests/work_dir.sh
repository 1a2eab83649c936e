#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes an empty folder for a test to work in. One that is there is emptied only if this script made it, which a file in
# it says: a wrong argument costs nobody a checkout. usage: work_dir.sh DIR
set -eu
dir=$1 mark=.made-by-a-test
if [ -e "$dir" ] && [ ! -f "$dir/$mark" ] && [ -n "$(ls -A "$dir")" ]; then
  echo "$dir holds files that no test made; remove it by hand, or name another folder" >&2
  exit 1
fi
rm -rf "$dir"
mkdir -p "$dir"
: >"$dir/$mark"
