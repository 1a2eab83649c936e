'use strict';
// The report's page. `data` is what search/report/write.c put into the page; everything shown follows from it and from the
// choices in the header. Charts are made once per choice and thrown away for the next.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const $ = (id) => document.getElementById(id);
  const palette = ['#1d4ed8', '#c2410c', '#15803d', '#7e22ce', '#b45309', '#0e7490', '#be123c', '#4d7c0f', '#475569', '#a21caf'];
  const charts = {};
  const state = { network: 0, x: 'cycles', y: 'energy', colour: 'dim', chosen: null };

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

  const parameters = [...new Set(data.points.flatMap((p) => Object.keys(p.values)))];
  const isGood = (p) => p.sums !== undefined && p.sums[state.network] !== null;
  const good = () => data.points.filter(isGood);

  const number = (v) => {
    if (!Number.isFinite(v)) return '-';
    if (Number.isInteger(v) && Math.abs(v) < 1e15) return v.toLocaleString('en');
    const size = Math.abs(v);
    return size !== 0 && (size >= 1e6 || size < 1e-3) ? v.toExponential(3) : v.toLocaleString('en', { maximumSignificantDigits: 4 });
  };
  const percent = (v) => (100 * v).toFixed(1) + ' %';

  function element(name, text, className) {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
  }

  function draw(id, config) {
    if (charts[id]) charts[id].destroy();
    config.options = Object.assign({ responsive: true, maintainAspectRatio: false, animation: false }, config.options);
    charts[id] = new Chart($(id), config);
    return charts[id];
  }

  const logScale = (label) => ({ type: 'logarithmic', title: { display: true, text: label }, ticks: { maxTicksLimit: 8, callback: (v) => {
    const lead = v / 10 ** Math.floor(Math.log10(v) + 1e-9);
    return [1, 2, 5].some((l) => Math.abs(lead - l) < 1e-6) ? number(v) : '';
  } } });

  // ---- the scatter

  function colourOf(p) { return state.colour === 'dim' ? p.dim : p.values[state.colour]; }

  // Points that no other beats in both axes, from left to right.
  function front(points) {
    const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
    let least = Infinity;
    return sorted.filter((p) => p.y < least && ((least = p.y), true));
  }

  function drawScatter() {
    const x = axes[state.x], y = axes[state.y];
    const points = good().map((p) => ({ x: x.of(p, state.network), y: y.of(p, state.network), p }))
      .filter((q) => Number.isFinite(q.x) && Number.isFinite(q.y));
    const groups = [...new Set(points.map((q) => colourOf(q.p)))].sort((a, b) => (a > b ? 1 : -1));
    const sets = groups.map((g, i) => ({
      label: (state.colour === 'dim' ? 'side' : state.colour) + ' ' + g,
      data: points.filter((q) => colourOf(q.p) === g),
      backgroundColor: palette[i % palette.length] + 'b0',
      pointRadius: points.length > 2000 ? 2 : 4,
      pointHoverRadius: 7,
    }));
    sets.push({ label: 'front', data: front(points), type: 'line', borderColor: '#1f2933', borderWidth: 1, pointRadius: 0, fill: false, stepped: 'after' });
    draw('scatter', {
      type: 'scatter',
      data: { datasets: sets },
      options: {
        scales: { x: logScale(x.label), y: logScale(y.label) },
        plugins: { tooltip: { filter: (t) => t.raw.p !== undefined, callbacks: { label: (t) => pointText(t.raw.p) } } },
        onClick: (event, hits) => {
          const hit = hits.find((h) => sets[h.datasetIndex].data[h.index].p !== undefined);
          if (hit) choose(sets[hit.datasetIndex].data[hit.index].p, true);
        },
      },
    });
  }

  function pointText(p) {
    const lines = [`point ${p.id}: ${number(p.sums[state.network][0])} cycles, ${number(energyOf(p, state.network))} uJ`];
    for (const name of parameters) lines.push(`${name} ${p.values[name]}`);
    return lines;
  }

  // ---- one point

  function layersOf(p) {
    // Steps of a program stand for it; other arrays may have others.
    const shown = data.networks[state.network].layers.filter((layer) => !layer.program && p.layers[layer.unique] !== null);
    return shown.map((layer) => {
      const m = p.layers[layer.unique];
      const pes = p.dim * p.dim;
      const least = Math.max(layer.macs / pes, Math.max(m.read, m.written) / p.bus);
      return { layer, m, least, intensity: layer.macs / (m.read + m.written) };
    });
  }

  function choose(p, scroll) {
    state.chosen = p;
    $('chosen').hidden = false;
    $('chosen-title').textContent = `Point ${p.id}`;
    const list = $('chosen-figures');
    list.replaceChildren();
    const sums = p.sums[state.network];
    const parts = data.parts.map((name, i) => [`energy: ${name}`, sums[3][i]]).filter(([, pj]) => pj > 0);
    const figures = [['cycles', number(sums[0])], ['energy of the whole', number(energyOf(p, state.network)) + ' uJ'],
      ...parts.map(([name, pj]) => [name, number(pj / 1e6) + ' uJ']),
      ["array's energy, as models count", sums[2] === null ? '' : number(sums[2] / 1e6) + ' uJ'],
      ['energy x delay', number(p.sums[state.network][0] * energyOf(p, state.network)) + ' uJ x cycles'],
      ['mesh utilisation', percent(data.networks[state.network].macs / (p.sums[state.network][0] * p.dim * p.dim))],
      ['side', p.dim], ['scratchpad', p.scratchpad + ' KiB'], ['accumulator', p.accumulator + ' KiB'],
      ['area of the logic', number(p.area) + ' mm2'], ['array', p.array], ['technology of the energies', p.technology],
      ...(p.whole_area ? [[`area in ${p.technology}` + (p.area_whole ? '' : ', as far as known'), number(p.whole_area) + ' mm2']] : []),
      ...parameters.map((name) => [name, p.values[name]])];
    for (const [name, value] of figures) {
      const pair = element('div');
      pair.append(element('dt', name), element('dd', String(value)));
      list.append(pair);
    }
    const layers = layersOf(p);
    drawBars(layers);
    drawRoofline(p, layers);
    drawStalls(layers);
    fillLayers(layers);
    $('yaml').textContent = p.yaml || `weft query STORE "SELECT yaml FROM array WHERE hash = '${p.array}'"`;
    if (scroll) $('chosen').scrollIntoView({ behavior: 'smooth', block: 'start' });
  }

  function drawBars(layers) {
    $('bars-box').style.height = Math.max(280, 18 * layers.length + 70) + 'px';
    draw('bars', {
      type: 'bar',
      data: {
        labels: layers.map((l) => l.layer.name + (l.layer.count > 1 ? ` x ${l.layer.count}` : '')),
        datasets: [
          { label: 'least possible', data: layers.map((l) => l.least * l.layer.count), backgroundColor: '#9aa5b1' },
          { label: 'measured', data: layers.map((l) => l.m.cycles * l.layer.count), backgroundColor: '#1d4ed8' },
        ],
      },
      options: { indexAxis: 'y', scales: { x: { title: { display: true, text: 'cycles' } }, y: { ticks: { autoSkip: false, font: { size: 10 } } } } },
    });
  }

  function drawRoofline(p, layers) {
    const points = layers.map((l) => ({ x: l.intensity, y: l.layer.macs / l.m.cycles, name: l.layer.name }));
    const pes = p.dim * p.dim;
    const low = Math.min(...points.map((q) => q.x), pes / p.bus) / 2, high = Math.max(...points.map((q) => q.x), pes / p.bus) * 2;
    const roof = [low, pes / p.bus, high].map((x) => ({ x, y: Math.min(pes, x * p.bus) }));
    draw('roofline', {
      type: 'scatter',
      data: { datasets: [
        { label: 'layers', data: points, backgroundColor: '#1d4ed8b0', pointRadius: 4 },
        { label: `${number(pes)} elements, ${p.bus} bytes per cycle`, data: roof, type: 'line', borderColor: '#c2410c', borderWidth: 1.5, pointRadius: 0 }] },
      options: {
        scales: { x: logScale('multiply-accumulates per byte on the bus'), y: logScale('multiply-accumulates per cycle') },
        plugins: { tooltip: { callbacks: { label: (t) => `${t.raw.name || 'roof'}: ${number(t.raw.y)} per cycle` } } },
      },
    });
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
    const causes = [...new Set(units.flatMap((u) => Object.keys(sums[u])))];
    const fixed = { idle: '#e1e5ea', working: '#15803d' };
    $('stalls-note').textContent = units.length ? '' : 'Kept for the points on a front and a sample of the others; the store has all of them.';
    draw('stalls', {
      type: 'bar',
      data: {
        labels: units,
        datasets: causes.map((cause, i) => ({ label: cause, data: units.map((u) => (sums[u][cause] || 0) / total * 100),
          backgroundColor: fixed[cause] || palette[i % palette.length] + 'c0' })),
      },
      options: {
        indexAxis: 'y',
        scales: { x: { stacked: true, max: 100, title: { display: true, text: '% of the cycles' } }, y: { stacked: true } },
        plugins: { legend: { display: false }, tooltip: { callbacks: { label: (t) => `${t.dataset.label}: ${t.raw.toFixed(1)} %` } } },
      },
    });
  }

  function row(cells, head, texts) {
    const tr = element('tr');
    cells.forEach((cell, i) => tr.append(element(head ? 'th' : 'td', String(cell), texts.includes(i) ? 'text' : '')));
    return tr;
  }

  function fillLayers(layers) {
    const texts = [0, 10];
    const rows = layers.map(({ layer, m, least }) => row([layer.name, layer.count, number(layer.macs), number(m.cycles),
      percent(m.use), percent(least / m.cycles), number(m.energy / 1e6), m.array === undefined ? '' : number(m.array / 1e6), number(m.read), number(m.written), m.bound || ''], false, texts));
    $('layers').replaceChildren(row(['layer', 'times', 'multiply-accumulates', 'cycles', 'utilisation', 'of the least possible', 'energy (uJ)', "array's energy (uJ)",
      'bytes read', 'bytes written', 'waited for most'], true, texts), ...rows);
  }

  // ---- sensitivity

  function drawSensitivity() {
    const box = $('sensitivity'), y = axes[state.y];
    const points = good().filter((p) => Number.isFinite(y.of(p, state.network)));
    for (const id of Object.keys(charts)) if (id.startsWith('parameter-')) { charts[id].destroy(); delete charts[id]; }
    box.replaceChildren();
    if (points.length === 0) return;
    const best = Math.min(...points.map((p) => y.of(p, state.network)));
    parameters.forEach((name, i) => {
      const values = [...new Set(points.map((p) => p.values[name]))].sort((a, b) => (a > b ? 1 : -1));
      if (values.length < 2) return;
      const groups = values.map((v) => points.filter((p) => p.values[name] === v).map((p) => y.of(p, state.network) / best));
      const cell = element('div'), chart = element('div', undefined, 'chart'), canvas = element('canvas');
      canvas.id = 'parameter-' + i;
      chart.append(canvas);
      cell.append(element('h3', name), chart);
      box.append(cell);
      draw(canvas.id, {
        type: 'line',
        data: { labels: values.map(String), datasets: [
          { label: 'mean', data: groups.map((g) => Math.exp(g.reduce((a, v) => a + Math.log(v), 0) / g.length)), borderColor: '#1d4ed8', backgroundColor: '#1d4ed8' },
          { label: 'best', data: groups.map((g) => Math.min(...g)), borderColor: '#15803d', backgroundColor: '#15803d' }] },
        options: { scales: { y: logScale(y.label.replace(/ \(.*/, '') + ', best = 1') } },
      });
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
        const m = p.layers[layer.unique];
        if (m === null) add('missing', layer.name, 'not measured yet');
        else if (m.status) add(m.status, layer.name, m.reason);
      }
    }
    $('failed').hidden = groups.size === 0;
    const rows = [...groups].sort((a, b) => b[1] - a[1]).slice(0, 200).map(([key, count]) => {
      const tr = row([...key.split('\n').slice(0, 3), number(count)], false, [0, 1, 2]);
      tr.children[2].className = 'text wrap';
      return tr;
    });
    $('failures').replaceChildren(row(['status', 'of', 'reason', 'points'], true, [0, 1, 2]), ...rows);
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
    draw('convergence', {
      type: 'scatter',
      data: { datasets: [
        { label: 'best so far', data: steps, type: 'line', stepped: 'before', borderColor: '#1d4ed8', borderWidth: 1.5, pointRadius: 0 },
        { label: 'candidates', data: ran.map((c) => ({ x: c.seconds, y: c.edp, name: c.origin })), backgroundColor: '#9aa5b1' }] },
      options: { scales: { x: { title: { display: true, text: 'seconds' } }, y: logScale('energy x delay (uJ x cycles)') },
        plugins: { tooltip: { callbacks: { label: (t) => `${t.raw.name || 'best'}: ${number(t.raw.y)}` } } } },
    });
    const pairs = ran.filter((c) => c.model_edp).map((c) => ({ x: c.model_edp, y: c.edp, name: c.origin }));
    const ends = pairs.length ? [Math.min(...pairs.map((q) => Math.min(q.x, q.y))), Math.max(...pairs.map((q) => Math.max(q.x, q.y)))] : [1, 10];
    draw('agreement', {
      type: 'scatter',
      data: { datasets: [
        { label: 'candidates', data: pairs, backgroundColor: '#1d4ed8' },
        { label: 'equal', data: ends.map((v) => ({ x: v, y: v })), type: 'line', borderColor: '#9aa5b1', borderWidth: 1, pointRadius: 0 }] },
      options: { scales: { x: logScale("the plain model's energy x delay"), y: logScale('simulated energy x delay') },
        plugins: { tooltip: { callbacks: { label: (t) => `${t.raw.name || 'equal'}: ${number(t.raw.y)}` } } } },
    });
    const rows = all.map((c, i) => row([i, c.origin, c.side, c.scratchpad_kib, c.accumulator_kib, number(c.cycles), number(c.energy_uj), number(c.edp),
      c.model_edp ? number(c.model_edp) : '-', c.good ? c.gain.toFixed(2) : '-'], false, [1]));
    $('candidates').replaceChildren(row(['', 'candidate', 'side', 'scratchpad KiB', 'accumulator KiB', 'cycles', 'energy (uJ)', 'uJ x cycles', "model's", 'gain'], true, [1]), ...rows);
  }

  // ---- the whole

  function options(id, entries, chosen, change) {
    $(id).replaceChildren(...entries.map(([value, text]) => {
      const o = element('option', text);
      o.value = value;
      o.selected = value === chosen;
      return o;
    }));
    $(id).onchange = () => { change($(id).value); show(); };
  }

  function show() {
    drawScatter();
    drawSensitivity();
    fillFailures();
    drawSearch();
    const points = good();
    $('summary').textContent = `${number(data.points.length)} points, ${number(points.length)} of them good for ${data.networks[state.network].name}; mapping ${data.policy}; ` +
      `cycles are those of engine ${data.engine}.`;
    if (points.length === 0) { $('chosen').hidden = true; return; }
    const best = axes.edp || axes.ad;
    const rank = (p) => { const v = best.of(p, state.network); return Number.isFinite(v) ? v : Infinity; };
    const stays = state.chosen && isGood(state.chosen);
    choose(stays ? state.chosen : points.reduce((a, b) => (rank(b) < rank(a) ? b : a)), false);
  }

  document.title = data.title + ' - Weft report';
  $('title').textContent = data.title;
  $('footer').textContent = `Measured by weft ${data.version}, written by weft ${data.writer}.`;
  Chart.defaults.font.family = 'system-ui, sans-serif';
  const goodFor = (n) => data.points.filter((p) => p.sums !== undefined && p.sums[n] !== null).length;
  state.network = data.networks.reduce((best, _, n) => (goodFor(n) > goodFor(best) ? n : best), 0);
  const axisNames = Object.entries(axes).map(([key, axis]) => [key, axis.label]);
  options('network', data.networks.map((n, i) => [String(i), n.name]), String(state.network), (v) => { state.network = Number(v); });
  options('x-axis', axisNames, state.x, (v) => { state.x = v; });
  options('y-axis', axisNames, state.y, (v) => { state.y = v; });
  options('colour', [['dim', 'side of the array'], ...parameters.map((p) => [p, p])], state.colour, (v) => { state.colour = v; });
  show();
})();
