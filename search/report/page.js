// The page of a sweep or a search. `data` is what search/report/write.c puts into the page; everything shown follows from it
// and from the choices at its head, which its URL keeps.
(async () => {
  const { $, number, percent, element, colours } = weft;
  const data = await weft.data();
  const state = { network: 0, x: 'cycles', y: 'energy', colour: 'dim', chosen: null, filters: {}, ranges: new Map(), pins: [] };
  const PINS = 4;  // points side by side
  let layersOfPoints = null;  // read when the points are drawn

  // An array without a table of energies has none.
  const energyOf = (p, n) => (p.sums[n][1] === null ? NaN : p.sums[n][1] / 1e6);
  const axes = {
    cycles: { label: 'cycles', of: (p, n) => p.sums[n][0] },
    energy: { label: 'energy (uJ)', of: (p, n) => energyOf(p, n) },
    edp: { label: 'energy x delay (uJ x cycles)', of: (p, n) => p.sums[n][0] * energyOf(p, n) },
    area: { label: 'area of the logic (mm2)', of: (p) => p.area },
    memory: { label: 'local memories (KiB)', of: (p) => p.memory },
    ad: { label: 'area x delay (mm2 x cycles)', of: (p, n) => p.area * p.sums[n][0] },
  };
  if (!data.points.some((p) => p.sums && p.sums.some((s) => s && s[1] !== null))) {
    delete axes.energy;
    delete axes.edp;
    state.y = 'area';
  }

  // Parameters that always have the same value as one before, as those that are swept together, say nothing of their own.
  const names = [...new Set(data.points.flatMap((p) => Object.keys(p.values)))];
  const parameters = names.filter((name, i) => !names.slice(0, i).some((other) => data.points.every((p) => p.values[name] === p.values[other])));
  const same = (name) => names.filter((other) => data.points.every((p) => p.values[name] === p.values[other])).join(', ');
  const valuesOf = (name, points) => [...new Set(points.map((p) => p.values[name]))].sort((a, b) => (a > b ? 1 : -1));

  const isMeasured = (p) => p.sums !== undefined && p.sums[state.network] !== null;
  const passes = (p) => Object.entries(state.filters).every(([name, value]) => String(p.values[name]) === value);
  const isShown = (p) => isMeasured(p) && passes(p);
  const isGood = (p) => isShown(p) && inRanges(p);
  const good = () => data.points.filter(isGood);

  // ---- the scatter

  function colourOf(p) { return state.colour === 'dim' ? p.dim : p.values[state.colour]; }

  // Groups keep their colours whatever is left out.
  function tints() {
    const groups = [...new Set(data.points.filter(isMeasured).map(colourOf))].sort((a, b) => (a > b ? 1 : -1));
    return new Map(groups.map((g, i) => [g, colours()[i % colours().length]]));
  }

  // Points that no other beats in both axes, from left to right.
  function front(points) {
    const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
    let least = Infinity;
    return sorted.filter((p) => p.y < least && ((least = p.y), true));
  }

  function scatterPoints() {
    const x = axes[state.x], y = axes[state.y];
    return good().map((p) => ({ x: x.of(p, state.network), y: y.of(p, state.network), p }))
      .filter((q) => Number.isFinite(q.x) && Number.isFinite(q.y));
  }

  function drawScatter() {
    const x = axes[state.x], y = axes[state.y], points = scatterPoints();
    const used = new Set(points.map((q) => colourOf(q.p)));
    weft.draw('scatter', () => {
      const sets = [...tints()].filter(([g]) => used.has(g)).map(([g, tint]) => ({
        label: (state.colour === 'dim' ? 'side' : state.colour) + ' ' + g,
        data: points.filter((q) => colourOf(q.p) === g),
        backgroundColor: tint + 'b0',
        pointRadius: points.length > 2000 ? 2 : 4,
        pointHoverRadius: 7,
      }));
      const marks = points.filter((q) => q.p === state.chosen || state.pins.includes(q.p));
      sets.push({ label: 'front', data: front(points).map(({ x: at, y: up }) => ({ x: at, y: up })), type: 'line', borderColor: weft.ink(), borderWidth: 1, pointRadius: 0, fill: false, stepped: 'after' });
      sets.push({ label: 'chosen or compared', data: marks.map(({ x: at, y: up }) => ({ x: at, y: up })), pointStyle: 'rectRot', pointRadius: 9, borderWidth: 2, borderColor: weft.style('--accent'), backgroundColor: 'transparent' });
      return {
        type: 'scatter',
        data: { datasets: sets },
        options: {
          scales: { x: weft.logScale(x.label, points.map((q) => q.x)), y: weft.logScale(y.label, points.map((q) => q.y)) },
          plugins: { tooltip: { filter: (t) => t.raw.p !== undefined, callbacks: { label: (t) => pointText(t.raw.p) } } },
          onClick: (event, hits) => {
            const hit = hits.find((h) => sets[h.datasetIndex].data[h.index].p !== undefined);
            if (!hit) return;
            const p = sets[hit.datasetIndex].data[hit.index].p;
            // Later: a chart cannot be drawn anew while it handles an event.
            const act = event.native && event.native.shiftKey ? () => pin(p) : () => choose(p, true);
            setTimeout(act);
          },
        },
      };
    });
  }

  function pointText(p) {
    const lines = [`point ${p.id}: ${number(p.sums[state.network][0])} cycles, ${number(energyOf(p, state.network))} uJ`];
    for (const name of parameters) lines.push(`${name} ${p.values[name]}`);
    return lines;
  }

  // The arrow keys go through the points from left to right.
  function walk(step) {
    const list = scatterPoints().sort((a, b) => a.x - b.x || a.y - b.y);
    if (list.length === 0) return;
    const at = list.findIndex((q) => q.p === state.chosen);
    choose(list[Math.min(list.length - 1, Math.max(0, at + step))].p, false);
  }

  // ---- parameters and figures on parallel axes, and ranges of them

  const scaled = new Map();  // by network
  function parallelAxes() {
    const n = state.network, measured = data.points.filter(isMeasured);
    if (!scaled.has(n)) {
      const ofArrays = parameters.map((name) => ({ key: '@' + name, label: same(name), of: (p) => p.values[name] })).map((a) => ({ ...a, scale: weft.scale(data.points.map(a.of)) }));
      const ofRuns = Object.entries(axes).map(([key, axis]) => ({ key, label: axis.label, of: (p) => axis.of(p, n) })).map((a) => ({ ...a, scale: weft.scale(measured.map(a.of), true) }));
      scaled.set(n, [...ofArrays, ...ofRuns].filter((a) => a.scale.known.length > 1));
    }
    return scaled.get(n);
  }
  const inRanges = (p) => state.ranges.size === 0 || parallelAxes().every((a) => !state.ranges.has(a.key) || a.scale.inside(a.of(p), state.ranges.get(a.key)));
  const keepRanges = () => weft.keep('ranges', state.ranges.size ? JSON.stringify([...state.ranges]) : null);

  // Those of the URL that the axes know.
  function recallRanges() {
    let list = [];
    try { list = JSON.parse(weft.recall('ranges') || '[]'); } catch { list = []; }
    for (const item of Array.isArray(list) ? list : []) {
      const [key, range] = Array.isArray(item) ? item : [], axis = parallelAxes().find((a) => a.key === key);
      if (axis && Array.isArray(range) && range.length === 2 && range.every(axis.scale.has)) state.ranges.set(key, range);
    }
  }

  // What another network's runs were asked for says nothing of this one's.
  function leaveRanges() {
    for (const key of ['cycles', 'energy', 'edp', 'ad']) state.ranges.delete(key);
    keepRanges();
  }

  function changeRanges(act) {
    act();
    keepRanges();
    show();
  }

  function fillRanges(shown) {
    const text = (v) => (typeof v === 'number' ? number(v) : String(v)), word = ([a, b]) => (a === b ? text(a) : `${text(a)} to ${text(b)}`);
    const known = parallelAxes().filter((a) => state.ranges.has(a.key));
    $('ranges-count').textContent = known.length ? `${number(good().length)} of ${number(shown.length)} points` : `${number(shown.length)} points, no ranges`;
    const chips = known.map((a) => {
      const chip = weft.button(`${a.label}: ${word(state.ranges.get(a.key))} \u00d7`, () => changeRanges(() => state.ranges.delete(a.key)));
      chip.setAttribute('aria-label', `leave the range of ${a.label}`);
      return chip;
    });
    if (known.length > 1) chips.push(weft.button('all again', () => changeRanges(() => state.ranges.clear())));
    $('ranges').replaceChildren(...chips);
  }

  let parallel = null, parallelTints = null;
  function drawParallel() {
    const shown = data.points.filter(isShown);
    $('parallel-part').hidden = parallelAxes().length < 2 || shown.length < 2;
    if ($('parallel-part').hidden) return;
    parallelTints = tints();
    parallel = parallel || weft.parallel('parallel', { tint: (p) => parallelTints.get(colourOf(p)), say: pointText, choose: (p) => choose(p, false), change: () => changeRanges(() => {}) });
    fillRanges(shown);
    parallel({ axes: parallelAxes(), points: shown, ranges: state.ranges, marked: [state.chosen, ...state.pins].filter((p) => p) });
  }

  // ---- one point

  const readMeasurement = ([cycles, read, written, use, energy, array, bound, units]) => ({ cycles, read, written, use, energy, array, bound, units });
  const measured = (p, layer) => { const m = layersOfPoints[p.id] && layersOfPoints[p.id].layers[layer.unique]; return Array.isArray(m) ? readMeasurement(m) : m; };

  function layersOf(p) {
    // Steps of a program stand for it; other arrays may have others.
    const shown = data.networks[state.network].layers.filter((layer) => !layer.program && measured(p, layer) !== null);
    return shown.map((layer) => {
      const m = measured(p, layer);
      const pes = p.dim * p.dim;
      const least = Math.max(layer.macs / pes, Math.max(m.read, m.written) / p.bus);
      return { layer, m, least, intensity: layer.macs / (m.read + m.written) };
    });
  }

  function figuresOf(p) {
    const sums = p.sums[state.network];
    const parts = data.parts.map((name, i) => [`energy: ${name.replaceAll('_', ' ')}`, sums[3][i]]).filter(([, pj]) => pj > 0);
    return [['cycles', sums[0]], ['energy of the whole (uJ)', energyOf(p, state.network)], ...parts.map(([name, pj]) => [`${name} (uJ)`, pj / 1e6]),
      ["array's energy, as models count (uJ)", sums[2] === null ? NaN : sums[2] / 1e6],
      ['energy x delay (uJ x cycles)', sums[0] * energyOf(p, state.network)],
      ['mesh utilisation', data.networks[state.network].macs / (sums[0] * p.dim * p.dim), percent],
      ['side', p.dim], ['scratchpad (KiB)', p.scratchpad], ['accumulator (KiB)', p.accumulator],
      ['area of the logic (mm2)', p.area], ...(p.whole_area ? [[`area in ${p.technology} (mm2)` + (p.area_whole ? '' : ', as far as known'), p.whole_area]] : [])];
  }

  function choose(p, scroll) {
    state.chosen = p;
    weft.later('scatter', drawScatter);
    tell(p);
    if (scroll) $('chosen').scrollIntoView({ behavior: 'smooth', block: 'start' });
  }

  function tell(p) {
    weft.keep('point', p.id);
    $('chosen').hidden = false;
    $('chosen-title').textContent = `Point ${p.id}`;
    $('pin').textContent = state.pins.includes(p) ? 'compare no longer' : 'put beside others';
    weft.figures('chosen-figures', [...figuresOf(p).map(([name, v, as]) => [name, (as || number)(v)]), ['array', p.array], ['technology of the energies', p.technology],
      ...parameters.map((name) => [same(name), p.values[name]])]);
    if (pointTable) pointTable.mark();
    weft.later('parallel', drawParallel);
    if (layersOfPoints) tellLayers(p);
  }

  function tellLayers(p) {
    const layers = layersOf(p);
    weft.later('bars', () => drawBars(layers));
    weft.later('roofline', () => drawRoofline(p, layers));
    weft.later('stalls', () => drawStalls(layers));
    weft.later('layers', () => fillLayers(layers));
    $('yaml').textContent = layersOfPoints[p.id].yaml || `weft query STORE "SELECT yaml FROM array WHERE hash = '${p.array}'"`;
  }

  function drawBars(layers) {
    $('bars-box').style.height = Math.max(280, 18 * layers.length + 70) + 'px';
    weft.draw('bars', () => ({
      type: 'bar',
      data: {
        labels: layers.map((l) => l.layer.name + (l.layer.count > 1 ? ` x ${l.layer.count}` : '')),
        datasets: [
          { label: 'least possible', data: layers.map((l) => l.least * l.layer.count), backgroundColor: '#9aa5b1' },
          { label: 'measured', data: layers.map((l) => l.m.cycles * l.layer.count), backgroundColor: colours()[0] },
        ],
      },
      options: { indexAxis: 'y', scales: { x: { title: { display: true, text: 'cycles' } }, y: { ticks: { autoSkip: false, font: { size: 10 } } } } },
    }));
  }

  function drawRoofline(p, layers) {
    const points = layers.map((l) => ({ x: l.intensity, y: l.layer.macs / l.m.cycles, name: l.layer.name })).filter((q) => q.x > 0 && q.y > 0 && Number.isFinite(q.x));
    const pes = p.dim * p.dim, xs = [...points.map((q) => q.x), pes / p.bus];
    const low = Math.min(...xs) / 1.5, high = Math.max(...xs) * 1.5;
    const roof = [low, pes / p.bus, high].map((x) => ({ x, y: Math.min(pes, x * p.bus) }));
    weft.draw('roofline', () => ({
      type: 'scatter',
      data: { datasets: [
        { label: 'layers', data: points, backgroundColor: colours()[0] + 'b0', pointRadius: 4 },
        { label: `${number(pes)} elements, ${p.bus} bytes per cycle`, data: roof, type: 'line', borderColor: colours()[1], borderWidth: 1.5, pointRadius: 0 }] },
      options: {
        scales: { x: weft.logScale('multiply-accumulates per byte on the bus', [low, high]), y: weft.logScale('multiply-accumulates per cycle', [...points, ...roof].map((q) => q.y)) },
        plugins: { tooltip: { callbacks: { label: (t) => `${t.raw.name || 'roof'}: ${number(t.raw.y)} per cycle` } } },
      },
    }));
  }

  // Cycles of all layers by unit and cause, stacked.
  function drawStalls(layers) {
    const sums = Object.create(null);  // names of units come from the store
    for (const { layer, m } of layers)
      for (const [unit, causes] of Object.entries(m.units || {}))
        for (const [cause, cycles] of Object.entries(causes)) {
          sums[unit] = sums[unit] || Object.create(null);
          sums[unit][cause] = (sums[unit][cause] || 0) + cycles * layer.count;
        }
    const units = Object.keys(sums), total = units.length ? Math.max(...units.map((u) => Object.values(sums[u]).reduce((a, b) => a + b, 0))) : 1;
    const causes = [...new Set(units.flatMap((u) => Object.keys(sums[u]).filter((c) => sums[u][c] > 0)))];
    const others = causes.filter((c) => c !== 'idle' && c !== 'working');
    const tint = (cause) => ({ idle: weft.style('--idle'), working: weft.style('--work') }[cause] || weft.causes()[others.indexOf(cause) % weft.causes().length]);
    const kept = layersOfPoints[state.chosen.id].yaml ? `Engine ${data.engine} says nothing of it.` : 'Kept for the points on a front and a sample of the others; the store has all of them.';
    $('stalls-note').textContent = units.length ? '' : kept;
    $('stalls-box').hidden = units.length === 0;
    weft.legend('stalls-legend', causes.map((c) => [c, tint(c)]));
    weft.draw('stalls', () => ({
      type: 'bar',
      data: {
        labels: units,
        datasets: causes.map((cause) => ({ label: cause, data: units.map((u) => (sums[u][cause] || 0) / total * 100), backgroundColor: tint(cause) })),
      },
      options: {
        indexAxis: 'y',
        scales: { x: { stacked: true, max: 100, title: { display: true, text: '% of the cycles' } }, y: { stacked: true } },
        plugins: { legend: { display: false }, tooltip: { callbacks: { label: (t) => `${t.dataset.label}: ${t.raw.toFixed(1)} %` } } },
      },
    }));
  }

  function fillLayers(rows) {
    weft.table('layers', { rows, file: 'layers.csv', columns: [
      { head: 'layer', of: (l) => l.layer.name, left: true, wrap: true }, { head: 'times', of: (l) => l.layer.count },
      ...(rows.some((l) => l.m.bound) ? [{ head: 'waited for most', of: (l) => l.m.bound || '', left: true, wrap: true }] : []),
      { head: 'cycles', of: (l) => l.m.cycles }, { head: 'utilisation', of: (l) => l.m.use, text: (l) => percent(l.m.use) },
      { head: 'of the least possible', of: (l) => l.least / l.m.cycles, text: (l) => percent(l.least / l.m.cycles) },
      { head: 'multiply-accumulates', of: (l) => l.layer.macs },
      { head: 'energy (uJ)', of: (l) => (l.m.energy === null ? null : l.m.energy / 1e6) }, { head: "array's energy (uJ)", of: (l) => (l.m.array === null ? null : l.m.array / 1e6) },
      { head: 'bytes read', of: (l) => l.m.read }, { head: 'bytes written', of: (l) => l.m.written }] });
  }

  // ---- points side by side

  function pin(p) {
    if (state.pins.includes(p)) state.pins = state.pins.filter((q) => q !== p);
    else state.pins = [...state.pins, p].slice(-PINS);
    weft.keep('compare', state.pins.map((q) => q.id).join('.'));
    if (state.chosen) $('pin').textContent = state.pins.includes(state.chosen) ? 'compare no longer' : 'put beside others';
    if (pointTable) pointTable.mark();
    weft.later('scatter', drawScatter);
    weft.later('parallel', drawParallel);
    weft.later('compare', compare);
  }

  function compare() {
    const pins = state.pins.filter(isMeasured);
    $('compared').hidden = pins.length === 0;
    weft.forget('against');
    if (pins.length === 0) return;
    const tr = (head, cells) => {
      const line = element('tr');
      line.append(...[head, ...cells].map((c, i) => element(i === 0 || cells.head ? 'th' : 'td', c, i === 0 ? 'text' : '')));
      return line;
    };
    const ratio = (v, first) => (Number.isFinite(v) && first > 0 && v !== first ? ` (${(v / first).toFixed(2)})` : '');
    const lists = pins.map((p) => new Map(figuresOf(p).map(([name, v, as]) => [name, [v, as || number]])));
    const rows = [...new Set(lists.flatMap((l) => [...l.keys()]))].map((name) => tr(name, lists.map((l) => (l.has(name) ? l.get(name)[1](l.get(name)[0]) + ratio(l.get(name)[0], (lists[0].get(name) || [NaN])[0]) : '-'))));
    const differ = parameters.filter((name) => new Set(pins.map((p) => p.values[name])).size > 1);
    $('comparison').replaceChildren(tr('', Object.assign(pins.map((p) => `point ${p.id}`), { head: true })), ...differ.map((name) => tr(same(name), pins.map((p) => String(p.values[name])))), ...rows);
    if (!layersOfPoints) return;
    const layers = data.networks[state.network].layers.filter((l) => !l.program && pins.some((p) => measured(p, l) !== null));
    const cycles = (p, l) => { const m = measured(p, l); return m ? m.cycles * l.count : 0; };
    $('against-box').style.height = Math.max(160, 8 * layers.length * (pins.length + 1) + 60) + 'px';
    weft.legend('against-legend', pins.map((p, i) => [`point ${p.id}`, colours()[i]]));
    weft.draw('against', () => ({
      type: 'bar',
      data: { labels: layers.map((l) => l.name + (l.count > 1 ? ` x ${l.count}` : '')), datasets: pins.map((p, i) => ({ label: `point ${p.id}`, data: layers.map((l) => cycles(p, l)), backgroundColor: colours()[i] })) },
      options: { indexAxis: 'y', plugins: { legend: { display: false } }, scales: { x: { title: { display: true, text: 'cycles' } }, y: { ticks: { autoSkip: false, font: { size: 10 } } } } },
    }));
  }

  let pointTable = null;
  function fillPoints() {
    const n = state.network;
    const box = (p) => {
      const input = element('input');
      input.type = 'checkbox';
      input.setAttribute('aria-label', `compare point ${p.id}`);
      input.onchange = () => pin(p);
      return input;
    };
    pointTable = weft.table('points', {
      rows: good(), file: 'points.csv', chosen: (p) => p === state.chosen, choose: (p) => choose(p, true),
      columns: [{ head: '', of: () => '', cell: box, mark: (p, td) => { td.firstChild.checked = state.pins.includes(p); } }, { head: 'point', of: (p) => p.id }, ...parameters.map((name) => ({ head: same(name), of: (p) => p.values[name] })),
        ...Object.values(axes).map((axis) => ({ head: axis.label, of: (p) => { const v = axis.of(p, n); return Number.isFinite(v) ? v : null; } })),
        { head: 'utilisation', of: (p) => data.networks[n].macs / (p.sums[n][0] * p.dim * p.dim), text: (p) => percent(data.networks[n].macs / (p.sums[n][0] * p.dim * p.dim)) },
        { head: 'array', of: (p) => p.array, left: true }],
    });
  }

  // ---- sensitivity

  function drawSensitivity() {
    const box = $('sensitivity'), y = axes[state.y];
    const points = good().filter((p) => Number.isFinite(y.of(p, state.network)));
    names.forEach((_, i) => weft.forget('parameter-' + i));
    box.replaceChildren();
    if (points.length === 0) return;
    const best = Math.min(...points.map((p) => y.of(p, state.network)));
    parameters.forEach((name, i) => {
      const values = valuesOf(name, points);
      if (values.length < 2) return;
      const groups = values.map((v) => points.filter((p) => p.values[name] === v).map((p) => y.of(p, state.network) / best));
      const cell = element('div'), chart = element('div', undefined, 'chart'), canvas = element('canvas');
      const means = groups.map((g) => Math.exp(g.reduce((a, v) => a + Math.log(v), 0) / g.length)), bests = groups.map((g) => Math.min(...g));
      canvas.id = 'parameter-' + i;
      canvas.setAttribute('role', 'img');
      canvas.setAttribute('aria-label', `${name}: ` + values.map((v, k) => `${v}: mean ${number(means[k])}, best ${number(bests[k])}`).join('; '));
      chart.append(canvas);
      cell.append(element('h3', same(name)), chart);
      box.append(cell);
      weft.later(canvas.id, () => weft.draw(canvas.id, () => ({
        type: 'line',
        data: { labels: values.map(String), datasets: [
          { label: 'mean', data: means, borderColor: colours()[0], backgroundColor: colours()[0] },
          { label: 'best', data: bests, borderColor: colours()[2], backgroundColor: colours()[2], pointStyle: 'rect' }] },
        options: { scales: { y: weft.logScale(y.label.replace(/ \(.*/, '') + ', best = 1', [...means, ...bests]) } },
      })));
    });
  }

  // ---- failures

  function fillFailures() {
    const groups = new Map();
    const add = (status, what, reason) => {
      const key = [status, what, reason].join('\n');
      groups.set(key, (groups.get(key) || 0) + 1);
    };
    const layers = data.networks[state.network].layers;
    for (const p of data.points) {
      if (p.status) { add(p.status, 'array', p.reason); continue; }
      for (const layer of layers) {
        if (layer.step) continue;
        const m = layersOfPoints[p.id].layers[layer.unique];
        if (m === null) add('missing', layer.name, 'not measured yet');
        else if (m.status) add(m.status, layer.name, m.reason);
      }
    }
    $('failed').hidden = groups.size === 0;
    if (groups.size === 0) return;
    const rows = [...groups].sort((a, b) => b[1] - a[1]).map(([key, count]) => ({ key: key.split('\n'), count }));
    weft.table('failures', { rows, file: 'failures.csv', columns: [...['status', 'of', 'reason'].map((head, i) => ({ head, of: (r) => r.key[i], left: true, wrap: i === 2 })), { head: 'points', of: (r) => r.count }] });
  }

  // ---- a search

  function drawSearch() {
    if (!data.search) return;
    const all = data.search.candidates, ran = all.filter((c) => c.good);
    $('search').hidden = ran.length === 0;
    if (ran.length === 0) return;
    let best = Infinity;
    const steps = ran.map((c) => ({ x: c.seconds, y: (best = Math.min(best, c.edp)) }));
    $('search-note').textContent = `${all.length} arrays in ${number(data.search.seconds)} s; the best has ${number(ran[0].edp / best)} times less ` +
      `energy x delay than ${all[0].origin}.`;
    const edps = ran.map((c) => c.edp);
    weft.draw('convergence', () => ({
      type: 'scatter',
      data: { datasets: [
        { label: 'best so far', data: steps, type: 'line', stepped: 'before', borderColor: colours()[0], borderWidth: 1.5, pointRadius: 0 },
        { label: 'candidates', data: ran.map((c) => ({ x: c.seconds, y: c.edp, name: c.origin })), backgroundColor: '#9aa5b1' }] },
      options: { scales: { x: { title: { display: true, text: 'seconds' } }, y: weft.logScale('energy x delay (uJ x cycles)', edps) },
        plugins: { tooltip: { callbacks: { label: (t) => `${t.raw.name || 'best'}: ${number(t.raw.y)}` } } } },
    }));
    const pairs = ran.filter((c) => c.model_edp).map((c) => ({ x: c.model_edp, y: c.edp, name: c.origin }));
    const both = pairs.flatMap((q) => [q.x, q.y]), ends = pairs.length ? [Math.min(...both), Math.max(...both)] : [1, 10];
    weft.draw('agreement', () => ({
      type: 'scatter',
      data: { datasets: [
        { label: 'candidates', data: pairs, backgroundColor: colours()[0] },
        { label: 'equal', data: ends.map((v) => ({ x: v, y: v })), type: 'line', borderColor: '#9aa5b1', borderWidth: 1, pointRadius: 0 }] },
      options: { scales: { x: weft.logScale("the plain model's energy x delay", ends), y: weft.logScale('simulated energy x delay', ends) },
        plugins: { tooltip: { callbacks: { label: (t) => `${t.raw.name || 'equal'}: ${number(t.raw.y)}` } } } },
    }));
    weft.table('candidates', { rows: all.map((c, i) => ({ i, ...c })), file: 'candidates.csv', columns: [
      { head: 'number', of: (c) => c.i }, { head: 'candidate', of: (c) => c.origin, left: true }, { head: 'side', of: (c) => c.side },
      { head: 'scratchpad KiB', of: (c) => c.scratchpad_kib }, { head: 'accumulator KiB', of: (c) => c.accumulator_kib }, { head: 'cycles', of: (c) => c.cycles ?? null },
      { head: 'energy (uJ)', of: (c) => c.energy_uj ?? null }, { head: 'uJ x cycles', of: (c) => c.edp ?? null }, { head: "model's", of: (c) => c.model_edp ?? null },
      { head: 'gain', of: (c) => (c.good ? c.gain : null), text: (c) => (c.good ? c.gain.toFixed(2) : '-') }] });
  }

  // ---- filters: a choice for each parameter

  function makeFilters() {
    $('filters').replaceChildren(...parameters.filter((name) => valuesOf(name, data.points).length > 1).map((name, i) => {
      const label = element('label', same(name) + ' '), select = element('select');
      select.id = 'filter-' + i;
      label.append(select);
      return label;
    }));
    parameters.filter((name) => valuesOf(name, data.points).length > 1).forEach((name, i) =>
      weft.options('filter-' + i, [['', 'all'], ...valuesOf(name, data.points).map((v) => [String(v), String(v)])], '', (v, first) => {
        if (v === '') delete state.filters[name]; else state.filters[name] = v;
        if (!first) show();
      }));
  }

  // ---- the whole

  function show() {
    const points = good();
    $('summary').textContent = `${number(data.points.length)} points, ${number(points.length)} of them ${Object.keys(state.filters).length + state.ranges.size ? 'pass the filters and are ' : ''}good for ${data.networks[state.network].name}; mapping ${data.policy}; ` +
      `cycles are those of engine ${data.engine}.`;
    if (!state.chosen || !isGood(state.chosen)) state.chosen = bestOf(points);
    $('chosen').hidden = state.chosen === null;
    drawScatter();
    if (state.chosen) tell(state.chosen); else weft.later('parallel', drawParallel);
    weft.later('points', fillPoints);
    weft.later('compare', compare);
    weft.later('sensitivity', drawSensitivity);
    weft.later('search', drawSearch);
    if (layersOfPoints) weft.later('failures', fillFailures);
  }

  function bestOf(points) {
    const best = axes.edp || axes.ad;
    const rank = (p) => { const v = best.of(p, state.network); return Number.isFinite(v) ? v : Infinity; };
    return points.length === 0 ? null : points.reduce((a, b) => (rank(b) < rank(a) ? b : a));
  }

  // What is drawn of layers, when they are read.
  async function readLayers() {
    layersOfPoints = (await weft.rest('later')).points;
    if (state.chosen) tellLayers(state.chosen);
    weft.later('compare', compare);
    weft.later('failures', fillFailures);
  }

  document.title = data.title + ' - Weft report';
  $('title').textContent = data.title;
  $('footer').textContent = `Measured by weft ${data.version}, written by weft ${data.writer}.`;
  weft.applyTheme();
  weft.themeButton('theme');
  const goodFor = (n) => data.points.filter((p) => p.sums !== undefined && p.sums[n] !== null).length;
  const first = data.networks.reduce((best, _, n) => (goodFor(n) > goodFor(best) ? n : best), 0);
  const axisNames = Object.entries(axes).map(([key, axis]) => [key, axis.label]);
  const changes = (key, of) => (v, begin) => { state[key] = of(v); if (!begin) show(); };
  weft.options('network', data.networks.map((n, i) => [String(i), n.name]), String(first), (v, begin) => { state.network = Number(v); if (!begin) { leaveRanges(); show(); } });
  weft.options('x-axis', axisNames, state.x, changes('x', String));
  weft.options('y-axis', axisNames, state.y, changes('y', String));
  weft.options('colour', [['dim', 'side of the array'], ...parameters.map((p) => [p, same(p)])], state.colour, changes('colour', String));
  makeFilters();
  recallRanges();
  const byId = (id) => data.points.find((p) => String(p.id) === id && isMeasured(p));
  if (weft.recall('point') !== null) state.chosen = byId(weft.recall('point')) || null;
  state.pins = (weft.recall('compare') || '').split('.').map(byId).filter((p) => p).slice(-PINS);
  $('pin').onclick = () => pin(state.chosen);
  $('clear').onclick = () => { state.pins = []; weft.keep('compare', null); show(); };
  $('scatter').onkeydown = (e) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[e.key];
    if (step) walk(step);
    else if (e.key === 'p' || e.key === 'P') pin(state.chosen);
    else return;
    e.preventDefault();
  };
  show();
  performance.mark('points');
  document.addEventListener('theme', () => { if (state.chosen && layersOfPoints) drawStalls(layersOf(state.chosen)); drawParallel(); compare(); });
  setTimeout(readLayers);
})();
