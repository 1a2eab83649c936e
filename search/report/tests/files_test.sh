#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The files of a report: figures agree with the store, pictures are made or their absence is said, bad input is refused.
# shellcheck source=search/sweep/tests/common.sh
. "$2/common.sh"
sed '/lopsided/d' "$sources/tiny.yaml" >tiny.yaml
cp "$sources/tiny_sweep.yaml" s.yaml
"$weft" sweep s.yaml -o s.sqlite --quiet
"$weft" report s.sqlite -o out --title 'a <b> & "c"' >/dev/null 2>err.txt
good=$("$weft" query s.sqlite "SELECT count(*) FROM point_network WHERE status = 'good'" | tail -n 1)
[ "$(tail -n +2 out/figures/points.csv | wc -l)" = "$good" ] || fail "not a row per good point"
"$weft" query s.sqlite "SELECT point, CAST(cycles AS INTEGER) FROM point_network WHERE status = 'good' ORDER BY point" |
  tail -n +2 >store.txt
tail -n +2 out/figures/points.csv | cut -d, -f2,9 >csv.txt
cmp store.txt csv.txt || fail "the figures differ from the store"
awk -F, '$12 == 1 { on++ } END { exit !on }' out/figures/points.csv || fail "no front"
# Parts of energy add up to it, in points and in layers; an array's technology gives energies and area.
for file in points:10:17:24 layers:9:14:21; do
  awk -F, -v spec="$file" 'BEGIN { split(spec, at, ":") }
    NR > 1 { sum = 0; for (i = at[3]; i <= at[4]; i++) sum += $i; d = sum / $at[2] - 1; bad += d * d > 1e-9 || $at[2] <= 0; n++ }
    END { exit bad || !n }' "out/figures/${file%%:*}.csv" || fail "parts of energy in ${file%%:*}.csv do not add up"
done
awk -F, 'NR > 1 && !($13 == "40nm" && $14 > 0 && $15 == 0 && $16 > 0) { bad = 1 } END { exit bad }' out/figures/points.csv || fail "technology and area: $(tail -n 1 out/figures/points.csv)"
grep -q '"parts":\["mesh","local_memory","hart"' out/index.html || fail "no parts of energy in the page"
# No point of the front is beaten in cycles, energy, area and memory at once.
awk -F, 'NR > 1 && $12 == 1 { n++; c[n] = $9; e[n] = $10; a[n] = $7; m[n] = $8 }
  END { for (i = 1; i <= n; i++) for (j = 1; j <= n; j++)
    if (c[j] < c[i] && e[j] < e[i] && a[j] < a[i] && m[j] < m[i]) { print i, j; exit 1 } }' out/figures/points.csv || fail "a beaten point on the front"
if command -v gnuplot >/dev/null; then
  for picture in front layers; do
    grep -q '<svg' "out/figures/$picture-0.svg" || fail "no $picture-0.svg"
    [ "$(wc -c <"out/figures/$picture-0.svg")" -gt 4000 ] || fail "an empty $picture-0.svg"
    [ "$(head -c 4 "out/figures/$picture-0.png" | tail -c 3)" = PNG ] || fail "no $picture-0.png"
  done
else
  grep -q "apt-get install gnuplot-nox" err.txt || fail "nothing said about pictures"
fi
# The front of the picture: each point has less energy than the one before it, none is beaten by any point.
awk '/^END/ { on = 0 } on { print $0 } /<< END/ { on = 1; if (n++) exit }' out/figures/figures.gp >front.txt
awk -F, 'NR == FNR { n++; c[n] = $1; e[n] = $2; bad += n > 1 && (c[n] <= c[n - 1] || e[n] >= e[n - 1]); next }
  FNR > 1 { for (i = 1; i <= n; i++) bad += $9 / 1e6 < c[i] * 0.99999 && $10 < e[i] * 0.99999 }
  END { exit bad || n == 0 }' front.txt out/figures/points.csv || fail "the front of the picture: $(cat front.txt)"
# A network program: its steps are the layers of each point that has them, and add up to its cycles.
printf 'arrays: [dim4, dim8]\nnetworks: [{net: mobilenetv2, size: 32, divisor: 8}]\n' >program.yaml
"$weft" sweep program.yaml -o program.sqlite --quiet
"$weft" report program.sqlite -o program --no-pictures >/dev/null
for point in 0 1; do
  awk -F, -v p="$point" 'FILENAME ~ /points/ { if ($2 == p) whole = $9; next } $2 == p { sum += $4 * $6; n++ }
    END { exit !(n > 20 && sum == whole) }' program/figures/points.csv program/figures/layers.csv ||
    grep -q "^mobilenetv2,$point,\([^,]*,\)\{9\}0," program/figures/points.csv || fail "steps of point $point do not add up"
done
grep -q '^mobilenetv2,[01],features.1.conv.1.0' program/figures/layers.csv || fail "no depthwise step in the report"
grep -q '"step":true' program/index.html || fail "no steps in the page"

# A technology without energies: no figures of energy, and a script that ends.
cat >cold.yaml <<'END'
name: cold
base: dim4
parameters: {chip.technology: [180nm], scratchpad.capacity_kib: [16, 32]}
networks: [tiny.yaml]
END
"$weft" sweep cold.yaml -o cold.sqlite --quiet
timeout 60 "$weft" report cold.sqlite -o cold >/dev/null 2>err.txt || fail "the report of arrays without energies: $(cat err.txt)"
[ "$(wc -c <cold/figures/figures.gp)" -lt 100000 ] || fail "figures.gp has $(wc -c <cold/figures/figures.gp) bytes"
[ ! -e cold/figures/front-0.svg ] || fail "a front of energies that are not there"
! command -v gnuplot >/dev/null || [ -s cold/figures/layers-0.svg ] || fail "no layers"
[ "$(tail -n +2 cold/figures/points.csv | cut -d, -f10,11 | sort -u)" = "," ] || fail "energies: $(cat cold/figures/points.csv)"
[ "$(awk -F, '{ print FILENAME, NF }' cold/figures/points.csv cold/figures/layers.csv | sort -u | wc -l)" = 2 ] || fail "rows of other lengths"
grep -q '"sums":\[\[[0-9]*,null,null,' cold/index.html || fail "energies on the page"
# Text of the user does not become markup.
! grep -q 'a <b>' out/index.html || fail "the title is markup"
! "$weft" report none.sqlite -o out2 2>/dev/null || fail "a store that is not there"
! "$weft" report s.sqlite -o /dev/null/x 2>/dev/null || fail "a directory that cannot be"
echo good
