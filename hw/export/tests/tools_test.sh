#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The written files as their users' tools see them, for every built-in array.
# usage: tools_test.sh EXPORT_ALL PARAMS_USER.c WORK_DIR RISCV_GCC VERILATOR [IVERILOG]
set -eu
export_all=$1 user=$2 work=$3 gcc=$4 verilator=$5 iverilog=${6:-}
xmllint=$(command -v xmllint || true) tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
sh "$(dirname -- "$0")/../../../tests/work_dir.sh" "$work"
"$export_all" "$work" >"$work/names" 2>"$work/warnings"

# value FILE SECTION KEY: of the YAML that Weft writes itself, which has one key per line.
value() {
  awk -v section="$2:" -v key="$3:" '/^[a-z]/ { inside = $1 == section } inside && $1 == key { print $2 }' "$1"
}
flag() { [ "$(value "$@")" = true ] && echo 1 || echo 0; }
derived() { grep -o "\"$2\":[[:space:]]*[0-9]*" "$1" | grep -o '[0-9]*$'; }

check() {
  dir=$work/$1 yaml=$work/$1/array.yaml json=$work/$1/array.json
  expect="-DEXPECT_DIM=$(derived "$json" dim) -DEXPECT_SP_ROWS=$(derived "$json" sp_rows)
    -DEXPECT_ACC_ROWS=$(derived "$json" acc_rows) -DEXPECT_FULL_READS=$(flag "$yaml" accumulator full_reads)
    -DEXPECT_NARROW_READS=$(flag "$yaml" accumulator narrow_reads)
    -DEXPECT_PIXEL_REPEAT=$(flag "$yaml" units pixel_repeat) -DEXPECT_NORMALISER=$(flag "$yaml" units normaliser)"
  # shellcheck disable=SC2086  # the definitions are words
  "$gcc" -march=rv64imafdc -mabi=lp64d -O2 -Wall -Wextra -Werror -ffreestanding -I "$dir" $expect -c "$user" -o "$dir.o"
  # The same program runs on the host: the header holds nothing that is RISC-V's own.
  # shellcheck disable=SC2086
  cc -O2 -Wall -Wextra -Werror -I "$dir" $expect "$user" -o "$dir.host"
  "$dir.host" || { echo "$1: the arithmetic of gemmini_params.h is wrong at line $?"; exit 1; }
  for file in README.txt array.yaml array.json weft.f weft.core weft.xml rtl/weft_array_pkg.sv gemmini_params.h gemmini_config.scala timeloop.yaml timeloop-v4.yaml accelergy-ert.yaml accelforge.yaml stonne.cfg onnxim.json; do
    grep -q "$(sed -n 's/.*"hash":[[:space:]]*"\([0-9a-f]*\)".*/\1/p' "$json")" "$dir/$file" || { echo "$1/$file: no hash"; exit 1; }
    grep -q "$1" "$dir/$file" || { echo "$1/$file: no name"; exit 1; }
  done
  (cd "$dir" && ! grep '^rtl/' weft.f | while read -r source; do [ -f "$source" ] || echo "$source"; done | grep .) ||
    { echo "$1: weft.f names files that are not there"; exit 1; }
  [ "$(grep -c '^rtl/' "$dir/weft.f")" -eq "$(find "$dir/rtl" -name '*.sv' | wc -l)" ] || { echo "$1: weft.f is not complete"; exit 1; }
  # The core names what weft.f compiles, in its order, and the headers beside it.
  sed -n 's|^ *- \(rtl/[a-z0-9_]*\.sv\)$|\1|p' "$dir/weft.core" >"$work/core_files"
  grep '^rtl/' "$dir/weft.f" | cmp -s - "$work/core_files" || { echo "$1: weft.core and weft.f differ"; exit 1; }
  sed -n 's|^ *<ipxact:name>\(rtl/[a-z0-9_]*\.sv\)</ipxact:name>$|\1|p' "$dir/weft.xml" | cmp -s - "$work/core_files" ||
    { echo "$1: weft.xml and weft.f differ"; exit 1; }
  [ -z "$xmllint" ] || "$tests/component_check.sh" "$dir/weft.xml" "$xmllint"
  lint "$1"
}

# Elaboration of a large array takes minutes, and it differs from a small one in numbers only; its banks, whose loops and
# ports are as wide as the array, are elaborated for every array.
lint() {
  for bank in weft_scratchpad_bank weft_accumulator_bank; do
    (cd "$work/$1" && "$verilator" --lint-only --top-module $bank -GDIM="$(derived array.json dim)" \
      +incdir+rtl rtl/weft_isa_pkg.sv rtl/weft_pkg.sv rtl/weft_read_response.sv rtl/$bank.sv)
  done
  case $1 in
    dim2 | dim4 | gemmini-chip) (cd "$work/$1" && "$verilator" --lint-only --top-module weft_accel -f weft.f) ;;
  esac
  case $1 in
    dim2) [ -z "$iverilog" ] || (cd "$work/$1" && "$iverilog" -g2012 -t null -s weft_accel -f weft.f >"$work/iverilog.log" 2>&1) || { cat "$work/iverilog.log"; exit 1; } ;;
  esac
}

while read -r name; do check "$name"; done <"$work/names"
[ "$(wc -l <"$work/names")" -ge 10 ]

# The check of weft.xml notices what is wrong in it.
changed() {
  sed "$1" "$work/dim2/weft.xml" >"$work/dim2/changed.xml"
  ! cmp -s "$work/dim2/weft.xml" "$work/dim2/changed.xml" || { echo "nothing to change: $1"; exit 1; }
  ! "$tests/component_check.sh" "$work/dim2/changed.xml" "$xmllint" >"$work/changed.log" 2>&1 || { echo "weft.xml: not noticed: $1"; exit 1; }
}
[ -n "$xmllint" ] || exit 0
changed 's|m_axi_arid_o</ipxact:name></ipxact:physicalPort>|m_axi_none_o</ipxact:name></ipxact:physicalPort>|'
changed 's/RID_BITS-1/SID_BITS-1/'
changed 's/<ipxact:direction>out/<ipxact:direction>up/'
changed 's|<ipxact:name>cmd_xd_i|<ipxact:name>cmd_rd_i|'
changed 's|rtl/weft_isa_pkg.sv|rtl/weft_isb_pkg.sv|'
changed '/<ipxact:master/d'
changed 's/<ipxact:localName>rtl/<ipxact:localName>all/'
