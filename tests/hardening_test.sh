#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What WEFT_HARDENING promises of a program, read from its headers: position-independent, relocations read-only and all
# of them made at the start, no executable stack, stack protector, checked buffers; and the flags of what is compiled.
# usage: hardening_test.sh PROGRAM COMPILE_COMMANDS
set -u
program=$1 commands=$2 failed=0
headers=$(readelf -hlWd "$program") symbols=$(readelf --dyn-syms -W "$program")

# needs WHAT TEXT PATTERN
needs() {
  printf '%s\n' "$2" | grep -qE -- "$3" && return
  failed=1
  printf 'FAILED: %s: no %s\n' "$program" "$1"
}
needs 'position-independent executable' "$headers" 'Type: +DYN'
needs 'position-independent executable' "$headers" 'FLAGS_1.*PIE'
needs 'read-only relocations' "$headers" 'GNU_RELRO'
needs 'immediate binding' "$headers" 'BIND_NOW|FLAGS.*NOW'
needs 'stack without execution' "$headers" 'GNU_STACK.* RW +0x'
needs 'stack protector' "$symbols" '__stack_chk_fail'
needs 'checked buffers' "$symbols" '__(v?snprintf|memcpy|fprintf|v?fprintf)_chk'

# Of our C sources none is compiled without. Other people's code and what needs its own flags have no line of ours.
ours=$(grep -E '"command": .* -Wvla .*[.]c"' "$commands")
total=$(printf '%s\n' "$ours" | wc -l)
[ "$total" -gt 100 ] || { failed=1 && printf 'FAILED: %s: %s sources\n' "$commands" "$total"; }
for flag in -fstack-protector-strong -D_FORTIFY_SOURCE=; do
  with=$(printf '%s\n' "$ours" | grep -cF -- " $flag")
  [ "$with" -eq "$total" ] || { failed=1 && printf 'FAILED: %s of %s sources have %s\n' "$with" "$total" "$flag"; }
done
exit $failed
