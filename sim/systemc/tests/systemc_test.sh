#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The systemc engine against the others, on whole programs.
# usage: systemc_test.sh same WEFT WORK_DIR ARRAY ELF_DIR NAME...      ref like ref: output, memory, commands, exit code
#        systemc_test.sh clock EVENTS WORK_DIR ARRAY ELF_DIR NAME...   c like cycle: output, every record, cycles
#        systemc_test.sh refuses WEFT WORK_DIR ARRAY PROGRAM_DIR ENGINE ACCELERATOR   bad programs end as on that engine
#        systemc_test.sh cycles EVENTS WORK_DIR ARRAY ELF_DIR NAME...  c, rtl and cycle like rtl in the same
set -u
mode=$1 tool=$2 work=$3
shift 3
passed=0 failed=0
sh "$(dirname -- "$0")/../../../tests/work_dir.sh" "$work" && cd "$work" || exit 1

# agree WHAT A B: the files are equal.
agree() {
  if cmp -s "$2" "$3"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: %s and %s differ\n' "$1" "$2" "$3"
    diff "$2" "$3" | head -10
  fi
}

# must TEXT FILE WHAT: what is compared is not two empty failures.
must() {
  grep -q -- "$1" "$2" && return
  failed=$((failed + 1))
  printf 'FAILED: %s: no "%s"\n' "$3" "$1"
  tail -5 "$2"
}

# The result of a run but for the name of the engine and the time it took.
facts() { grep -vE '"(engine|accelerator|wall_seconds)"' "$1"; }

same() {
  array=$1 programs=$2
  shift 2
  for name; do
    for engine in ref systemc; do
      accelerator=
      [ $engine = systemc ] && accelerator='--accelerator ref'
      # shellcheck disable=SC2086  # two words or none
      "$tool" sim --quiet --engine $engine $accelerator --array "$array" --json $engine.json --trace $engine.trace \
        "$programs/$name.elf" >$engine.out 2>$engine.err
      echo "exit code $?" >>$engine.out
      facts $engine.json >$engine.facts
    done
    must "PASS $name" ref.out "$name"
    must 'exit code 0' ref.out "$name"
    must '"status":.*finished' ref.facts "$name"
    for file in out err facts trace; do agree "$name" ref.$file systemc.$file; done
  done
  # The last one again: as a replay of its trace, and with a hart that runs ahead.
  "$tool" sim --quiet --engine systemc --accelerator ref --array "$array" ref.trace >replay.out 2>&1 ||
    { failed=$((failed + 1)); cat replay.out; }
  "$tool" sim --quiet --engine systemc --accelerator ref --quantum 500 --array "$array" --json quantum.json \
    "$programs/$name.elf" >quantum.out 2>quantum.err
  echo "exit code $?" >>quantum.out
  facts quantum.json >quantum.facts
  for file in out err facts; do agree "$name with a quantum" ref.$file quantum.$file; done
}

refuses() {
  array=$1 programs=$2 engine=$3 accelerator=$4
  for name in fails unknown_funct revision2 bad_field local_range memory_range endless stuck bad_load handled; do
    riscv64-unknown-elf-gcc -march=rv64imafdc -mabi=lp64d -mcmodel=medany -nostdlib -static -Wl,-N,--no-warn-rwx-segments \
      -Wl,--section-start=.text=0x80000000,--section-start=.tohost=0x80001000,--section-start=.bss=0x80002000 \
      -I "$programs" "$programs/$name.S" -o $name.elf || exit 1
    "$tool" sim --quiet --engine "$engine" --array "$array" --max-instructions 100000 $name.elf >alone.$name 2>&1
    echo "exit code $?" >>alone.$name
    "$tool" sim --quiet --engine systemc --accelerator "$accelerator" --array "$array" --max-instructions 100000 \
      $name.elf >systemc.$name 2>&1
    echo "exit code $?" >>systemc.$name
    agree $name alone.$name systemc.$name
  done
  must 'exit code 5' systemc.fails fails
  must 'exit code 7' systemc.unknown_funct unknown_funct
  must 'exit code 7' systemc.bad_field bad_field
  if [ "$array" = gemmini-default ]; then  # on smaller arrays their 16 rows are too many to begin with
    must 'exit code 8' systemc.local_range local_range
    must 'exit code 9' systemc.memory_range memory_range
  fi
  must 'exit code 10' systemc.endless endless
  must 'exit code 6' systemc.bad_load bad_load
  "$tool" sim --engine systemc --accelerator nosuch fails.elf >options 2>&1
  echo "exit code $?" >>options
  must 'no accelerator nosuch' options accelerator
  must 'exit code 3' options accelerator
  "$tool" sim --engine ref --quantum 5 fails.elf >options 2>&1
  must 'engine ref takes no --accelerator and no --quantum' options quantum
}

# The default is c.
clock() {
  array=$1 programs=$2
  shift 2
  for name; do
    "$tool" cycle - 0 "$array" "$programs/$name.elf" >cycle.out
    must "PASS $name" cycle.out "$name"
    must 'status 0' cycle.out "$name"
    "$tool" systemc - 0 "$array" "$programs/$name.elf" >systemc.out
    agree "$name" cycle.out systemc.out
    "$tool" systemc c 300 "$array" "$programs/$name.elf" >quantum.out
    agree "$name with a quantum" cycle.out quantum.out
  done
}

cycles() {
  array=$1 programs=$2
  shift 2
  for name; do
    "$tool" rtl - 0 "$array" "$programs/$name.elf" >rtl.out
    must "PASS $name" rtl.out "$name"
    must '^done [0-9]* of unit' rtl.out "$name"
    must 'status 0' rtl.out "$name"
    "$tool" cycle - 0 "$array" "$programs/$name.elf" >cycle.out
    agree "$name" rtl.out cycle.out
    for accelerator in c rtl; do
      "$tool" systemc $accelerator 0 "$array" "$programs/$name.elf" >systemc.$accelerator
      agree "$name" rtl.out systemc.$accelerator
    done
  done
  "$tool" systemc rtl 300 "$array" "$programs/$name.elf" >quantum.out
  agree "$name with a quantum" rtl.out quantum.out
}

$mode "$@"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
