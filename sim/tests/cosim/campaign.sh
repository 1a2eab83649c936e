#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The co-simulation campaign: random programs on every array of the table below, in batches that leave a log each. Started
# again, it goes on where it stopped; what failed is run again. Ends with the totals (DIR/totals-ENGINE) and 1 if anything differs.
#   campaign.sh SIM_COSIM ENGINE AGAINST DIR [PERCENT]
# PERCENT of the programs of the full campaign (100). Models of the hardware are built at first use; what they did is
# remembered in DIR/memo-ARRAY, so the campaign of another engine in the same DIR runs them no more.
set -u
[ $# -ge 4 ] || { sed -n '3,8s/^# //p' "$0"; exit 2; }
cosim=$1 engine=$2 against=$3 dir=$4 percent=${5:-100}
here=$(dirname "$0")/arrays
mkdir -p "$dir" || exit 1

# array, programs of the full campaign, programs of a batch
table="a2-small 1000 50
a2-tile 1000 50
a2-tokens 500 50
a4-tokens 500 50
a4-full 1000 50
a4-chip 1000 50
a4-os 800 50
a4-tiles 1000 50
a8-both 1000 25
a8-lean 800 25
a8-tiles 1000 25
a8-flat 500 25
gemmini-side8 500 25
gemmini-default 500 10
gemmini-chip 500 10
a16-r2 500 10
a32-tiles 500 10"

# Batches take turns: the array's own memory, then another memory and random delays for each program.
batch() {
  array=$1 seed=$2 count=$3 turn=$4
  log=$dir/$engine-$array-$seed.log
  grep -q ', 0 failed$' "$log" 2>/dev/null && return 0
  file=$array
  [ -f "$here/$array.yaml" ] && file=$here/$array.yaml
  latency=
  [ $((turn % 2)) -eq 1 ] && latency='--latency random'
  # shellcheck disable=SC2086
  "$cosim" --engine "$engine" --against "$against" --array "$file" --seed "$seed" --count "$count" $latency \
    --out "$dir" --memo "$dir/memo-$array" >"$log.part" 2>&1
  code=$?
  mv "$log.part" "$log"
  [ $code -eq 0 ] || tail -5 "$log"
  return $code
}

failed=0
turn=0
more=1
# Every array in turn, so that a campaign that is cut short has seen all of them.
while [ $more -eq 1 ]; do
  more=0
  while read -r array programs count; do
    programs=$((programs * percent / 100))
    first=$((turn * count))
    [ $first -lt $programs ] || continue
    more=1
    [ $((first + count)) -le $programs ] || count=$((programs - first))
    batch "$array" $((first + 1)) "$count" "$turn" </dev/null || failed=1
  done <<TABLE
$table
TABLE
  turn=$((turn + 1))
done

cat "$dir/$engine"-*.log | awk '/ programs .* failed$/ {
    programs[$1] += $2; commands[$1] += $4; primitives[$1] += $6; cycles[$1] += $8; failed[$1] += $(NF - 1)
  }
  END {
    printf "%-16s %9s %10s %11s %13s %7s\n", "array", "programs", "commands", "primitives", "cycles", "failed"
    for (a in programs) {
      printf "%-16s %9d %10d %11d %13d %7d\n", a, programs[a], commands[a], primitives[a], cycles[a], failed[a] | "sort"
      p += programs[a]; c += commands[a]; m += primitives[a]; y += cycles[a]; f += failed[a]
    }
    close("sort")
    printf "%-16s %9d %10d %11d %13d %7d\n", "all", p, c, m, y, f
  }' >"$dir/totals-$engine"
cat "$dir/totals-$engine"
exit $failed
