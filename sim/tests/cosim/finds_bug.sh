#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A planted bug must be found, shrunk to a handful of commands, and kept as a trace that ref replays: fails otherwise.
#   finds_bug.sh SIM_COSIM WEFT DIRECTORY
set -eu
cosim=$1 weft=$2 dir=$3
sh "$(dirname -- "$0")/../../../tests/work_dir.sh" "$dir"
if "$cosim" --engine faulty --array dim4 --count 200 --out "$dir" > "$dir/log"; then
  echo "the planted bug was not found" && exit 1
fi
cat "$dir/log"
commands=$(sed -n 's/^ *shrunk to \([0-9]*\) commands.*/\1/p' "$dir/log")
[ "$commands" -le 16 ] || { echo "shrunk to $commands commands only" && exit 1; }
grep -c '^compute_accumulated' "$dir"/*.trace | grep -qx 1 || { echo "more than one compute_accumulated is left" && exit 1; }
"$weft" sim "$dir"/*.trace --array "$dir"/*.yaml --quiet
