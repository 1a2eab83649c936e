#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `weft rtl fit` on results of a synthesis: the table, and what is refused. usage: rtl_fit_test.sh WEFT WORK_DIR
set -u
weft=$1
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$2" && cd "$2" || exit 1
failed=0

# result ARRAY MESH REST: two instances of a mesh unit, and the top.
result() {
  printf '{"array":"%s","units":[{"unit":"pe","part":"mesh","instances":2,"area_um2":%s},' "$1" "$2"
  printf '{"unit":"weft_accel","part":"rest","instances":1,"area_um2":%s}]}\n' "$3"
}

# expect CODE TEXT ARGUMENT...: exit code and text of the message.
expect() {
  code=$1 text=$2
  shift 2
  "$weft" rtl fit "$@" >out 2>&1
  got=$?
  if [ $got -ne "$code" ] || ! grep -q -- "$text" out; then
    failed=1
    echo "FAILED: weft rtl fit $*: exit code $got, wanted $code and \"$text\""
    cat out
  fi
}

# contains TEXT: the table has it.
contains() {
  grep -qF -- "$1" t.yaml && return
  failed=1
  echo "FAILED: the table has no \"$1\""
  cat t.yaml
}

result dim2 2000 1020 >2.json   # mesh 1000 * DIM^2, rest 1000 + 10 * DIM
result dim4 8000 1040 >4.json
result dim8 32000 1080 >8.json
if ! "$weft" rtl fit -o t.yaml 2.json 4.json 8.json; then
  failed=1
  echo 'FAILED: no table'
fi
contains 'name: 180nm'
contains '#   weft rtl fit -o t.yaml 2.json 4.json 8.json'
contains '  mesh: {constant: 0, lane: 0, pe: 1000}'
contains '  rest: {constant: 1000, lane: 10, pe: 0}'
contains '  load: {constant: 0, lane: 0, pe: 0}'
grep -q '^#   mesh  *4000  *16000  *64000  *0.0%$' t.yaml || { failed=1; echo 'FAILED: no measured areas'; }

expect 2 'needs -o FILE' 2.json 4.json 8.json
expect 2 'needs -o FILE' -o t.yaml 2.json 4.json
expect 1 'nosuch.json' -o t.yaml 2.json 4.json nosuch.json
expect 1 'the size of another array' -o t.yaml 2.json 4.json 4.json
result gemmini-nosuch 1 1 >bad.json
expect 1 'gemmini-nosuch' -o t.yaml 2.json 4.json bad.json
echo '{"units":[]}' >bad.json
expect 1 'is not what weft rtl synth' -o t.yaml 2.json 4.json bad.json
echo '{"array":"dim8",' >bad.json
expect 1 'is not what weft rtl synth' -o t.yaml 2.json 4.json bad.json
result dim8 1 1 | sed 's/"weft_accel"/"counters"/' >bad.json
expect 1 'does not have all units' -o t.yaml 2.json 4.json bad.json
result dim8 1 1 | sed 's/"rest"/"nosuch"/' >bad.json
expect 1 'does not have all units' -o t.yaml 2.json 4.json bad.json
exit $failed
