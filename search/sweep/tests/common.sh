# SPDX-License-Identifier: Apache-2.0
# What the tests of sweeps share. Sourced with: WEFT, SOURCES, WORK as $1 to $3.
# shellcheck shell=sh disable=SC2034  # variables are for the tests that source this
set -eu
weft=$1 sources=$2 work=$3
sh "$(dirname -- "$0")/../../../tests/work_dir.sh" "$work"
cd "$work"

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

# All that a sweep finds out, without times and places.
findings() {
  "$weft" query "$1" "SELECT array, layer, policy, status, reason, cycles, utilisation, energy_pj, commands, read_bytes,
    written_bytes, bound, mapping, units, program_digest FROM measurement ORDER BY array, layer, policy"
  "$weft" query "$1" "SELECT * FROM step ORDER BY array, layer, policy, position" 2>steps.err || [ $? = 3 ] || fail "$(cat steps.err)"
  "$weft" query "$1" "SELECT * FROM point ORDER BY id"
  "$weft" query "$1" "SELECT point, network, status, reason, cycles, energy_pj, edp FROM point_network ORDER BY point"
}

# The sweep of the tests with a network program beside its table, as sweep.yaml.
write_sweep() {
  cp "$sources/tiny.yaml" .
  sed 's/\[tiny.yaml\]/[tiny.yaml, {net: lstm, name: program, seq: 1, depth: 1, divisor: 16}]/' "$sources/tiny_sweep.yaml" >sweep.yaml
  grep -q program sweep.yaml || fail "no program in the sweep"
}
