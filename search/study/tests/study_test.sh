#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A study end to end: its cycles are those of sweeps of tables written by hand, its bounds hold, and one that is killed
# again and again ends with the same rows as one that is not.
. "$(dirname "$0")/../../sweep/tests/common.sh"
cp "$(dirname "$0")/tiny.yaml" .
cat >s.yaml <<'END'
arrays: [dim4, dim8]
networks: [tiny.yaml]
compress:
  - {channel: [0.5], round: [none, side]}
  - {weight: [0.1], pattern: [uniform, block]}
lowering: [direct, unfold]
mapping: [default, {tune: 3}]
END
[ "$("$weft" study s.yaml --plan)" = "s: 40 configurations: 1 networks, 5 compressions, 2 lowerings, 2 mappings, 2 arrays, by engine flow" ] ||
  fail "$("$weft" study s.yaml --plan)"
"$weft" study s.yaml -o whole --csv whole.csv --json whole.json >whole.txt 2>progress.txt || fail "$(cat progress.txt)"
[ "$(tail -n +2 whole.csv | wc -l)" = 40 ] || fail "not 40 rows"
[ "$(grep -c '"compression":.*"share"\|"expected":' whole.json)" -ge 40 ] || fail "not 40 rows in JSON"

# field NAME ROW...: a column of the row that begins so.
field() {
  awk -F, -v name="$1" -v row="$2," 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
    index($0, row) == 1 { print $at; found++ } END { if (found != 1) exit 1 }' whole.csv || fail "no row $2"
}

# The same layers by hand: half of the channels in multiples of 8, and as products.
cat >half.yaml <<'END'
name: half
layers:
  - {name: stem, P: 12, Q: 12, K: 16, C: 3, R: 3, S: 3}
  - {name: window, P: 10, Q: 10, K: 24, C: 16, R: 3, S: 3, count: 2}
  - {name: stride, P: 5, Q: 5, K: 32, C: 24, stride: 2}
  - {name: deep, P: 5, Q: 5, K: 32, C: 32, R: 3, S: 3, groups: 32}
  - {name: groups, P: 5, Q: 5, K: 32, C: 32, groups: 4}
  - {name: product, P: 40, K: 10, C: 32}
END
cat >products.yaml <<'END'
name: products
layers:
  - {name: stem, P: 144, K: 16, C: 27}
  - {name: window, P: 100, K: 24, C: 144, count: 2}
  - {name: stride, P: 25, K: 32, C: 24}
  - {name: deep, P: 5, Q: 5, K: 32, C: 32, R: 3, S: 3, groups: 32}
  - {name: groups, P: 5, Q: 5, K: 32, C: 32, groups: 4}
  - {name: product, P: 40, K: 10, C: 32}
END
cycles() {
  "$weft" query "$1" "SELECT cycles FROM point_network WHERE network = '$2'" | tail -n 1
}
for mapping in default '{tune: 3}'; do
  policy=$(echo "$mapping" | tr -d '{:}')
  echo "{arrays: [dim8], networks: [tiny.yaml, half.yaml, products.yaml], mapping: $mapping, fidelity: flow}" >hand.yaml
  "$weft" sweep hand.yaml -o "hand $policy.sqlite" --quiet
  for pair in "none,direct:tiny" "channel 0.5 side,direct:half" "channel 0.5 side,unfold:products" \
    "weight 0.1 block,direct:tiny"; do
    is=$(field cycles "tiny,dim8,${pair%:*},$policy")
    hand=$(cycles "hand $policy.sqlite" "${pair#*:}")
    [ "$is" = "$hand" ] || fail "$pair, $policy: $is cycles, $hand by hand"
  done
done

# Expected and achieved follow from these; multiplications are those of the tables.
whole=$(field macs "tiny,dim8,none,direct,default") half=$(field macs "tiny,dim8,channel 0.5 side,direct,default")
[ "$half" = $((144 * 16 * 27 + 2 * 100 * 24 * 144 + 25 * 32 * 24 + 25 * 32 * 9 + 25 * 32 * 8 + 40 * 10 * 32)) ] || fail "$half MACs"
awk -v whole="$whole" -v half="$half" -v was="$(field cycles "tiny,dim8,none,direct,default")" \
  -v is="$(field cycles "tiny,dim8,channel 0.5 side,direct,default")" \
  -v expected="$(field expected "tiny,dim8,channel 0.5 side,direct,default")" \
  -v achieved="$(field achieved "tiny,dim8,channel 0.5 side,direct,default")" \
  -v share="$(field share "tiny,dim8,channel 0.5 side,direct,default")" 'BEGIN {
    if (expected * half / whole < 0.999999 || expected * half / whole > 1.000001) exit 1
    if (achieved * is / was < 0.999999 || achieved * is / was > 1.000001) exit 1
    if (share * expected / achieved < 0.999999 || share * expected / achieved > 1.000001) exit 1
  }' || fail "speed-ups do not follow from cycles and multiplications"
[ "$(field achieved "tiny,dim8,weight 0.1 uniform,direct,default")" = 1 ] || fail "pruned weights gain cycles"
[ "$(field expected "tiny,dim8,weight 0.1 uniform,direct,default")" = 10 ] || fail "a tenth of all weights"

# No layer is faster than its bounds.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
  $at["mesh_cycles"] > $at["cycles"] || $at["roof_cycles"] > $at["cycles"] || $at["of_roof"] > 1 { print; exit 1 }' whole.csv ||
  fail "faster than its bounds"

# Nothing is left to do; another text is refused, and --extend takes it.
"$weft" study s.yaml -o whole --quiet --json again.json
grep -q '"measured_now":	0' again.json || fail "measured again"
sed 's/\[0.5\]/[0.5, 0.25]/' s.yaml >t.yaml
! "$weft" study t.yaml -o whole --quiet 2>err || fail "another study went on"
grep -q "is the store of another sweep" err || fail "$(cat err)"
"$weft" study t.yaml -o whole --quiet --extend --csv more.csv || fail "--extend"
while IFS= read -r line; do grep -qF "$line" more.csv || fail "--extend has another row: $line"; done <whole.csv

# Killed again and again: the rows of one that was not.
seed=$$
kills=0
while [ "$kills" -lt 12 ]; do
  seed=$(((seed * 1103515245 + 12345) % 2147483648))
  "$weft" study s.yaml -o killed --quiet --csv killed.csv &
  pid=$!
  sleep "0.$(printf '%03d' $(((seed >> 8) % 400)))"
  kill -9 "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  kills=$((kills + 1))
done
"$weft" study s.yaml -o killed --quiet --csv killed.csv || fail "it does not go on"
cmp whole.csv killed.csv || fail "the rows differ from those of an uninterrupted study"

# A row for what fails, too.
cat >fails.yaml <<'END'
name: fails
layers:
  - {name: lopsided, P: 6, Q: 6, K: 16, C: 16, R: 3, S: 3, dilation: [2, 1]}
  - {name: product, P: 40, K: 10, C: 64}
END
echo '{arrays: [dim4], networks: [fails.yaml], compress: [{channel: [0.5]}], lowering: [direct, unfold]}' >f.yaml
"$weft" study f.yaml -o f --quiet --csv f.csv || fail "a layer without a kernel ends the study"
[ "$(grep -c 'cannot map,lopsided: ' f.csv)" = 2 ] || fail "$(cat f.csv)"
[ "$(grep -c ',good,' f.csv)" = 2 ] || fail "$(cat f.csv)"
code=0
"$weft" study s.yaml --jobs 0 2>err || code=$?
[ "$code" = 2 ] || fail "--jobs 0 ends with $code"
echo "40 configurations, $kills kills"
