#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Energy of the whole in every output: components add up to totals and steps to networks, a table of zeros gives none, leakage
# grows with time, and the engines cycle and rtl count the same. usage: energy_test.sh WEFT PROG.elf(dim4) WORK_DIR
set -u
weft=$1 elf=$2
. "$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/expect.sh"
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$3" && cd "$3" || exit 1

group() { printf '%s:\n' "$1" && shift && for key in "$@"; do printf '  %s: %s\n' "${key%%=*}" "${key#*=}"; done; }
# table NAME VALUE LEAKAGE: every energy is VALUE, every leakage LEAKAGE.
table() {
  v=$2 l=$3
  printf 'name: %s\ndescription: for a test\n' "$1"
  group energy_pj "mac=$v" "registers=$v" "accumulator=$v" "accumulator_per_kib_of_column=$v" "scratchpad=$v" "scratchpad_per_kib=$v" "dram=$v"
  group hart_pj "integer=$v" "memory=$v" "branch=$v" "multiply=$v" "divide=$v" "float_add=$v" "float_multiply=$v" "float_divide=$v" \
    "command=$v" "fetch_at_32kib=$v" "access_at_32kib=$v" "line_at_32kib=$v"
  group l2_pj "read_at_1mib=$v" "write_at_1mib=$v" "fill_at_1mib=$v" "victim_at_1mib=$v"
  group bus_pj "byte=$v"
  group clock_pj "pe=$v" "hart=$v"
  group leakage_uw "pe=$l" "local_kib=$l" "hart=$l" "l2_kib=$l"
}
figure() { tr -d ',\t' <"$2" | awk -F: -v key="\"$1\"" '$1 == key && !found { print $2; found = 1 }'; } # KEY FILE
near() { awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= 1e-6 * (b < 0 ? -b : b)) }' || fail "$1: $2 is not $3"; }

# A network with the hart between the products. Sums of each "energy_pj" of the JSON: the whole, then the steps.
table ones 1 1 >ones.yaml
table zeros 0 0 >zeros.yaml
table leaks 0 1 >leaks.yaml
network() { expect 0 '' "$weft" sim bert-base --seq 16 --divisor 4 --depth 1 --no-check --json "$1.json" --csv "$1.csv" --tech "$1.yaml" && cp out.txt "$1.txt"; }
network ones
tr -d ',\t' <ones.json | awk -F: '
  /"energy_pj"/ { on = 1; sum = 0; next }
  on && $1 == "\"total\"" { printf "%.9g %.9g\n", $2, sum; on = 0; next }
  on { sum += $2 }' >sums.txt
[ "$(wc -l <sums.txt)" -gt 10 ] || fail 'few steps have energies'
while read -r total sum; do near 'components of a step' "$sum" "$total"; done <sums.txt
near 'sum of the steps' "$(awk 'NR > 1 { sum += $1 } END { printf "%.9g", sum }' sums.txt)" "$(awk 'NR == 1 { print $1 }' sums.txt)"
near 'energy_uj' "$(figure energy_uj ones.json)" "$(awk 'NR == 1 { printf "%.9g", $1 / 1e6 }' sums.txt)"
awk -F, 'NR > 1 { sum = 0; for (i = NF - 8; i < NF; i++) sum += $i; d = sum - $(NF - 10); if (d * d > 1e-5) exit 1 }' ones.csv || fail 'parts of a row of the CSV are not its energy'
head -1 ones.csv | grep -q "wrong,mesh_uj,local_memory_uj,hart_uj,l2_uj,bus_uj,main_memory_uj,clock_uj,leakage_uj,array_uj$" || fail 'columns of the CSV'
awk '/^energy / { for (i = 6; i <= NF; i++) if ($i ~ /^[0-9.]+,?$/) sum += $i; d = sum - $2; exit !(d * d < 0.25) }' ones.txt || fail 'parts of the text are not its energy'
if grep -q 'not known' ones.txt; then fail 'ones are all known'; fi
near 'JSON and text' "$(awk '/^energy / { print $2 }' ones.txt)" "$(awk 'NR == 1 { printf "%.1f", $1 / 1e6 }' sums.txt)"

network zeros
[ "$(figure energy_uj zeros.json)" = 0 ] || fail "zeros give $(figure energy_uj zeros.json)"
network leaks
near 'leakage' "$(figure energy_uj leaks.json)" "$(awk -v cycles="$(figure leakage_hart leaks.json)" 'BEGIN { printf "%.12f\n", cycles * 1e-6 * (256 + 320 + 1 + 512) }')"
expect 0 'not known  .*bus' "$weft" sim mobilenetv2 --size 32 --divisor 8 --no-check
expect 1 'the file is empty' "$weft" sim mobilenetv2 --size 32 --divisor 8 --no-check --tech /dev/null
sed 's/mac: 1/mac: unknown/' ones.yaml >bad.yaml
expect 1 'bad.yaml:4:.*energy_pj.mac is a number' "$weft" sim mobilenetv2 --size 32 --divisor 8 --no-check --tech bad.yaml
expect 1 'missing.yaml' "$weft" sim mobilenetv2 --tech missing.yaml

# A sweep with a table of its own; the store belongs to it.
printf 'arrays: [dim8]\ntechnology: ones.yaml\nnetworks: [{net: bert-base, seq: 16, divisor: 6, depth: 1}]\n' >own.yaml
expect 0 '' "$weft" sweep own.yaml -o own.sqlite --quiet
expect 0 '' "$weft" sim bert-base --seq 16 --divisor 6 --depth 1 --array dim8 --no-check --quiet --json own.json --tech ones.yaml
swept=$("$weft" query own.sqlite "SELECT energy_pj FROM point_network" | tail -n 1)
near 'a sweep with a table of its own' "$(awk -v e="$swept" 'BEGIN { printf "%.4g", e / 1e6 }')" "$(awk -v e="$(figure energy_uj own.json)" 'BEGIN { printf "%.4g", e }')"
expect 0 'ones' "$weft" query own.sqlite "SELECT technology FROM array"
sed 's/mac: 1/mac: 2/' ones.yaml >twos.yaml && mv twos.yaml ones.yaml
expect 1 'own.sqlite' "$weft" sweep own.yaml -o own.sqlite --quiet
sed 's/ones.yaml/nosuch.yaml/' own.yaml >none.yaml
expect 1 'nosuch.yaml' "$weft" sweep none.yaml -o none.sqlite

# The hart's instructions and the memory system's bytes: alike in both engines.
expect 0 '' "$weft" sim "$elf" --array dim4 --engine cycle --quiet --json cycle.json
expect 0 '' "$weft" sim "$elf" --array dim4 --engine rtl --quiet --json rtl.json
sed -n '/"hart"/,/}/p;/"memory"/,/}/p' cycle.json >cycle.txt
sed -n '/"hart"/,/}/p;/"memory"/,/}/p' rtl.json >rtl.txt
[ "$(wc -l <cycle.txt)" -gt 20 ] && cmp -s cycle.txt rtl.txt || fail "cycle and rtl count differently: $(diff cycle.txt rtl.txt | head -20)"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
