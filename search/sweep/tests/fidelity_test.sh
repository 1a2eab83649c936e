#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sweeps by engine flow: rows of both engines stand side by side in one store, neither replaces the other, and an
# interrupted sweep goes on; fronts compares them; programs that arrays share are compiled once and change nothing.
. "$(dirname "$0")/common.sh"
write_sweep
one() { "$weft" query "$1" "$2" | tail -n 1; }

"$weft" sweep sweep.yaml -o s.sqlite --quiet --json cycle.json || [ $? = 3 ] || fail "the sweep by engine cycle"
findings s.sqlite >before.txt
rows=$(one s.sqlite "SELECT count(*) FROM measurement")
[ "$(one s.sqlite "SELECT count(*) FROM measurement WHERE engine = 'cycle'")" = "$rows" ] || fail "rows of another engine"

"$weft" sweep sweep.yaml -o s.sqlite --fidelity flow --quiet --json flow.json
grep -q '"engine":.*"flow"' flow.json || fail "$(cat flow.json)"
[ "$(one s.sqlite "SELECT count(*) FROM measurement WHERE engine = 'flow'")" = "$rows" ] || fail "not as many rows of engine flow"
"$weft" sweep sweep.yaml -o s.sqlite --fidelity flow --quiet --json again.json
grep -q '"measured_now":.*\b0\b' again.json || fail "engine flow measures again: $(cat again.json)"

# Those of engine cycle are as before, and those of flow are near, with the work and the bytes of the same programs.
"$weft" query s.sqlite "SELECT array, layer, policy, status, reason, cycles, utilisation, energy_pj, commands, read_bytes,
  written_bytes, bound, mapping, units, program_digest FROM measurement WHERE engine = 'cycle' ORDER BY array, layer, policy" >cycle.csv
head -n "$(wc -l <cycle.csv)" before.txt | cmp - cycle.csv || fail "rows of engine cycle have changed"
bad=$(one s.sqlite "SELECT count(*) FROM measurement c JOIN measurement f ON c.array = f.array AND c.layer = f.layer
  AND c.engine = 'cycle' AND f.engine = 'flow' WHERE c.status <> f.status OR c.commands <> f.commands
  OR c.program_digest <> f.program_digest OR c.read_bytes <> f.read_bytes
  OR abs(c.cycles - f.cycles) > 0.5 * c.cycles OR abs(c.energy_pj - f.energy_pj) > 0.05 * c.energy_pj")
[ "$bad" = 0 ] || fail "$bad rows of engine flow are far off"
points=$(one s.sqlite "SELECT count(DISTINCT point) FROM point_network")
[ "$(one s.sqlite "SELECT count(*) FROM point_network")" = "$(one s.sqlite "SELECT count(*) FROM point_network WHERE engine = 'flow'")" ] &&
  fail "no sums of engine cycle"
echo "$points points"

# The fronts of both engines, of networks all of whose layers have a kernel.
"$weft" query s.sqlite --fronts --network program >fronts.csv 2>fronts.err || fail "$(cat fronts.err)"
[ "$(head -n 1 fronts.csv | cut -d, -f1-6)" = "network,point,array,front,cycles,flow_cycles" ] || fail "$(cat fronts.csv)"
awk -F, 'NR > 1 && ($4 !~ /^(both|cycle|flow)$/ || $5 * $6 == 0 || ($4 == "both" && $11 != 0)) { exit 1 }' fronts.csv || fail "$(cat fronts.csv)"
"$weft" query s.sqlite --fronts --network program --json fronts.json 2>fronts.err
[ "$(grep -c '"off_percent"' fronts.json)" = "$(tail -n +2 fronts.csv | wc -l)" ] || fail "not as many points in JSON"
code=0
"$weft" query s.sqlite --fronts --network tiny >none.csv 2>none.err || code=$?
[ "$code" = 3 ] && grep -q "no point is good" none.err || fail "fronts of a network with a failed layer: $code"

# A report is of one engine.
for engine in cycle flow; do
  "$weft" report s.sqlite -o "$engine" --fidelity "$engine" --no-pictures --quiet
  grep -q "\"engine\": *\"$engine\"" "$engine/index.html" || fail "the report does not name engine $engine"
done
"$weft" report s.sqlite -o both --no-pictures --quiet
grep -q '"engine": *"cycle"' both/index.html || fail "a report shows flow where there is cycle"
code=0
"$weft" report s.sqlite -o none --fidelity rtl --no-pictures 2>err || code=$?
[ "$code" != 0 ] && grep -q "no fidelity 'rtl'" err || fail "another engine: $code, $(cat err)"

# As the text says; alone in its store; programs are shared, by any number of processes.
sed 's/^timeout.*/fidelity: flow/' sweep.yaml >own.yaml
grep -q '^fidelity: flow' own.yaml || fail "no fidelity in the text"
for jobs in 1 3; do
  "$weft" sweep own.yaml -o own$jobs.sqlite --quiet --jobs $jobs --json own$jobs.json
  findings own$jobs.sqlite >own$jobs.txt
  [ "$(one own$jobs.sqlite "SELECT count(*) FROM measurement WHERE engine <> 'flow'")" = 0 ] || fail "rows of engine cycle"
done
cmp own1.txt own3.txt || fail "the number of processes changes what is found out"
grep '"without_compiling"' own1.json | grep -qv '\b0\b' || fail "all programs were compiled: $(cat own1.json)"
sed 's/^timeout.*/fidelity: quick/' sweep.yaml >bad.yaml
! "$weft" sweep bad.yaml -o bad.sqlite 2>err || fail "fidelity quick"
grep -q "fidelity" err || fail "$(cat err)"
