#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages of a sweep and of networks in a real browser, 1280 and 390 pixels wide: they draw, hovering, clicking and the keyboard
# work, all choices can be shown, nothing overflows, no error reaches the console, and nothing is asked of a network.
# shellcheck source=search/sweep/tests/common.sh
. "$2/common.sh"
tests=$4 chromium=$5

sed '/lopsided/d' "$sources/tiny.yaml" >tiny.yaml
printf 'name: lopsided\ndescription: cannot be mapped\nlayers:\n  - {name: odd, P: 6, Q: 6, K: 16, C: 16, R: 3, S: 3, dilation: [2, 1]}\n' >odd.yaml
sed 's/tiny.yaml/tiny.yaml, odd.yaml/' "$sources/tiny_sweep.yaml" >s.yaml
"$weft" sweep s.yaml -o s.sqlite --quiet
"$weft" report s.sqlite -o out --no-pictures >path.txt
[ "$(cat path.txt)" = out/index.html ] || fail "another path: $(cat path.txt)"
! grep -Eo '(src|href)="[^"]*"' out/index.html || fail "the page names other files"

"$weft" sim resnet18 --size 64 --divisor 8 --array dim8 --report net --quiet
"$weft" sim bert-base --depth 1 --seq 16 --divisor 4 --report host --quiet
for file in index.html report.txt steps.csv; do [ -s "net/$file" ] || fail "no net/$file"; done
! grep -Eo '(src|href)="[^"]*"' net/index.html || fail "the page names other files"

cat >study.yaml <<'END'
arrays: [dim4, dim8]
networks: [tiny.yaml, odd.yaml]
compress: [{channel: [0.5, 0.25], round: [none, side]}, {weight: [0.1]}]
lowering: [direct, unfold]
mapping: [default, {tune: 2}]
END
"$weft" study study.yaml -o study-stores --report study --quiet
! grep -Eo '(src|href)="[^"]*"' study/index.html || fail "the page names other files"

# Data of more than a mebibyte are packed; a page that is packed works as the plain one does, and holds the same.
data_of() { sed -n 's|.*id="data">\(.*\)</script>$|\1|p' "$1/index.html"; }
yes 'words that' | head -n 110000 | tr '\n' ' ' >words.txt
sed "1,/description:/ s/description:.*/description: DESCRIPTION/" tiny.yaml >plain.yaml
awk -v words="$(head -c 100000 words.txt)" '/DESCRIPTION/ { printf "description: \""; for (i = 0; i < 12; i++) printf "%s", words; print "\""; next } { print }' plain.yaml >long.yaml
sed 's/tiny.yaml/long.yaml, odd.yaml/' "$sources/tiny_sweep.yaml" >long_sweep.yaml
"$weft" sweep long_sweep.yaml -o long.sqlite --quiet
"$weft" report long.sqlite -o packed --no-pictures >path.txt
[ "$(wc -c <packed/index.html)" -lt $(($(wc -c <out/index.html) + 100000)) ] || fail "not packed: $(wc -c <packed/index.html) bytes"
data_of packed | base64 -d | gunzip | grep -q '^{"title":.*words that words that.*}$' || fail "packed data are no JSON"

# The pages are made; what a browser does with them is nothing that the sanitizers see.
[ -z "${WEFT_FEW:-}" ] || exit 0

# Two thousand points: the page stays small, and works (below).
printf 'name: few\ndescription: one layer\nlayers:\n  - {name: product, P: 40, K: 32, C: 48}\n' >few.yaml
cat >many.yaml <<END
name: many
parameters:
  mesh.rows, mesh.columns: [4, 8, 16, 32]
  dma.bus_bits: [64, 128]
  load.queue: [2, 4, 8, 16, 32]
  execute.queue: [4, 8, 16, 32, 64]
  scratchpad.capacity_kib: [64, 128, 256, 512, 1024]
  accumulator.capacity_kib: [64, 128]
networks: [few.yaml]
fidelity: flow
END
"$weft" sweep many.yaml -o many.sqlite --quiet
"$weft" report many.sqlite -o many --no-pictures >path.txt
bytes=$(wc -c <many/index.html)
[ "$bytes" -lt 4000000 ] || fail "the points take $bytes bytes"

# The page with a listener in front and the test behind. A browser without a screen draws no frames by itself.
with_test() {
  awk -v tests="$tests/$2" '
    /<head>/ { print; print "<script>window.seenProblems = []; window.onerror = (m) => { seenProblems.push(m); };"
               print "requestAnimationFrame = (f) => setTimeout(() => f(performance.now()), 5);"
               print "console.error = console.warn = (...m) => { seenProblems.push(m.join(\" \")); };</script>"; next }
    /<\/body>/ { print "<script>"; while ((getline line < tests) > 0) print line; print "</script>" }
    { print }' "$1/index.html" >page.html
}
# Uses the page of a folder at a width.
try() {
  with_test "$1" "$2"
  cat >frame.html <<END
<!doctype html><meta charset="utf-8"><pre id="verdict">nothing came</pre>
<script>onmessage = (e) => { document.getElementById('verdict').textContent =
  'width ' + e.data.width + ': ' + (e.data.problems.length ? e.data.problems.join('; ') : 'no problems'); };</script>
<iframe src="page.html" style="width: $3px; height: 2000px; border: 0"></iframe>
END
  "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$work/profile-$3" --window-size=1400,2200 \
    --allow-file-access-from-files --virtual-time-budget=60000 --dump-dom "file://$work/frame.html" >dom.html 2>browser.log ||
    fail "the browser ended: $(tail -n 5 browser.log)"
  grep -q "width $3: no problems" dom.html || fail "$1: $(grep -A3 verdict dom.html | head -n 5)"
}
# What the page takes beside an empty one is printed: a clock says nothing of a busy machine.
now() { date +%s%3N; }
mkdir -p empty
printf '<!doctype html>\n<head>\n</head>\n<body>\n</body>\n' >empty/index.html
echo "addEventListener('load', () => parent.postMessage({ width: innerWidth, problems: [] }, '*'));" >empty.js
cat >drawn.js <<'END'
addEventListener('load', async () => {
  for (let i = 0; i < 2000 && !Chart.getChart('scatter'); i++) await new Promise((go) => setTimeout(go, 5));
  parent.postMessage({ width: innerWidth, problems: Chart.getChart('scatter') ? [] : ['no chart'] }, '*');
});
END
started=$(now)
tests=. try empty empty.js 1280
between=$(now)
tests=. try many drawn.js 1280
printf 'many points: %d bytes, drawn %d ms later than nothing\n' "$bytes" "$(($(now) - between - (between - started)))"
try many browser_many.js 1280
for width in 1280 390; do
  try out browser.js "$width"
  try packed browser.js "$width"
  try net browser_network.js "$width"
  try host browser_network.js "$width"
  try study browser_study.js "$width"
done
echo "1280 and 390 pixels: no problems"
