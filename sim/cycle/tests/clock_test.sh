#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clock_test.sh SOURCE: in the cycle engine time is an argument (sim/cycle/engine.h).
set -eu
cd "$1/sim/cycle"
failed=0

fail() { # fail MESSAGE LINES
  printf '%s:\n%s\n' "$1" "$2" >&2
  failed=1
}

# weft_accel.c and cycle.c alone read the clock.
readers=$(grep -nE '\bc(->|\.)now\b' ./*.c ./*.h ./*.def |
  grep -vE '^\./(weft_accel|cycle)\.c:|^[^:]*:[0-9]*: *//' || true)
[ -z "$readers" ] || fail "a unit reads the engine's clock instead of its argument" "$readers"

# One statement moves it.
writers=$(grep -nE '\bc(->|\.)now *([-+|&^*/%]?=[^=]|\+\+|--)|(\+\+|--)[a-z>.-]*\bc(->|\.)now\b' ./*.c ./*.h)
[ "$(printf '%s\n' "$writers" | wc -l)" -eq 1 ] || fail "more than one place moves the engine's clock" "$writers"

exit $failed
