'use strict';
// Put at the end of a network's page by browser_test.sh: uses it as a reader would, and leaves what it saw in #verdict.
window.addEventListener('load', async () => {
  const problems = window.seenProblems;
  const check = (what, good) => { if (!good) problems.push(what); };
  const pause = () => new Promise((go) => setTimeout(go, 60));
  const $ = (id) => document.getElementById(id), all = (css) => [...document.querySelectorAll(css)];
  const data = JSON.parse($('data').textContent);
  Element.prototype.scrollIntoView = () => {};
  await pause();
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const bars = () => Chart.getChart('bars');
  const total = () => sum(bars().data.datasets.flatMap((d) => d.data));
  check('no charts', ['bars', 'roofline', 'energy'].every((id) => Chart.getChart(id)));
  check('not a row for each step', all('#steps tbody tr').length === data.steps.length);
  check('not a bar for each step', bars().data.labels.length === data.steps.length);
  check(`bars of ${total()} cycles, not ${data.cycles}`, total() === data.cycles);
  check('names with what all begin with', !all('#steps tbody td').some((td) => data.prefix && td.textContent.startsWith(data.prefix)));
  check('causes without a legend', $('bars-legend').children.length === bars().data.datasets.length);

  // Whatever a bar stands for and whatever it shows, the sums are those of the run.
  const select = async (id, value) => { $(id).value = value; $(id).onchange(); await pause(); };
  for (const rows of [...$('rows').options]) {
    await select('rows', rows.value);
    for (const what of [...$('what').options]) {
      await select('what', what.value);
      const want = { energy: data.energy_uj, bytes: data.read_bytes + data.written_bytes }[what.value] || data.cycles;
      check(`${rows.value}, ${what.value}: ${total()}, not ${want}`, Math.abs(total() / want - 1) < 1e-6);
    }
  }
  check('a choice that the URL does not keep', location.hash.includes('rows=') && location.hash.includes('what='));
  await select('order', 'size');
  const first = bars().data.datasets.map((d) => d.data[0]);
  check('not the largest first', bars().data.labels.every((_, i) => sum(bars().data.datasets.map((d) => d.data[i])) <= sum(first) * (1 + 1e-9)));
  await select('rows', 'step');
  await select('what', $('what').options[0].value);
  await select('order', 'run');

  // A step by a click on its bar, by the keyboard in the table, away by Escape.
  const canvas = $('bars'), box = canvas.getBoundingClientRect();
  const long = data.steps.reduce((a, s, i) => (s.cycles > data.steps[a].cycles ? i : a), 0);
  const piece = bars().data.datasets.findIndex((d) => d.data[long] > 0.2 * data.steps[long].cycles);
  const at = bars().getDatasetMeta(piece).data[long].getCenterPoint();
  canvas.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: box.left + at.x, clientY: box.top + at.y }));
  await pause();
  check(`a click on step ${long} shows ${$('chosen-title').textContent}`, $('chosen-title').textContent.startsWith(`Step ${long}:`) && !$('chosen').hidden);
  check('the URL does not keep the step', location.hash.includes(`step=${long}`));
  check('no units of the step', $('chosen-box').hidden || Chart.getChart('chosen-units').data.labels.length > 2);
  const row = all('#steps tbody tr')[0];
  row.focus();
  row.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  check('the keyboard does not choose', $('chosen-title').textContent.startsWith('Step 0:'));
  check('the chosen row is not marked', all('#steps tr[aria-selected=true]').length === 1);
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
  check('Escape leaves the step', $('chosen').hidden && !location.hash.includes('step='));

  // ---- the graph

  const graph = data.graph, list = document.querySelector('#graph .list'), node = (i) => $('graph-' + i);
  const scaleOf = () => document.querySelector('#graph .stage > g').getAttribute('transform');
  const chosenNodes = () => all('#graph .node.chosen').map((e) => Number(e.dataset.node)).join();
  const key = (name, more) => list.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...more }));
  check('not a box for each node', all('#graph .node').length === graph.nodes.length && graph.nodes.length > 5);
  check('not a line for each edge', all('#graph .edge').length === graph.edges.length);
  check('an edge that leads back', graph.edges.every(([from, to]) => from < to));
  check('a step without a node', data.steps.every((s) => s.nodes.length > 0 && s.nodes.every((n) => graph.nodes[n])));
  check('a node that is not its step\'s', data.steps.every((s) => s.edge || graph.nodes[s.nodes[0]].operator === s.operator));

  // Boxes keep apart, edges lead down, lanes go beside boxes, and the same graph is laid out alike; also a tangled one.
  const sizes = { width: 176, height: 54, gap: 22, between: 38 };
  const wild = (count) => { let seed = 7; const next = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
    return Array.from({ length: count * 2 }, (_, i) => i >> 1).filter((to) => to > 0).map((to) => [Math.max(0, to - 1 - next(next(9) + 1)), to]).concat([[0, count - 1]]); };
  for (const [count, edges] of [[graph.nodes.length, graph.edges], [300, wild(300)], [1, []], [2, []]]) {
    const at = weft.layout(count, edges, sizes), again = weft.layout(count, edges, sizes);
    const apart = at.order.every((row) => row.every((n, i) => i === 0 || at.x[n] - at.x[row[i - 1]] >= sizes.width));
    check(`${count} nodes: boxes that overlap`, apart && at.order.flat().length === count);
    check(`${count} nodes: an edge that leads up`, edges.every(([from, to]) => at.rows[from] < at.rows[to] && at.y[from] < at.y[to]));
    check(`${count} nodes: a line through a box`, at.paths.every((path, e) => path.slice(1, -1).every(([x], i) => at.order[at.rows[edges[e][0]] + 1 + i].every((n) => Math.abs(at.x[n] - x) > sizes.width / 2))));
    check(`${count} nodes: laid out anew in another way`, JSON.stringify(at) === JSON.stringify(again));
    check(`${count} nodes: outside`, at.x.every((x) => x >= sizes.width / 2 && x <= at.width - sizes.width / 2) && Math.max(...at.y) + sizes.height / 2 === at.height);
  }
  // In columns boxes keep apart as well, and each has its place inside.
  for (const [count, edges] of [[graph.nodes.length, graph.edges], [300, wild(300)], [1, []]]) for (const columns of [1, 2, 5]) {
    const rows = weft.layout(count, edges, sizes), at = weft.fold(rows, edges, sizes, columns), spots = at.x.map((x, i) => [x, at.y[i]]).sort((a, b) => a[1] - b[1] || a[0] - b[0]);
    check(`${columns} columns of ${count}: boxes that overlap`, spots.every(([x, y], i) => i === 0 || spots[i - 1][1] !== y || x - spots[i - 1][0] >= sizes.width));
    check(`${columns} columns of ${count}: outside`, spots.every(([x, y]) => x >= sizes.width / 2 && x <= at.width - sizes.width / 2 && y >= sizes.height / 2 && y <= at.height - sizes.height / 2));
    check(`${columns} columns of ${count}: lines that end elsewhere`, edges.every(([from, to], e) => at.paths[e][0][0] === at.x[from] && at.paths[e][at.paths[e].length - 1][1] === at.y[to]));
    check(`${columns} columns of ${count}: not folded`, new Set(at.paths.flat().map((point) => point[2])).size <= columns && (columns === 1 || count === 1 || at.breaks.flat().some((corners) => corners)));
  }
  // Where more columns follow than fit, none of the room is empty.
  const stage = () => /translate\(([-\d.]+) [-\d.]+\) scale\(([\d.]+)\)/.exec(scaleOf()).slice(1).map(Number);
  const extent = () => { const b = document.querySelector('#graph .stage > g').getBBox(); return [b.x, b.x + b.width]; };
  await select('graph-shape', 'columns');
  const [[x, k], [left, right]] = [stage(), extent()];
  check(`room of ${x + left * k} beside the columns`, x + left * k < 60 || x + right * k <= list.clientWidth);
  const spread = () => new Set(all('#graph .node').map((e) => e.getAttribute('transform'))).size;
  for (const shape of ['down', 'columns']) {
    await select('graph-shape', shape);
    check(`${shape}: nodes in one place`, spread() === graph.nodes.length);
  }
  check('crossings of two lines', weft.layout(4, [[0, 3], [1, 2]], sizes).crossings === 0);

  // A click on a node chooses its step in the table, a row its node.
  const busy = data.steps[long].nodes[0];
  node(busy).dispatchEvent(new MouseEvent('click', { bubbles: true }));
  const selected = () => all('#steps tr[aria-selected=true] td:first-child').map((e) => e.textContent).join();
  check(`a click on node ${busy} chooses step ${selected()}`, data.steps[Number(selected())].nodes.includes(busy) && chosenNodes().includes(String(busy)));
  check('nothing is said of the node', $('graph-note').textContent.includes(graph.nodes[busy].result));
  all('#steps tbody tr')[data.steps.length - 1].click();
  check('a row does not choose its node', chosenNodes() === data.steps[data.steps.length - 1].nodes.join());
  check('not what has the focus', $(list.getAttribute('aria-activedescendant')).getAttribute('aria-selected') === 'true');
  const silent = graph.nodes.findIndex((_, i) => !data.steps.some((s) => s.nodes.includes(i)));
  node(silent).dispatchEvent(new MouseEvent('click', { bubbles: true }));
  check('a node without a step leaves one chosen', $('chosen').hidden && chosenNodes() === String(silent));

  // Keys: along an edge and back, in a row, the size; with shift they move the picture.
  key('Home');
  check('Home', chosenNodes().startsWith('0'));
  key('ArrowDown');
  check('down along an edge', graph.edges.some(([from, to]) => from === 0 && chosenNodes().split(',').includes(String(to))));
  key('ArrowUp');
  check('back up', chosenNodes() === '0');
  for (const [name, more] of [['+'], ['-'], ['0'], ['ArrowDown', { shiftKey: true }]]) {
    key('0'); key('+'); key('+');
    if (name === '0') key('+');
    const before = scaleOf();
    key(name, more);
    check(`key ${name} does not move the picture`, scaleOf() !== before);
  }
  const unmoved = scaleOf();
  const wheel = (more) => list.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, bubbles: true, cancelable: true, clientX: 300, clientY: 300, ...more }));
  document.activeElement.blur();
  check('the wheel is taken from the page', wheel({}) && scaleOf() === unmoved);
  check('the wheel with Ctrl', !wheel({ ctrlKey: true }) && scaleOf() !== unmoved);
  const held = scaleOf(), touch = (type, id, x, y) => list.dispatchEvent(new PointerEvent(type, { pointerId: id, button: type === 'pointerdown' ? 0 : -1, bubbles: true, clientX: x, clientY: y }));
  touch('pointerdown', 1, 100, 100); touch('pointermove', 1, 130, 140);
  const dragged = scaleOf();
  check('a drag does not move the picture', dragged !== held && dragged.split('scale')[1] === held.split('scale')[1]);
  touch('pointerdown', 2, 200, 200); touch('pointermove', 2, 300, 300);
  check('two fingers do not enlarge', dragged.split('scale')[1] !== scaleOf().split('scale')[1]);
  touch('pointerup', 1, 0, 0); touch('pointerup', 2, 0, 0);
  const after = chosenNodes();
  node(busy).dispatchEvent(new MouseEvent('click', { bubbles: true }));
  check('a drag ends in a click', chosenNodes() === after);
  for (const option of [...$('graph-colour').options]) {
    await select('graph-colour', option.value);
    const tints = new Set(all('#graph .node .strip').map((e) => e.getAttribute('fill')));
    check(`${option.value}: ${tints.size} colours, ${$('graph-legend').children.length} in the legend`, tints.size > 1 && tints.size <= $('graph-legend').children.length);
  }
  dispatchEvent(new Event('beforeprint'));
  check('no graph on paper', all('#graph .sheets use').length > 0);
  dispatchEvent(new Event('afterprint'));
  check('paper stays', all('#graph .sheets use').length === 0);

  // ---- the time line

  const line = document.querySelector('#timeline canvas'), lineKey = (name, more) => line.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...more }));
  const onLine = (type, i, row, more) => { const r = line.getBoundingClientRect(), [x, y] = line.weft.place(i, row);
    line.dispatchEvent(new (type.startsWith('pointer') ? PointerEvent : MouseEvent)(type, { bubbles: true, clientX: r.left + x, clientY: r.top + y, ...more })); };
  const seen = () => line.weft.view.until - line.weft.view.from;
  const pixel = ([x, y]) => line.getContext('2d').getImageData(Math.round(x * devicePixelRatio), Math.round(y * devicePixelRatio), 1, 1).data.join();
  check('steps that meet', data.steps.every((s, i) => i === 0 || s.start >= data.steps[i - 1].start + data.steps[i - 1].cycles));
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
  check('the slider has no value', line.getAttribute('aria-valuenow') === '0' && line.getAttribute('aria-valuetext') !== '');
  const rowOf = (s) => (s.place === 'array' ? 'array' : 'hart');
  check('nothing stands in the row of the longest step', pixel(line.weft.place(long, rowOf(data.steps[long]))) !== pixel([line.clientWidth - 1, 2]));
  onLine('pointermove', long, rowOf(data.steps[long]));
  const tipText = () => document.querySelector('#timeline .tip').textContent;
  check('the longest step is not told of', tipText().includes(data.steps[long].cycles.toLocaleString('en')) && tipText().includes(data.steps[long].operator));
  const ofArray = data.steps.findIndex((s) => s.place === 'array' && s.units && s.units.execute && s.units.execute.working > 0.2 * s.cycles && s.cycles > data.cycles / 100);
  onLine('pointermove', ofArray, 'execute');
  check(`no share of working in ${tipText()}`, tipText().includes(`working ${(100 * data.steps[ofArray].units.execute.working / data.steps[ofArray].cycles).toFixed(1)} %`));
  onLine('click', long, rowOf(data.steps[long]));
  check('a click on the time line chooses nothing', selected() === String(long) && line.getAttribute('aria-valuenow') === String(long) && chosenNodes() === data.steps[long].nodes.join());
  onLine('click', ofArray, 'execute');
  check('a click on a unit chooses nothing', selected() === String(ofArray));
  lineKey('Home');
  lineKey('ArrowRight');
  check('the arrow key does not choose the step behind', selected() === '1' && line.getAttribute('aria-valuetext').startsWith('1 '));
  lineKey('ArrowLeft');
  check('the arrow key does not choose the step before', selected() === '0');
  const whole = seen(), slider = line.getBoundingClientRect();
  check('not the whole run', line.weft.view.from === 0 && whole >= data.steps[data.steps.length - 1].start);
  line.dispatchEvent(new WheelEvent('wheel', { deltaY: -300, bubbles: true, cancelable: true, ctrlKey: true, clientX: slider.right - 5, clientY: slider.top + 40 }));
  check('the wheel does not enlarge', seen() < whole * 0.9);
  check('enlarged elsewhere than at the pointer', line.weft.view.until > whole * 0.99);
  lineKey('Home');
  check('the step that is chosen is not in view', line.weft.view.from <= data.steps[0].start + data.steps[0].cycles);
  lineKey('ArrowRight', { shiftKey: true });
  check('shift and an arrow do not move', line.weft.view.from > 0);
  await new Promise((go) => setTimeout(go, 400));
  check('the URL does not keep the range', /[#&]time=\d+-\d+/.test(location.hash));
  $('timeline-step').click();
  check('not the chosen step alone', Math.abs(seen() / Math.max(20, 2 * data.steps[0].cycles) - 1) < 0.01);
  dispatchEvent(new Event('beforeprint'));
  check('a part on paper', seen() === whole);
  dispatchEvent(new Event('afterprint'));
  lineKey('0');
  check('0 does not show the whole', seen() === whole);

  // A buffer for each rectangle; no two that live at one time share bytes, unless one takes the other's place over.
  check('not a rectangle for each buffer', all('#memory rect').length === data.buffers.length && data.buffers.length > 0);
  check('a buffer beyond the arena', data.buffers.every((b) => b.offset >= 0 && b.offset + b.bytes <= data.arena_bytes));

  // Parts of energy add up.
  const parts = sum(Object.entries(data.energy_pj).filter(([name]) => name !== 'total').map(([, pj]) => pj || 0));
  check('components of energy', Math.abs(parts / data.energy_pj.total - 1) < 1e-6);

  $('theme').click();
  check('not dark', document.documentElement.dataset.theme === 'dark');
  $('theme').click();
  const wide = all('body *').filter((e) => !e.closest('.scroll, .tallbox, .graph, pre, script, style') &&
    e.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
  check(`wider than the page: ${wide.map((e) => e.id || e.tagName).join(' ')}`, wide.length === 0);
  check('the page scrolls sideways', document.documentElement.scrollWidth <= document.documentElement.clientWidth);
  parent.postMessage({ width: innerWidth, problems }, '*');
});
