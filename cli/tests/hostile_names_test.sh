#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names are data: tables, sweeps and a model whose names are commands, paths, markup and control characters go through
# every verb that takes them. Nothing is executed, nothing is written outside of the folder that was named, rows of CSV
# have equal numbers of fields, no control character reaches the terminal, JSON is UTF-8.
# usage: hostile_names_test.sh WEFT WORK_DIR
set -u
weft=$1 work=$2
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work" && mkdir -p "$work/a/b/inner" && cd "$work/a/b/inner" || exit 1
failed=0
fail() {
  printf 'FAILED: %s\n' "$1" | cat -v
  failed=$((failed + 1))
}
escape=$(printf '\033')

# Runs a command whose output must not hold ESC: must CODE COMMAND...
must() {
  code=$1
  shift
  "$@" >out.txt 2>err.txt </dev/null
  got=$?
  [ "$got" = "$code" ] || fail "exit code $got, not $code: $* $(head -n 5 err.txt)"
  for file in out.txt err.txt; do
    ! LC_ALL=C grep -q "$escape" "$file" || fail "ESC on the terminal: $*"
  done
}

# All records of a file have so many fields. Fields in quotes may hold ends of lines.
check_csv() {
  [ -s "$1" ] || fail "no $1"
  awk -v file="$1" '{ record = record $0; if (gsub(/"/, "\"", record) % 2) { record = record " "; next }
    gsub(/"[^"]*"/, "", record); n = gsub(/,/, "", record) + 1; record = ""
    if (fields && n != fields) { print file ": " n " fields, not " fields; exit 1 } fields = n }' "$1" >fields.txt ||
    fail "$(cat fields.txt)"
  ! LC_ALL=C grep -q "$escape" "$1" || fail "ESC in $1"
}

check_utf8() { iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || fail "$1 is not UTF-8"; }

# Names as double-quoted scalars of YAML.
cat >names.txt <<'END'
r50'; system(\"touch PWNED\"); set title 'x
n\" points.csv; touch PWNED; echo \"
`touch PWNED`@x $(touch PWNED)
x/../../../F
../../X
/nonexistent/X
=1+1,\"a\"
a\e[2J\nb,c
-rf
</script><script>alert(1)</script>
END

number=0
while IFS= read -r name; do
  number=$((number + 1))
  dir=case$number
  mkdir -p "$dir/front-x"
  printf 'name: "%s"\ndescription: "%s"\nlayers:\n  - {name: "%s", P: 16, K: 16, C: 16}\n' "$name" "$name" "$name" >"$dir/net.yaml"
  printf 'name: "%s"\nbase: dim4\nparameters: {load.queue: [2, 4]}\nnetworks: [net.yaml]\n' "$name" >"$dir/sweep.yaml"
  cd "$dir" || exit 1
  must 0 "$weft" sweep sweep.yaml --plan
  must 0 "$weft" sweep sweep.yaml
  [ "$(find . -maxdepth 1 -name '*.sqlite' | wc -l)" = 1 ] || fail "$name: the store is elsewhere"
  mv -- ./*.sqlite s.sqlite
  must 0 "$weft" query s.sqlite ""
  cp out.txt query.csv && check_csv query.csv
  must 0 "$weft" query s.sqlite "SELECT * FROM layer" --json query.json
  check_utf8 query.json
  must 0 "$weft" report s.sqlite -o report
  ! grep -q "gnuplot failed" err.txt || fail "$name: gnuplot failed"
  if command -v gnuplot >/dev/null; then
    for file in front-0.svg layers-0.svg front-0.png layers-0.png; do
      [ -s "report/figures/$file" ] || fail "$name: no $file"
    done
  fi
  check_csv report/figures/points.csv
  check_csv report/figures/layers.csv
  ! grep -q '<script>alert' report/index.html || fail "a name is markup in the page"
  must 0 "$weft" search net.yaml --exact --side-max 4 --kib-max 8 -o found --json found.json
  [ "$(find found -type f | wc -l)" = 3 ] || fail "$name: the results are elsewhere"
  must 0 "$weft" array check "$(find found -name '*.yaml')"
  cd ..
done <names.txt

# The folder of a search, for the names of its network and layers.
for number in 5 7 8; do
  cd "case$number" || exit 1
  must 0 "$weft" search net.yaml --simulate --array dim4 --side-max 8 --budget 2000 --candidates 2 -o truth
  [ "$(find truth -mindepth 1 -maxdepth 1 -type d | wc -l)" = 1 ] || fail "case $number: not one folder"
  check_csv truth/*/curve.csv
  check_csv truth/*/layers.csv
  [ "$(find truth -name '*.c' -path '*/kernels/*' | wc -l)" = 1 ] || fail "case $number: no kernel"
  must 0 "$weft" report truth/* -o truth-report
  cd ..
done

# Files of a network, and its program. Names have the length of those that they replace.
"$weft" net resnet18 --size 32 --divisor 32 --quiet -o net.onnx || fail "no model"
LC_ALL=C sed "s/resnet18/$(printf '\\n#error\\n')/g; s/layer1\\.0/${escape}[31m\",=/g; s/input/$(printf 'i\\na"\377')/g" net.onnx >evil.onnx
[ "$(wc -c <net.onnx)" = "$(wc -c <evil.onnx)" ] && ! cmp -s net.onnx evil.onnx || fail "the model is not as meant"
must 0 "$weft" graph evil.onnx --stage placed
must 0 "$weft" graph evil.onnx --json graph.json
check_utf8 graph.json
must 0 "$weft" sim evil.onnx --array dim4 --csv sim.csv --report - --json sim.json --timeline timeline.json
check_csv sim.csv
check_utf8 sim.json
check_utf8 timeline.json
must 0 "$weft" compile evil.onnx --array dim4
! grep -q '^#error' out.txt || fail "a name has lines of its own in the steps"
LC_ALL=C sed "s/MaxPool/${escape}[1mQQQ/g" evil.onnx >unknown.onnx
must 1 "$weft" sim unknown.onnx --array dim4
if command -v riscv64-unknown-elf-gcc >/dev/null; then
  must 0 "$weft" compile evil.onnx --array dim4 -o evil.elf
  must 0 "$weft" sim evil.elf --array dim4
  grep -q '^output .* digest [0-9a-f]*$' out.txt || fail "the program says: $(tail -n 2 out.txt)"
  must 0 "$weft" disasm evil.elf
fi

# Names of files.
bad=$(printf 'f\033[2J\377.onnx')
cp net.onnx "$bad"
must 0 "$weft" sim "$bad" --array dim4 --json bad.json --timeline bad-timeline.json
check_utf8 bad.json
check_utf8 bad-timeline.json
must 1 "$weft" sim "no$bad"
must 2 "$weft" sim "$(printf -- '--\033[2J')"

# Nothing was executed, nothing left this folder.
find "$work" -name 'PWNED*' | grep -q . && fail "a command of a name was executed"
left=$(cd "$work" && find . -mindepth 1 ! -name .made-by-a-test ! -path './a/b/inner/*' ! -path ./a ! -path ./a/b ! -path ./a/b/inner)
[ -z "$left" ] || fail "files outside: $left"
[ "$failed" = 0 ] || exit 1
echo "$number cases: names stay data"
