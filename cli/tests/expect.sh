# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by tests of the command line: counts in `passed` and `failed`. Runs in a directory that the test owns.
passed=0 failed=0

# expect CODE PATTERN COMMAND...: the exit code, and a pattern that stdout or stderr must contain ('' = any).
expect() {
  code=$1 pattern=$2
  shift 2
  "$@" >out.txt 2>err.txt </dev/null
  got=$?
  if [ $got -ne "$code" ] || { [ -n "$pattern" ] && ! cat out.txt err.txt | grep -qE -- "$pattern"; }; then
    failed=$((failed + 1))
    printf 'FAILED: %s\n  exit code %s, expected %s; expected to see: %s\n' "$*" "$got" "$code" "$pattern"
    sed 's/^/  | /' out.txt err.txt | head -20
  else
    passed=$((passed + 1))
  fi
}

# fail TEXT: what a test found out by itself.
fail() {
  failed=$((failed + 1))
  printf 'FAILED: %s\n' "$1"
}
