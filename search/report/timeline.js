// A time line: spans one after the other, in rows, on a canvas that can be moved and enlarged by mouse, wheel, touch and
// keyboard. A row fills the column of a span with shares, from below; what no share takes stays pale. It is a slider over
// the spans for screen readers.
//
// spans: { from, until, text }, in the order of time. rows: { name, height, shares(i): [[colour, share], ..], none: not in
// this row; text(i): what is written in it }. say(i, row): lines about a span.
weft.timeline = (id, { spans, rows, unit, say, choose, open }) => {
  const { element } = weft, box = weft.$(id), GAP = 6, TOP = 24, LEAST = 20;  // pixels; LEAST: units that are seen at least
  const canvas = element('canvas'), tip = element('div', undefined, 'tip'), end = Math.max(1, ...spans.map((s) => s.until));
  const view = { from: 0, until: end };
  let chosen = -1, saving = 0;
  const heights = rows.map((row, i) => ({ ...row, top: TOP + rows.slice(0, i).reduce((sum, r) => sum + r.height + GAP, 0) }));
  const height = TOP + rows.reduce((sum, r) => sum + r.height + GAP, 0);

  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'slider');
  canvas.setAttribute('aria-label', 'time line: left and right choose the step before and after, Enter goes to its figures, plus, minus and 0 change the size');
  canvas.setAttribute('aria-valuemin', 0);
  canvas.setAttribute('aria-valuemax', spans.length - 1);
  canvas.style.height = height + 'px';
  tip.hidden = true;
  box.replaceChildren(canvas, tip);

  const width = () => canvas.clientWidth || 800;
  const left = () => (width() < 600 ? 74 : 92);
  const perPixel = () => (view.until - view.from) / (width() - left());
  const toX = (time) => left() + (time - view.from) / perPixel();
  const toTime = (x) => view.from + (x - left()) * perPixel();
  const spanAt = (time) => {
    let low = 0, high = spans.length - 1;
    while (low < high) { const middle = (low + high) >> 1; if (spans[middle].until <= time) low = middle + 1; else high = middle; }
    return low;
  };

  // ---- drawing

  function drawAxis(c) {
    const rough = (view.until - view.from) / Math.max(2, (width() - left()) / 110), ten = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, ten * [1, 2, 5, 10].find((m) => m * ten >= rough));
    c.fillStyle = weft.style('--soft');
    c.strokeStyle = weft.style('--line');
    c.textBaseline = 'middle';
    c.textAlign = 'center';
    for (let t = Math.ceil(view.from / step) * step; t <= view.until; t += step) {
      const x = Math.round(toX(t)) + 0.5;
      c.beginPath(); c.moveTo(x, TOP - 6); c.lineTo(x, height); c.stroke();
      const half = c.measureText(weft.number(t)).width / 2;
      if (x + half < width() && x - half > left() - 4) c.fillText(weft.number(t), x, 9);
    }
    c.textAlign = 'left';
    c.fillText(unit, 2, 9);
  }

  function drawShares(c, row, x, wide, shares) {
    let bottom = row.top + row.height;
    c.fillStyle = weft.style('--idle');
    c.globalAlpha = 0.35;
    c.fillRect(x, row.top, wide, row.height);
    c.globalAlpha = 1;
    for (const [colour, share] of shares) {
      const high = share * row.height;
      bottom -= high;
      c.fillStyle = colour;
      c.fillRect(x, bottom, wide, high);
    }
  }

  // The end of a name that is too long, as that is where names differ; nothing where only a few letters would fit.
  function drawText(c, row, x, wide, text) {
    const room = wide - 8, all = text ? c.measureText(text).width : 0;
    if (all === 0 || room < Math.min(all, 36)) return;
    const shown = all <= room ? text : '\u2026' + text.slice(text.length - Math.max(1, Math.floor(text.length * room / all) - 2));
    c.fillStyle = weft.style('--paper');
    c.fillText(shown, x + 4, row.top + row.height / 2 + 1);
  }

  function drawRow(c, row, first, last) {
    for (let i = first; i <= last; i++) {
      const shares = row.shares(i);
      if (!shares) continue;
      const x = Math.max(left(), toX(spans[i].from)), until = Math.min(width(), toX(spans[i].until)), wide = Math.max(0.6, until - x - (until - x > 4 ? 0.8 : 0));
      drawShares(c, row, x, wide, shares);
      drawText(c, row, x, wide, row.text && row.text(i));
    }
    c.fillStyle = weft.style('--ink');
    c.fillText(row.name, 2, row.top + row.height / 2);
  }

  function drawChosen(c) {
    if (chosen < 0) return;
    const from = Math.max(left(), toX(spans[chosen].from)), until = Math.min(width(), toX(spans[chosen].until));
    if (until < left() || from > width()) return;
    c.strokeStyle = c.fillStyle = weft.style('--accent');
    c.lineWidth = 2;
    c.globalAlpha = 0.1;
    c.fillRect(from, TOP - 4, Math.max(2, until - from), height);
    c.globalAlpha = 1;
    c.strokeRect(from, TOP - 4, Math.max(1, until - from), height - TOP + 2);
    c.lineWidth = 1;
  }

  function draw() {
    const dots = devicePixelRatio || 1, c = canvas.getContext('2d');
    canvas.width = Math.round(width() * dots);
    canvas.height = Math.round(height * dots);
    c.scale(dots, dots);
    c.font = `${width() < 600 ? 11 : 12}px system-ui, sans-serif`;
    drawAxis(c);
    if (spans.length > 0) for (const row of heights) drawRow(c, row, spanAt(view.from), spanAt(view.until));
    drawChosen(c);
  }

  // ---- the view

  function show(from, until) {
    const wide = Math.min(end, Math.max(Math.min(LEAST, end), until - from)), middle = (from + until) / 2;
    view.from = Math.min(Math.max(0, middle - wide / 2), end - wide);
    view.until = view.from + wide;
    draw();
    clearTimeout(saving);
    saving = setTimeout(() => weft.keep('time', wide >= end ? null : `${Math.round(view.from)}-${Math.round(view.until)}`), 200);
  }
  const showWhole = () => show(0, end);
  function zoom(factor, x = (left() + width()) / 2) {
    const wide = Math.min(end, Math.max(LEAST, (view.until - view.from) / factor)), part = (Math.max(x, left()) - left()) / (width() - left()), time = toTime(Math.max(x, left()));
    show(time - part * wide, time - part * wide + wide);
  }
  const pan = (dx) => { const by = -dx * perPixel(); show(view.from + by, view.until + by); };
  function showSpan(i) {
    const { from, until } = spans[i], margin = (until - from) * 0.5;
    show(from - margin, until + margin);
  }

  // ---- mouse, touch, wheel and keyboard

  const rowAt = (y) => heights.find((row) => y >= row.top && y < row.top + row.height + GAP);
  function point(e) {
    const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top, time = toTime(x);
    if (x < left() || time > end || spans.length === 0) return null;
    return { x, y, i: spanAt(time), row: rowAt(y) };
  }
  function hover(e) {
    const p = held() ? null : point(e);
    tip.hidden = p === null;
    if (p === null) return;
    tip.replaceChildren(...say(p.i, p.row && p.row.name).map((line, i) => element('div', line, i === 0 ? 'first' : '')));
    const most = box.clientWidth - tip.offsetWidth - 4;
    tip.style.left = Math.max(0, Math.min(p.x + 14, most)) + 'px';
    tip.style.top = Math.max(0, p.y + (p.x + 14 > most ? 22 : 12)) + 'px';
  }
  const { held } = weft.gestures(canvas, { move: (dx) => { tip.hidden = true; pan(dx); }, zoom, click: (e) => { const p = point(e); if (p) choose(p.i); } });
  canvas.addEventListener('pointermove', hover);
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  canvas.addEventListener('dblclick', () => { if (chosen >= 0) open(chosen); });

  const pick = (i) => (i === chosen ? mark(i) : choose(i)), last = spans.length - 1;
  const keys = {
    ArrowLeft: (shift) => (shift ? pan(60) : pick(Math.max(0, chosen - 1))), ArrowRight: (shift) => (shift ? pan(-60) : pick(Math.min(last, chosen + 1))),
    Home: () => pick(0), End: () => pick(last), '+': () => zoom(1.5), '=': () => zoom(1.5), '-': () => zoom(1 / 1.5), 0: showWhole, Enter: () => { if (chosen >= 0) open(chosen); },
  };
  canvas.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    keys[e.key](e.shiftKey);
    e.preventDefault();
  });

  function mark(i) {
    chosen = i;
    canvas.setAttribute('aria-valuenow', Math.max(0, i));
    canvas.setAttribute('aria-valuetext', i < 0 ? 'no step is chosen' : say(i).join(', '));
    const wide = view.until - view.from;
    if (i >= 0 && (spans[i].until < view.from || spans[i].from > view.until)) show((spans[i].from + spans[i].until - wide) / 2, (spans[i].from + spans[i].until + wide) / 2);
    else draw();
  }

  // Paper gets the whole.
  let before = null;
  addEventListener('beforeprint', () => { before = { ...view }; Object.assign(view, { from: 0, until: end }); draw(); });
  addEventListener('afterprint', () => { if (before) Object.assign(view, before); draw(); });
  new ResizeObserver(draw).observe(canvas);

  const kept = /^(\d+)-(\d+)$/.exec(weft.recall('time') || '');
  if (kept) show(Number(kept[1]), Number(kept[2]));
  mark(-1);
  canvas.weft = { view, place: (i, name) => { const row = heights.find((r) => r.name === name); return [toX((spans[i].from + spans[i].until) / 2), row.top + row.height / 2]; } };
  return { mark, draw, zoom, showWhole, showSpan };
};
