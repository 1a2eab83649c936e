#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes an empty folder for a test to work in. One that is there is emptied only if this script made it, which a file in
# it says, or if it lies in a build tree: a wrong argument costs nobody a checkout. usage: work_dir.sh DIR
set -eu
dir=$1 mark=.made-by-a-test

# in_build_tree DIR: a folder above it has the cache of CMake.
in_build_tree() {
  above=$(CDPATH='' cd -- "$1/.." && pwd)
  while [ "$above" != / ]; do
    [ ! -f "$above/CMakeCache.txt" ] || return 0
    above=$(dirname -- "$above")
  done
  return 1
}

if [ -e "$dir" ] && [ ! -f "$dir/$mark" ] && [ -n "$(ls -A "$dir")" ] && ! in_build_tree "$dir"; then
  echo "$dir holds files that no test made; remove it by hand, or name another folder" >&2
  exit 1
fi
rm -rf "$dir"
mkdir -p "$dir"
: >"$dir/$mark"
