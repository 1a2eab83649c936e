#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mappings that are searched: never worse than the mapper's, better where its aim is another; the same with any number of
# processes, and programs that compile again from the mapping that the store has.
. "$(dirname "$0")/common.sh"
cat >own.yaml <<'END'
name: own
layers:
  - {name: window, P: 15, Q: 15, K: 40, C: 20, R: 3, S: 3}
  - {name: product, P: 100, K: 60, C: 150}
  - {name: few, P: 8, Q: 8, K: 8, C: 2, R: 3, S: 3}
END
spec() { printf 'base: dim4\nparameters: {scratchpad.capacity_kib: [16]}\nnetworks: [own.yaml]\n%b' "$2" >"$1.yaml"; }
spec default ''
spec fast 'mapping: {search: 3}\n'
spec edp 'mapping: {search: 3}\nobjective: edp\n'
for name in default fast edp; do "$weft" sweep $name.yaml -o $name.sqlite --quiet; done
values() { "$weft" query "$1.sqlite" "SELECT point, position, $2 FROM point_layer WHERE status = 'good' ORDER BY point, position" | tail -n +2 | cut -d, -f3; }
compare() { # STORE COLUMN: lines in which the searched one is better, worse
  values default "$2" >a.txt
  values "$1" "$2" >b.txt
  [ "$(wc -l <a.txt)" = 3 ] && [ "$(wc -l <b.txt)" = 3 ] || fail "$1: not three measurements: $(cat b.txt)"
  paste a.txt b.txt | awk '$2 < $1 { better++ } $2 > $1 { worse++ } END { print better + 0, worse + 0 }'
}
[ "$(compare fast cycles | cut -d' ' -f2)" = 0 ] || fail "slower than the mapper: $(compare fast cycles)"
edp='cycles * energy_pj'
[ "$(compare edp "$edp" | cut -d' ' -f2)" = 0 ] || fail "worse than the mapper: $(compare edp "$edp")"
[ "$(compare edp "$edp" | cut -d' ' -f1)" -ge 2 ] || fail "no better than the mapper: $(compare edp "$edp")"

"$weft" sweep edp.yaml -o again.sqlite --jobs 1 --quiet
values again "cycles || ' ' || mapping" >a.txt
values edp "cycles || ' ' || mapping" >b.txt
cmp a.txt b.txt || fail "not the same with one process"
[ "$("$weft" query edp.sqlite "SELECT DISTINCT policy FROM measurement" | tail -n 1)" = "search 3 edp" ] || fail "the store has another policy"

# The mapping of a row is that of its cycles.
"$weft" query edp.sqlite "SELECT mapping FROM point_layer WHERE point = 0 AND name = 'product'" | tail -n +2 | tr -d '"' >product.map
"$weft" query edp.sqlite "dim = 4" --limit 1 --write-array first.yaml >/dev/null
"$weft" run "$sources/../../../workloads/kernels/gemm.py" --shape "M=100,N=60,K=150,scale=0.01,bias=False,relu=False" --mapping product.map --array first.yaml \
  --engine cycle --json - --quiet >run.json
cycles=$("$weft" query edp.sqlite "SELECT cycles FROM point_layer WHERE point = 0 AND name = 'product'" | tail -n 1)
grep -q "\"cycles\":	$cycles,*\$" run.json || fail "$cycles in the store: $(cat run.json)"
echo good
