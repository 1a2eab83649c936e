// The page of one network on one array. `data` is what cli/network_page.c puts into the page: the JSON of `weft sim`, and
// of each step what its units did; the plan of memory; what the array could do.
(async () => {
  const { $, number, percent, element, colours } = weft;
  const data = await weft.data(), steps = data.steps;
  const state = { rows: 'step', what: 'execute', order: 'run', chosen: null };
  const timed = data.cycles !== undefined, withUnits = steps.some((s) => s.units);
  const sum = (list) => list.reduce((a, b) => a + b, 0);

  // Names lose what all begin with; those of ends are whole.
  steps.forEach((s, i) => {
    s.index = i;
    s.label = s.edge ? s.node : s.node.slice(data.prefix.length);
    s.does = s.makes ? s.operator : s.program.split(' ')[0];
    s.bytes = (s.read_bytes || 0) + (s.written_bytes || 0);
  });
  const cut = (name, length) => (name.length > length ? '\u2026' + name.slice(name.length - length + 1) : name);
  const places = [['array', (s) => s.place === 'array'], ['host', (s) => s.place !== 'array' && !s.edge], ['ends', (s) => s.place !== 'array' && s.edge]];

  // ---- the run

  function fillFigures() {
    const peak = data.processing_elements;
    const ms = timed ? `${number(data.cycles / (1000 * data.clock_mhz))} ms at ${number(data.clock_mhz)} MHz` : '-';
    weft.figures('figures', [
      ...(timed ? [['cycles', number(data.cycles)], ['time', ms], ['of the peak, end to end', percent(data.macs / (peak * data.cycles))],
        ['cycles of the array', number(data.array_cycles)], ['of the peak, array alone', percent(data.macs / (peak * data.array_cycles))],
        ['cycles of the host', number(data.host_cycles)], ['cycles at the ends', number(data.edge_cycles)]] : []),
      ['multiply-accumulates', number(data.macs)], ['commands', number(data.commands)],
      ...(data.read_bytes !== undefined ? [['bytes read', number(data.read_bytes)], ['bytes written', number(data.written_bytes)]] : []),
      ...(data.energy_uj !== undefined ? [['energy', number(data.energy_uj) + ' uJ'], ["array's, as models count", number(data.array_energy_pj / 1e6) + ' uJ']] : []),
      ['weights', number(data.weight_bytes) + ' bytes'], ['activations', number(data.arena_bytes) + ' bytes'],
      ['result', data.compared ? (data.wrong === 0 ? "as the int8 reference's" : `${number(data.wrong)} elements WRONG`) : 'not compared'],
      ...(data.quality || []).map((q) => [`quality of ${q.output}`, `${q.sqnr_db.toFixed(1)} dB`])]);
  }

  function drawShares() {
    const cycles = places.map(([, is]) => sum(steps.filter(is).map((s) => s.cycles || 0)));
    const total = sum(cycles);
    $('shares-title').hidden = $('shares').hidden = total === 0;
    if (total === 0) return;
    const tints = [colours()[0], colours()[1], weft.style('--idle')];
    $('shares').replaceChildren(...cycles.map((c, i) => {
      const part = element('span');
      part.style.cssText = `display:inline-block;height:18px;background:${tints[i]};width:${100 * c / total}%;print-color-adjust:exact;-webkit-print-color-adjust:exact`;
      return part;
    }));
    weft.legend('shares-legend', places.map(([name], i) => [name, tints[i], percent(cycles[i] / total)]).filter((_, i) => cycles[i] > 0));
  }

  // ---- bars

  const block = (s) => (s.edge ? s.node : s.label.split(/[./]/).slice(0, 2).join('.') || s.label);
  const keys = { step: (s) => String(s.index), operator: (s) => s.operator, block };

  // What a step is made of: a list of [part, value].
  function partsOf(s) {
    if (state.what === 'energy') return (s.parts || []).map((pj, i) => [data.parts[i], pj / 1e6]);
    if (state.what === 'bytes') return [['read', s.read_bytes || 0], ['written', s.written_bytes || 0]];
    const causes = s.place === 'array' && s.units && s.units[state.what];
    if (!causes) return [[s.place === 'array' ? 'array' : 'the hart', s.cycles || 0]];
    const known = Object.entries(causes), rest = (s.cycles || 0) - sum(known.map(([, v]) => v));
    return rest > 0 ? [...known, ['before and after', rest]] : known;
  }

  function bars() {
    const groups = new Map();
    for (const s of steps) {
      const key = keys[state.rows](s);
      if (!groups.has(key)) groups.set(key, { key, steps: [], parts: new Map() });
      const g = groups.get(key);
      g.steps.push(s);
      for (const [part, v] of partsOf(s)) g.parts.set(part, (g.parts.get(part) || 0) + v);
    }
    const list = [...groups.values()].map((g) => Object.assign(g, { total: sum([...g.parts.values()]) }));
    if (state.order === 'size') list.sort((a, b) => b.total - a.total);
    return list;
  }

  // A cause has one colour in all charts.
  const causeNames = [...new Set(steps.flatMap((s) => Object.values(s.units || {}).flatMap((causes) => Object.keys(causes))))].filter((c) => c !== 'idle' && c !== 'working');

  function tintOf(part, i) {
    const fixed = { idle: weft.style('--idle'), working: weft.style('--work'), 'the hart': colours()[1], array: colours()[0], 'before and after': weft.style('--line') };
    const at = causeNames.indexOf(part);
    return fixed[part] || weft.causes()[(at < 0 ? i : at) % weft.causes().length];
  }

  const units = { energy: 'uJ', bytes: 'bytes on the bus' };
  function drawBars() {
    const list = bars(), length = innerWidth < 600 ? 18 : 34;
    const totals = new Map();
    for (const g of list) for (const [part, v] of g.parts) totals.set(part, (totals.get(part) || 0) + v);
    const all = sum([...totals.values()]);
    const parts = [...totals.keys()].filter((p) => totals.get(p) > 0);
    const named = (s) => s.label + (s.makes ? '' : ` (${s.does})`);
    const label = (g) => (state.rows === 'step' ? `${g.key} ${cut(named(g.steps[0]), length)}` : cut(g.key, length) + (g.steps.length > 1 ? ` x ${g.steps.length}` : ''));
    $('bars-box').style.height = Math.max(120, 17 * list.length + 60) + 'px';
    weft.legend('bars-legend', parts.map((p, i) => [p, tintOf(p, i), percent(totals.get(p) / all)]));
    const chart = weft.draw('bars', () => ({
      type: 'bar',
      data: { labels: list.map(label), datasets: parts.map((part, i) => ({ label: part, data: list.map((g) => g.parts.get(part) || 0), backgroundColor: tintOf(part, i), barPercentage: 0.9, categoryPercentage: 0.95 })) },
      options: {
        indexAxis: 'y',
        scales: { x: { stacked: true, position: 'top', title: { display: true, text: units[state.what] || 'cycles' }, ticks: { callback: (v) => number(v), maxTicksLimit: innerWidth < 600 ? 4 : 8 } },
          y: { stacked: true, ticks: { autoSkip: false, font: { size: 11 } }, grid: { display: false } } },
        plugins: { legend: { display: false }, tooltip: { callbacks: { label: (t) => `${t.dataset.label}: ${number(t.raw)}, ${percent(t.raw / list[t.dataIndex].total)}` } } },
        onClick: (event, hits) => { if (hits.length && state.rows === 'step') choose(steps[Number(list[hits[0].index].key)], true); },
      },
    }));
    return chart;
  }

  // ---- one step

  function choose(s, scroll) {
    state.chosen = state.chosen === s && scroll ? null : s;
    weft.keep('step', state.chosen ? state.chosen.index : null);
    $('chosen').hidden = state.chosen === null;
    fillSteps();
    fillSensitivity();
    markGraph();
    if (timeline) timeline.mark(state.chosen ? state.chosen.index : -1);
    $('timeline-step').disabled = state.chosen === null;
    if (state.chosen === null) { weft.forget('chosen-units'); return; }
    $('chosen-title').textContent = `Step ${s.index}: ${s.label}`;
    const least = s.macs / data.processing_elements;
    weft.figures('chosen-figures', [['node', s.node], ['operator', s.operator], ['result', s.result], ['place', s.place + (s.reason ? `: ${s.reason}` : '')],
      ['cycles', number(s.cycles)], ...(s.macs ? [['multiply-accumulates', number(s.macs)], ['least cycles of the mesh', number(Math.ceil(least))], ['utilisation', percent(s.utilisation)]] : []),
      ['commands', number(s.commands)], ['bytes on the bus', number(s.bytes)], ...(s.energy_uj !== undefined ? [['energy', number(s.energy_uj) + ' uJ']] : []),
      ['waits most for', s.bound || '-'], ['result', s.wrong ? `${number(s.wrong)} bytes WRONG` : `${number(s.compared_bytes)} bytes compared`]]);
    $('chosen-program').textContent = s.program;
    drawUnits(s);
    if (scroll) $('chosen').scrollIntoView({ behavior: 'smooth', block: 'start' });
  }

  function drawUnits(s) {
    const of = Object.keys(s.units || {});
    $('chosen-box').hidden = of.length === 0;
    if (of.length === 0) { weft.forget('chosen-units'); weft.legend('chosen-legend', []); return; }
    const causes = [...new Set(of.flatMap((u) => Object.keys(s.units[u]).filter((c) => s.units[u][c] > 0)))];
    weft.legend('chosen-legend', causes.map((c, i) => [c, tintOf(c, i)]));
    $('chosen-box').style.height = 40 + 28 * of.length + 'px';
    weft.draw('chosen-units', () => ({
      type: 'bar',
      data: { labels: of, datasets: causes.map((c, i) => ({ label: c, data: of.map((u) => s.units[u][c] || 0), backgroundColor: tintOf(c, i) })) },
      options: { indexAxis: 'y', scales: { x: { stacked: true, title: { display: true, text: 'cycles' } }, y: { stacked: true } },
        plugins: { legend: { display: false }, tooltip: { callbacks: { label: (t) => `${t.dataset.label}: ${number(t.raw)}` } } } },
    }));
  }

  // ---- the graph

  const graphNodes = data.graph.nodes.map((n) => ({ ...n, steps: [] }));
  steps.forEach((s) => s.nodes.forEach((n) => graphNodes[n].steps.push(s)));
  graphNodes.forEach((n, i) => {
    n.cycles = sum(n.steps.filter((s) => s.nodes[0] === i).map((s) => s.cycles || 0));  // a step of several nodes counts at its first
    n.main = n.steps.reduce((a, s) => (a === null || (s.cycles || 0) > (a.cycles || 0) ? s : a), null);
    n.end = n.operator === 'input' || n.operator === 'output';
    n.label = n.name.startsWith(data.prefix) ? n.name.slice(data.prefix.length) : n.name;
    n.place = n.main ? n.main.place : n.end ? 'ends' : 'no step';
  });
  const operators = [...new Set(graphNodes.map((n) => n.operator))], longest = Math.max(1, ...graphNodes.map((n) => n.cycles));
  const stepText = (n) => (n.steps.length === 0 ? '' : 'step ' + n.steps.map((s) => s.index).join(', '));
  function cyclesText(n) {
    if (!n.main) return n.end ? n.result : 'no step of its own';
    if (n.cycles === 0 && graphNodes[n.main.nodes[0]] !== n) return `within step ${n.main.index}`;
    return timed ? `${number(n.cycles)} cycles, ${percent(n.cycles / data.cycles)}` : n.result;
  }

  // The cause that most of the cycles of execute (or of what units there are) went to.
  function causeOf(n) {
    const causes = n.main && n.main.units && n.main.place === 'array' && (n.main.units.execute || Object.values(n.main.units)[0]);
    return causes ? Object.entries(causes).reduce((a, b) => (b[1] > a[1] ? b : a))[0] : n.place;
  }
  const placeTints = () => ({ array: colours()[0], host: colours()[1], ends: weft.style('--soft'), 'no step': weft.style('--idle') });
  const graphColours = {
    place: ['place', (n) => [n.place, placeTints()[n.place]]],
    cause: ['cause of most cycles of execute', (n) => { const cause = causeOf(n); return [cause, placeTints()[cause] || tintOf(cause, 0)]; }],
    operator: ['operator', (n) => [n.operator, colours()[operators.indexOf(n.operator) % colours().length]]],
  };
  const graphTint = (n) => graphColours[state.graphColour][1](n);

  function graphLegend() {
    const entries = new Map();
    for (const n of graphNodes) { const [name, tint] = graphTint(n); entries.set(name, [tint, (entries.get(name) || [tint, 0])[1] + 1]); }
    weft.legend('graph-legend', [...entries].map(([name, [tint, count]]) => [name, tint, `(${number(count)})`]));
  }

  function describeNode(i) {
    const n = graphNodes[i], names = (list) => list.map((k) => graphNodes[k].label).join(', ') || 'none';
    const before = data.graph.edges.filter((e) => e[1] === i).map((e) => e[0]), after = data.graph.edges.filter((e) => e[0] === i).map((e) => e[1]);
    const more = [n.constant_bytes ? `${number(n.constant_bytes)} bytes of constants` : '', n.reason || ''].filter((t) => t);
    const corner = n.steps.length > 1 ? `${n.steps[0].index}-${n.steps[n.steps.length - 1].index}` : n.steps.length ? String(n.steps[0].index) : '';
    return {
      head: cut(n.operator, 18 - corner.length), corner, name: cut(n.label, 26), figure: cyclesText(n),
      share: n.cycles / longest, faint: !n.main && !n.end, hover: [`${n.operator} ${n.name}`, n.result, [n.place, stepText(n)].filter((t) => t).join(', '), cyclesText(n), ...more].join('\n'),
      said: `${n.operator} ${n.label}, ${n.place}, ${[stepText(n), cyclesText(n)].filter((t) => t).join(', ')}; from ${names(before)}; to ${names(after)}`,
    };
  }

  function chooseNode(i) {
    const n = graphNodes[i];
    if (n.main && !n.steps.includes(state.chosen)) choose(n.main, false);
    if (!n.main && state.chosen) choose(null, false);
    noteNode(i);
  }

  function noteNode(i) {
    const n = graphNodes[i], more = [n.constant_bytes ? `${number(n.constant_bytes)} bytes of constants` : '', n.main ? stepText(n) : '', timed && n.main ? cyclesText(n) : '', n.main ? n.place : '', n.reason || ''];
    const why = n.main || n.end ? '' : ': its bytes stay where they are, or a neighbour does its work';
    $('graph-note').textContent = [`${n.operator} ${n.label}: ${n.result}`, ...more.filter((t) => t)].join(', ') + why + '.';
  }

  let graph = null;
  function makeGraph() {
    const tensors = data.graph.tensors;
    graph = weft.graph('graph', {
      count: graphNodes.length, edges: data.graph.edges.map(([from, to, t]) => [from, to, `${tensors[t][0]}: ${tensors[t][1]}`]), describe: describeNode,
      tint: (i) => [graphTint(graphNodes[i])[1], 1], choose: chooseNode,
      open: (i) => { if (graphNodes[i].main) $('chosen').scrollIntoView({ behavior: 'smooth', block: 'start' }); },
    });
    weft.options('graph-shape', [['columns', 'in columns'], ['down', 'in one column']], innerWidth < 600 ? 'down' : 'columns', (v) => graph.arrange(v === 'columns'));
    $('graph-in').onclick = () => graph.zoom(1.4);
    $('graph-out').onclick = () => graph.zoom(1 / 1.4);
    $('graph-whole').onclick = graph.showWhole;
  }
  function paintGraph() {
    graphLegend();
    if (graph) graph.paint();
  }
  function markGraph() {
    if (!graph) return;
    graph.mark(state.chosen ? state.chosen.nodes : []);
    if (state.chosen) noteNode(state.chosen.nodes[0]); else $('graph-note').textContent = '';
  }

  // ---- the time line

  const ORDER = ['front_end', 'load', 'execute', 'store', 'mesh', 'dma_reader', 'dma_writer'];
  const timeUnits = [...new Set(steps.flatMap((s) => Object.keys(s.units || {})))].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
  const barTints = () => ({ array: colours()[0], hart: colours()[1], ends: weft.style('--soft') });
  const onRow = (s) => (s.place === 'array' ? 'array' : 'hart');

  // Working lowest, then the causes of waiting; idle is what is left.
  function unitShares(s, unit) {
    const causes = s.place === 'array' && s.cycles > 0 && s.units && s.units[unit];
    if (!causes) return null;
    const rank = (c) => (c === 'working' ? -1 : causeNames.indexOf(c));
    return Object.entries(causes).filter(([c]) => c !== 'idle').sort((a, b) => rank(a[0]) - rank(b[0])).map(([c, cycles]) => [c, cycles / s.cycles]);
  }

  function timelineRows() {
    const bar = (name) => ({ name, height: 26, text: (i) => steps[i].label,
      shares: (i) => (onRow(steps[i]) === name ? [[barTints()[steps[i].edge && name === 'hart' ? 'ends' : name], 1]] : null) });
    const busy = (unit) => ({ name: unit, height: 34, shares: (i) => { const shares = unitShares(steps[i], unit); return shares && shares.map(([c, share]) => [tintOf(c, 0), share]); } });
    return [...['array', 'hart'].filter((name) => steps.some((s) => onRow(s) === name)).map(bar), ...timeUnits.map(busy)];
  }

  function sayStep(i, row) {
    const s = steps[i], shares = row && timeUnits.includes(row) ? unitShares(s, row) : null;
    return [`${s.index} ${s.label}`, `${s.operator}, ${s.place}`, `${number(s.cycles)} cycles (${percent(s.cycles / data.cycles)}) from ${number(s.start)}`,
      ...(shares ? [`${row}:`, ...shares.filter(([, share]) => share >= 0.0005).map(([c, share]) => `${c} ${percent(share)}`)] : [])];
  }

  let timeline = null;
  function makeTimeline() {
    $('timeline-part').hidden = !timed || data.cycles === 0;
    if ($('timeline-part').hidden) return;
    timeline = weft.timeline('timeline', {
      spans: steps.map((s) => ({ from: s.start, until: s.start + s.cycles })), rows: timelineRows(), unit: 'cycles', say: sayStep,
      choose: (i) => { if (state.chosen !== steps[i]) choose(steps[i], false); }, open: () => $('chosen').scrollIntoView({ behavior: 'smooth', block: 'start' }),
    });
    $('timeline-in').onclick = () => timeline.zoom(2);
    $('timeline-out').onclick = () => timeline.zoom(0.5);
    $('timeline-whole').onclick = timeline.showWhole;
    $('timeline-step').onclick = () => { if (state.chosen) timeline.showSpan(state.chosen.index); };
    $('timeline-note').textContent = timeUnits.length ? 'A unit\'s column is its share of the step\'s cycles: working below, above it what it waited for, idle left pale.' : '';
  }
  function paintTimeline() {
    if (!timeline) return;
    const causes = new Set(steps.flatMap((s) => timeUnits.flatMap((u) => (unitShares(s, u) || []).map(([c]) => c))));
    weft.legend('timeline-legend', [...(causes.has('working') ? ['working'] : []), ...causeNames.filter((c) => causes.has(c))].map((c) => [c, tintOf(c, 0)]));
    timeline.draw();
  }

  // ---- roofline, energy

  function drawRoofline() {
    const points = steps.filter((s) => s.place === 'array' && s.macs > 0 && s.cycles > 0 && s.bytes > 0)
      .map((s) => ({ x: s.macs / s.bytes, y: s.macs / s.cycles, s }));
    $('roofline-part').hidden = points.length === 0;
    if (points.length === 0) return;
    const pes = data.processing_elements, bus = data.bus_bytes, ridge = pes / bus;
    const xs = [...points.map((q) => q.x), ridge], low = Math.min(...xs) / 1.5, high = Math.max(...xs) * 1.5;
    const roof = [low, ridge, high].map((x) => ({ x, y: Math.min(pes, x * bus) }));
    weft.draw('roofline', () => ({
      type: 'scatter',
      data: { datasets: [{ label: 'steps', data: points, backgroundColor: colours()[0] + 'b0', pointRadius: 4, pointHoverRadius: 7 },
        { label: `${number(pes)} elements, ${number(bus)} bytes per cycle`, data: roof, type: 'line', borderColor: colours()[1], borderWidth: 1.5, pointRadius: 0 }] },
      options: {
        scales: { x: weft.logScale('multiply-accumulates per byte on the bus', [low, high]), y: weft.logScale('multiply-accumulates per cycle', [...points.map((q) => q.y), ...roof.map((q) => q.y)]) },
        plugins: { tooltip: { filter: (t) => t.raw.s !== undefined, callbacks: { label: (t) => `${t.raw.s.index} ${t.raw.s.label}: ${number(t.raw.y)} per cycle` } } },
        onClick: (event, hits) => { const hit = hits.find((h) => h.datasetIndex === 0); if (hit) choose(points[hit.index].s, true); },
      },
    }));
  }

  function drawEnergy() {
    const known = Object.entries(data.energy_pj || {}).filter(([name, pj]) => name !== 'total' && pj > 0).sort((a, b) => b[1] - a[1]);
    $('energy-part').hidden = known.length === 0;
    if (known.length === 0) return;
    $('energy-note').textContent = `Technology ${data.technology}.` + (data.energy_unknown ? ` No source gives numbers for ${data.energy_unknown}.` : '');
    weft.draw('energy', () => ({
      type: 'bar',
      data: { labels: known.map(([name, pj]) => `${name} ${percent(pj / data.energy_pj.total)}`), datasets: [{ label: 'uJ', data: known.map(([, pj]) => pj / 1e6), backgroundColor: colours()[0] }] },
      options: { indexAxis: 'y', scales: { x: { title: { display: true, text: 'uJ' } }, y: { ticks: { autoSkip: false } } }, plugins: { legend: { display: false } } },
    }));
  }

  // ---- memory: a rectangle for each buffer, from the step that writes it to the last that reads it

  function drawMemory() {
    const buffers = data.buffers;
    $('memory-part').hidden = buffers.length === 0;
    if (buffers.length === 0) return;
    const height = 260, width = Math.max(300, $('memory').clientWidth || 1000), left = 70, count = steps.length;
    const top = Math.max(...buffers.map((b) => b.offset + b.bytes));
    const x = (step) => left + (width - left) * Math.min(Math.max(step, 0), count) / count;
    const y = (offset) => height * (1 - offset / top);
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', `0 0 ${width} ${height + 34}`);
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', 'buffers of activations: steps from left to right, addresses upwards');
    svg.style.width = '100%';
    const put = (name, attributes, text) => {
      const e = document.createElementNS(svg.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
      if (text) e.textContent = text;
      svg.append(e);
      return e;
    };
    buffers.forEach((b, i) => {
      const from = x(b.first), to = x(b.last + 1), high = Math.max(1, height * b.bytes / top);
      const rect = put('rect', { x: from, y: y(b.offset + b.bytes), width: Math.max(1.5, to - from), height: high, fill: colours()[i % colours().length], 'fill-opacity': 0.65, stroke: weft.style('--paper'), 'stroke-width': 0.6 });
      rect.style.printColorAdjust = 'exact';
      const title = document.createElementNS(svg.namespaceURI, 'title');
      title.textContent = `${b.name}: ${number(b.bytes)} bytes at ${number(b.offset)}, steps ${Math.max(b.first, 0)} to ${Math.min(b.last, count - 1)}`;
      rect.append(title);
    });
    for (let i = 0; i <= 4; i++) put('text', { x: left - 6, y: Math.min(height, y(top * i / 4) + 9), 'text-anchor': 'end' }, `${number(Math.round(top * i / 4 / 1024))} KiB`);
    for (let i = 0; i < 5; i++) put('text', { x: x(count * i / 4), y: height + 16, 'text-anchor': i === 4 ? 'end' : 'middle' }, String(Math.round(count * i / 4)));
    put('text', { x: (left + width) / 2, y: height + 31, 'text-anchor': 'middle' }, 'step');
    $('memory').replaceChildren(svg);
    $('memory-note').textContent = `${number(data.arena_bytes)} bytes hold all activations; at one time ${number(data.arena_least_bytes)} live at most, so no plan is smaller. Weights take ${number(data.weight_bytes)} bytes beside them.`;
  }

  // ---- what the cycles depend on

  function fillSensitivity() {
    const rows = (state.chosen && state.chosen.sensitivity) || data.sensitivity;
    $('sensitivity-part').hidden = !rows;
    if (!rows) return;
    weft.table('sensitivity', { rows, file: 'sensitivity.csv', columns: [
      { head: 'weight', of: (r) => r.weight, left: true }, { head: 'cycles', of: (r) => r.cycles }, { head: '%', of: (r) => r.percent, text: (r) => r.percent.toFixed(2) },
      { head: 'parameters', of: (r) => r.parameters, left: true, wrap: true }, { head: 'what', of: (r) => r.what, left: true, wrap: true },
      { head: '10 % less saves', of: (r) => r.ten_percent_less_saves ?? null, text: (r) => (r.ten_percent_less_saves === undefined ? '' : number(r.ten_percent_less_saves)) },
      { head: 'one more saves', of: (r) => r.one_more_saves ?? null, text: (r) => (r.one_more_saves === undefined ? '' : number(r.one_more_saves)) }] });
  }

  // ---- the table of steps

  function fillSteps() {
    weft.table('steps', {
      rows: steps, file: 'steps.csv', chosen: (s) => s === state.chosen, choose: (s) => choose(s, true),
      columns: [
        { head: 'step', of: (s) => s.index }, { head: 'node', of: (s) => s.node, text: (s) => s.label, left: true, wrap: true }, { head: 'operator', of: (s) => s.does, left: true },
        { head: 'result', of: (s) => s.result, left: true }, { head: 'place', of: (s) => s.place, left: true },
        { head: 'cycles', of: (s) => s.cycles ?? null }, { head: 'of all', of: (s) => (timed ? s.cycles / data.cycles : null), text: (s) => (timed ? percent(s.cycles / data.cycles) : '') },
        { head: 'utilisation', of: (s) => (s.macs ? s.utilisation : null), text: (s) => (s.macs && timed ? percent(s.utilisation) : '') },
        { head: 'multiply-accumulates', of: (s) => s.macs }, { head: 'bytes on the bus', of: (s) => s.bytes },
        { head: 'energy (uJ)', of: (s) => s.energy_uj ?? null }, { head: 'waits most for', of: (s) => s.bound || '', left: true, wrap: true }],
    });
  }

  // ---- the whole

  document.title = `${data.network} on ${data.array} - Weft`;
  $('title').textContent = `${data.network} on ${data.array}`;
  $('summary').textContent = `${number(steps.length)} steps, engine ${data.engine}, array hash ${data.array_hash}.`;
  $('prefix').textContent = data.prefix ? `All names begin with ${data.prefix}` : '';
  $('prefix').hidden = !data.prefix;
  $('footer').textContent = `Written by weft ${data.writer}.`;
  weft.applyTheme();
  weft.themeButton('theme');
  const unitNames = [...new Set(steps.flatMap((s) => Object.keys(s.units || {})))];
  const redraw = (key) => (v, first) => { state[key] = v; if (!first) drawBars(); };
  weft.options('rows', [['step', 'step'], ['operator', 'operator'], ['block', 'block (by name)']], 'step', redraw('rows'));
  weft.options('what', [...(withUnits ? unitNames.map((u) => [u, `cycles, by cause of ${u}`]) : [['execute', 'cycles']]),
    ...(steps.some((s) => s.parts) ? [['energy', 'energy, by part']] : []), ...(data.read_bytes !== undefined ? [['bytes', 'bytes on the bus']] : [])],
  unitNames.includes('execute') || !withUnits ? 'execute' : unitNames[0], redraw('what'));
  weft.options('order', [['run', 'as it runs'], ['size', 'largest first']], 'run', redraw('order'));
  weft.options('graph-colour', Object.entries(graphColours).filter(([key]) => key !== 'cause' || withUnits).map(([key, [text]]) => [key, text]), 'place', (v) => { state.graphColour = v; paintGraph(); });
  fillFigures();
  drawShares();
  makeGraph();
  makeTimeline();
  paintTimeline();
  $('timeline-step').disabled = true;
  drawBars();
  drawRoofline();
  drawEnergy();
  drawMemory();
  fillSensitivity();
  fillSteps();
  const kept = Number(weft.recall('step') ?? NaN);
  if (steps[kept]) choose(steps[kept], false);
  document.addEventListener('theme', () => { drawShares(); drawMemory(); drawBars(); paintGraph(); paintTimeline(); if (state.chosen) drawUnits(state.chosen); });
  document.addEventListener('keydown', (e) => {
    if (e.key === 'Escape' && state.chosen) choose(state.chosen, true);
  });
})();
