#!/bin/sh
# house_test.sh SOURCE LIBRARY: what the text of the cycle engine and the names in its library have to keep to.
set -eu
library=$2
cd "$1/sim/cycle"
failed=0

fail() { # fail MESSAGE LINES
  printf '%s:\n%s\n' "$1" "$2" >&2
  failed=1
}

# Time is an argument: weft_accel.c and cycle.c alone read the clock.
readers=$(grep -nE '\bc(->|\.)now\b' ./*.c ./*.h ./*.def 2>/dev/null | grep -vE '^\./(weft_accel|cycle)\.c:|^[^:]*:[0-9]*: *//' || true)
[ -z "$readers" ] || fail "a unit reads the engine's clock instead of its argument" "$readers"

# One statement moves it.
writers=$(grep -nE '\bc(->|\.)now *([-+|&^*/%]?=[^=]|\+\+|--)|(\+\+|--)[a-z>.-]*\bc(->|\.)now\b' ./*.c ./*.h)
[ "$(printf '%s\n' "$writers" | wc -l)" -eq 1 ] || fail "more than one place moves the engine's clock" "$writers"

# Exported names say their room.
names=$(nm --defined-only "$library" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ {print $3}' | sort -u)
[ -n "$names" ] || fail "no names in the library" "$library"
others=$(printf '%s\n' "$names" | grep -vE '^(sim_)?cycle_|^__' || true)
[ -z "$others" ] || fail "exported names without the prefix cycle_" "$others"

exit $failed
