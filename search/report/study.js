// The page of a study. `data` is the JSON of `weft study`.
(async () => {
  const { $, number, percent, colours } = weft;
  const data = await weft.data(), rows = data.rows;
  const ALL = '';
  const fields = ['network', 'array', 'lowering', 'mapping'];
  const values = (field) => [...new Set(rows.map((r) => r[field]))];
  const state = { colour: values('compression').length > colours().length ? 'kind' : 'compression' };  // one each
  const kind = (r) => r.compression.split(' ')[0];
  const tints = { compression: (r) => r.compression, kind, binds: (r) => r.binds, network: (r) => r.network, array: (r) => r.array, lowering: (r) => r.lowering, mapping: (r) => r.mapping };
  const bounds = ['array', 'edges', 'memory', 'waits'];
  const chosen = () => rows.filter((r) => fields.every((f) => state[f] === ALL || r[f] === state[f]));
  const good = (r) => r.status === 'good' && r.achieved > 0;
  const nameOf = (r) => [r.network, r.array, r.compression, r.lowering, r.mapping].join(', ');

  // ---- charts

  function drawScatter() {
    const of = tints[state.colour], list = chosen().filter(good), groups = [...new Set(list.map(of))];
    const tint = (i) => colours()[i % colours().length];
    const most = Math.max(1, ...list.map((r) => Math.max(r.expected, r.achieved)));
    weft.legend('scatter-legend', groups.map((g, i) => [g, tint(i), `(${number(list.filter((r) => of(r) === g).length)})`]));
    weft.draw('scatter', () => ({
      type: 'scatter',
      data: { datasets: [
        ...groups.map((g, i) => ({ label: g, backgroundColor: tint(i) + 'b0', pointRadius: 4, data: list.filter((r) => of(r) === g).map((r) => ({ x: r.expected, y: r.achieved, row: r })) })),
        { label: 'all of it', type: 'line', data: [{ x: 0.9, y: 0.9 }, { x: most, y: most }], borderColor: weft.style('--soft'), borderWidth: 1, pointRadius: 0 }] },
      options: {
        scales: { x: weft.logScale('promised by multiplications', [0.9, most]), y: weft.logScale('achieved', [0.9, most, ...list.map((r) => r.achieved)]) },
        plugins: { legend: { display: false }, tooltip: { callbacks: { label: (t) => (t.raw.row ? `${nameOf(t.raw.row)}: ${number(t.raw.y)} of ${number(t.raw.x)}` : 'all of it') } } },
      },
    }));
  }

  // Means over the chosen configurations of a compression, each as long as any other.
  function drawBounds() {
    const list = chosen().filter(good), names = [...new Set(list.map((r) => r.compression))];
    const tint = (i) => (i === 0 ? weft.style('--work') : i === 3 ? weft.style('--idle') : weft.causes()[i]);
    const mean = (name, bound) => { const of = list.filter((r) => r.compression === name); return of.reduce((a, r) => a + r['by_' + bound], 0) / of.length; };
    $('bounds-box').style.height = Math.max(160, 26 * names.length + 60) + 'px';
    weft.legend('bounds-legend', bounds.map((b, i) => [b, tint(i)]));
    weft.draw('bounds', () => ({
      type: 'bar',
      data: { labels: names, datasets: bounds.map((b, i) => ({ label: b, data: names.map((n) => 100 * mean(n, b)), backgroundColor: tint(i) })) },
      options: { indexAxis: 'y', scales: { x: { stacked: true, max: 100, title: { display: true, text: '% of the time' } }, y: { stacked: true, ticks: { autoSkip: false } } }, plugins: { legend: { display: false } } },
    }));
  }

  // ---- tables

  const text = (head, of) => ({ head, of, left: true });
  const plain = (head, of) => ({ head, of });
  const share = (head, of) => ({ head, of, text: (r) => percent(of(r)) });

  function fillRows() {
    weft.table('rows', { file: 'rows.csv', rows: chosen(), columns: [
      text('network', (r) => r.network), text('array', (r) => r.array), text('compression', (r) => r.compression), text('lowering', (r) => r.lowering), text('mapping', (r) => r.mapping),
      plain('cycles', (r) => r.cycles), plain('copies', (r) => r.copy_cycles), plain('promised', (r) => r.expected), plain('achieved', (r) => r.achieved),
      share('share', (r) => r.share), share('of the roof', (r) => r.of_roof), text('binds', (r) => r.binds), plain('blocks left out', (r) => r.blocks_left_out),
      text('status', (r) => r.status), text('reason', (r) => r.reason)] });
  }

  function fillMeans() {
    weft.table('compressions', { file: 'compressions.csv', rows: data.compressions, columns: [
      text('compression', (r) => r.compression), text('mapping', (r) => r.mapping), plain('rows', (r) => r.rows), plain('failed', (r) => r.failed),
      plain('promised', (r) => r.expected), plain('achieved', (r) => r.achieved), share('share', (r) => r.share && r.share.mean), share('least', (r) => r.share && r.share.least),
      share('most', (r) => r.share && r.share.most), share('of the roof', (r) => r.of_roof), plain('mapping gains', (r) => r.mapping_gains)] });
    weft.table('kinds', { file: 'kinds.csv', rows: data.kinds, columns: [
      text('mapping', (r) => r.mapping), share('share, channels', (r) => r.channel && r.channel.share), share('share, weights', (r) => r.weight && r.weight.share),
      plain('channels faster', (r) => r.channel_wins), plain('of', (r) => r.pairs), plain('left out, uniform', (r) => r.wins_left_out.uniform), plain('of', (r) => r.pairs_left_out.uniform),
      plain('left out, blocks', (r) => r.wins_left_out.block), plain('of', (r) => r.pairs_left_out.block)] });
    $('rankings-part').hidden = !data.rankings;
    if (data.rankings) weft.table('rankings', { file: 'rankings.csv', rows: data.rankings, columns: [
      text('ranked', (r) => r.ranked), text('mapping', (r) => r.mapping), plain('pairs', (r) => r.pairs), plain('turned', (r) => r.turned),
      share('at most by', (r) => r.turned_at_most), plain('rankings', (r) => r.rankings), plain('new winners', (r) => r.new_winners)] });
  }

  // ---- the page

  function show() {
    drawScatter();
    drawBounds();
    fillRows();
  }

  $('title').textContent = document.title = data.study;
  $('summary').textContent = `${number(data.configurations)} configurations, ${number(rows.filter((r) => !good(r)).length)} of them without figures; ${number(data.measurements)} measurements by engine ${data.engine}`;
  $('footer').textContent = `weft ${data.writer}`;
  weft.themeButton('theme');
  weft.applyTheme();
  fillMeans();
  for (const f of fields) weft.options(f, [[ALL, 'all'], ...values(f).map((v) => [v, v])], ALL, (v, first) => { state[f] = v; if (!first) show(); });
  weft.options('colour', Object.keys(tints).map((t) => [t, t]), state.colour, (v, first) => { state.colour = v; if (!first) show(); });
  show();
})();
