// Parallel coordinates: an axis for each figure, a line for each point. A range is taken on an axis by drawing along it, moved
// by drawing inside of it, resized at its ends and left by a click on the axis; lines outside of a range are pale.
//
// weft.scale(values, measured) is an axis' scale, from 0 (below) to 1: of words and of few values that were not measured a
// place for each, else linear, or logarithmic where the values span more than a decade. A range is [first, last] in values,
// both inside.
weft.scale = (values, measured) => {
  const PLACES = 12, DECADE = 10;
  const known = [...new Set(values.filter((v) => v !== undefined && v !== null && !Number.isNaN(v)))].sort((a, b) => (a > b ? 1 : -1));
  const round = (v) => Number(v.toPrecision(4));
  if (known.length < 2 || (known.length <= PLACES && !measured) || !known.every(Number.isFinite)) {
    const index = new Map(known.map((v, i) => [v, i])), count = Math.max(1, known.length);
    return {
      known, steps: count, ticks: known.map((v) => [v, (index.get(v) + 0.5) / count]), has: (v) => index.has(v), at: (v) => (index.get(v) + 0.5) / count,
      inside: (v, [first, last]) => index.get(v) >= index.get(first) && index.get(v) <= index.get(last),
      span: ([first, last]) => [index.get(first) / count, (index.get(last) + 1) / count],
      range: (low, high) => { const some = known.filter((_, i) => (i + 0.5) / count >= low && (i + 0.5) / count <= high); return some.length ? [some[0], some[some.length - 1]] : null; },
    };
  }
  const least = known[0], most = known[known.length - 1], log = least > 0 && most / least > DECADE;
  const to = log ? Math.log10 : (v) => v, from = log ? (v) => 10 ** v : (v) => v, at = (v) => (to(v) - to(least)) / (to(most) - to(least));
  const value = (part) => (part <= 0 ? least : part >= 1 ? most : round(from(to(least) + part * (to(most) - to(least)))));
  return { known, steps: 40, ticks: [0, 0.25, 0.5, 0.75, 1].map((part) => [value(part), part]), has: Number.isFinite, at, inside: (v, [first, last]) => v >= first && v <= last,
    span: ([first, last]) => [Math.max(0, at(first)), Math.min(1, at(last))], range: (low, high) => (high < 0 || low > 1 ? null : [value(low), value(high)]) };
};

// axes: { key, label, of(p), scale }, in their order. change(key, range or null, done): a range while it is drawn, and when
// it is done. tint(p): a colour.
weft.parallel = (id, { tint, say, choose, change }) => {
  const { element, number } = weft, NS = 'http://www.w3.org/2000/svg', HEIGHT = 300, TOP = 10, LEAST = 92, REACH = 15, EDGE = 7;
  const box = weft.$(id), inner = element('div', undefined, 'inner'), heads = element('div', undefined, 'heads'), field = element('div', undefined, 'field');
  const canvas = element('canvas'), svg = document.createElementNS(NS, 'svg'), tip = element('div', undefined, 'tip');
  let axes = [], points = [], ranges = new Map(), marked = [], near = null, waiting = false, groups = [];
  let width = 0, pitch = 0, heights = new Map();  // of what is drawn; of a point its height on each axis

  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'a line for each point through its figures; the table of points has the same');
  svg.setAttribute('aria-label', 'ranges: on an axis, up and down move its upper end, with shift its lower end, Delete leaves it');
  tip.hidden = true;
  field.append(canvas, svg, tip);
  inner.append(heads, field);
  box.replaceChildren(inner);

  const x = (i) => (i + 0.5) * pitch - pitch / 8, y = (part) => TOP + (1 - part) * HEIGHT;
  const part = (py) => 1 - (py - TOP) / HEIGHT;
  const make = (name, attributes, text) => {
    const e = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const short = (v) => (typeof v !== 'number' ? String(v) : Math.abs(v) >= 1e4 ? Number(v.toPrecision(3)).toExponential().replace('e+', 'e') : number(Number(v.toPrecision(4))));

  // ---- lines

  const passes = (p) => axes.every((a) => !ranges.has(a.key) || a.scale.inside(a.of(p), ranges.get(a.key)));

  function trace(c, p) {
    let on = false;
    heights.get(p).forEach((high, i) => {
      if (on && !Number.isNaN(high)) c.lineTo(x(i), high); else c.moveTo(x(i), high);
      on = !Number.isNaN(high);
    });
  }

  function drawLines(c, list, colour, alpha, wide) {
    c.strokeStyle = colour;
    c.globalAlpha = alpha;
    c.lineWidth = wide;
    for (const p of list) { c.beginPath(); trace(c, p); c.stroke(); }
    c.globalAlpha = 1;
  }

  function paint() {
    const dots = devicePixelRatio || 1, c = canvas.getContext('2d'), high = HEIGHT + 2 * TOP;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(high * dots);
    canvas.style.height = svg.style.height = high + 'px';
    c.scale(dots, dots);
    const shown = points.filter(passes), rest = ranges.size ? points.filter((p) => !passes(p)) : [], alpha = Math.max(0.14, Math.min(0.7, 60 / Math.max(1, shown.length)));
    drawLines(c, rest, weft.style('--line'), 0.5, 1);
    const byColour = new Map();
    for (const p of shown) { const colour = tint(p); if (!byColour.has(colour)) byColour.set(colour, []); byColour.get(colour).push(p); }
    for (const [colour, list] of byColour) drawLines(c, list, colour, alpha, 1.2);
    drawLines(c, marked.filter((p) => points.includes(p)), weft.style('--accent'), 1, 2.5);
    if (near) drawLines(c, [near], weft.ink(), 1, 2.5);
  }
  function soon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paint(); });
  }

  // ---- axes

  function sayRange(a) {
    const range = ranges.get(a.key);
    return range ? (range[0] === range[1] ? short(range[0]) : `${short(range[0])} to ${short(range[1])}`) : 'all';
  }

  function drawAxis(a, i) {
    const g = make('g', { class: 'axis', tabindex: 0, role: 'slider', 'aria-orientation': 'vertical', 'data-axis': i });
    const thin = Math.max(1, Math.ceil(a.scale.ticks.length / 12));
    g.append(make('line', { x1: x(i), x2: x(i), y1: y(0), y2: y(1), class: 'rule' }), make('rect', { class: 'range', x: x(i) - 8, width: 16 }));
    a.scale.ticks.forEach(([v, at], k) => { if (k % thin === 0) g.append(make('text', { x: x(i) + 7, y: y(at) + 4 }, short(v))); });
    g.append(make('rect', { class: 'reach', x: x(i) - REACH, y: 0, width: 2 * REACH, height: HEIGHT + 2 * TOP }));
    return g;
  }

  function drawRange(i) {
    const a = axes[i], g = groups[i], rect = g.querySelector('.range'), range = ranges.get(a.key);
    const [low, high] = range ? a.scale.span(range) : [0, 0], text = sayRange(a);
    rect.setAttribute('y', y(high));
    rect.setAttribute('height', range ? Math.max(3, y(low) - y(high)) : 0);
    g.setAttribute('aria-label', a.label);
    g.setAttribute('aria-valuetext', text);
    g.setAttribute('aria-valuenow', Math.round(100 * (range ? high : 1)));
  }

  function build() {
    const focused = groups.indexOf(document.activeElement);
    inner.style.minWidth = weft.isPaper() ? '' : LEAST * axes.length + 'px';
    width = inner.clientWidth || 800;
    pitch = width / axes.length;
    heads.replaceChildren(...axes.map((a, i) => {
      const head = element('span', weft.soft(a.label)), half = Math.min(pitch / 2 - 4, x(i));
      head.title = a.label;
      head.style.cssText = `left:${x(i) - half}px;width:${2 * half}px`;
      return head;
    }));
    groups = axes.map(drawAxis);
    svg.replaceChildren(...groups);
    axes.forEach((_, i) => drawRange(i));
    if (focused >= 0 && groups[focused]) groups[focused].focus();
  }

  // ---- ranges by mouse, finger and keyboard

  function set(i, low, high, done) {
    const a = axes[i], range = a.scale.range(Math.min(low, high), Math.max(low, high));
    if (range) ranges.set(a.key, range); else ranges.delete(a.key);
    drawRange(i);
    if (done) change(a.key, range); else soon();
  }
  function leave(i) {
    ranges.delete(axes[i].key);
    drawRange(i);
    change(axes[i].key, null);
  }

  const place = (e) => { const r = svg.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  let drag = null;
  svg.addEventListener('pointerdown', (e) => {
    const g = e.target.closest('.axis');
    if (!g || e.button !== 0) return;
    const i = Number(g.dataset.axis), py = place(e)[1], range = ranges.get(axes[i].key), span = range && axes[i].scale.span(range);
    drag = { i, from: py, moved: false, low: part(py), high: part(py), kind: 'new' };
    if (span && Math.abs(py - y(span[1])) <= EDGE) Object.assign(drag, { kind: 'end', low: span[0] });
    else if (span && Math.abs(py - y(span[0])) <= EDGE) Object.assign(drag, { kind: 'end', low: span[1] });
    else if (span && py > y(span[1]) && py < y(span[0])) Object.assign(drag, { kind: 'move', low: span[0], high: span[1] });
    if (e.isTrusted) svg.setPointerCapture(e.pointerId);
  });
  function dragged(e, done) {
    const py = place(e)[1], by = part(py) - part(drag.from);
    if (drag.kind === 'move') set(drag.i, drag.low + by, drag.high + by, done);
    else set(drag.i, drag.low, part(py), done);
  }
  svg.addEventListener('pointermove', (e) => {
    if (!drag) { hover(e); return; }
    drag.moved = drag.moved || Math.abs(place(e)[1] - drag.from) > 4;
    if (drag.moved) dragged(e, false);
  });
  svg.addEventListener('pointerup', (e) => {
    if (!drag) return;
    if (drag.moved) dragged(e, true); else if (ranges.has(axes[drag.i].key)) leave(drag.i);
    drag = null;
  });
  // A finger on an axis does not scroll the page; touch-action holds for a whole SVG alone.
  svg.addEventListener('touchstart', (e) => { if (e.target.closest('.axis')) e.preventDefault(); }, { passive: false });
  svg.addEventListener('pointercancel', () => { drag = null; });

  svg.addEventListener('keydown', (e) => {
    const g = e.target.closest('.axis'), i = g ? Number(g.dataset.axis) : -1, by = { ArrowUp: 1, ArrowDown: -1 }[e.key];
    if (i < 0 || e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key === 'Delete' || e.key === 'Backspace') { if (ranges.has(axes[i].key)) leave(i); } else if (by) {
      const { scale, key } = axes[i], [low, high] = ranges.has(key) ? scale.span(ranges.get(key)) : [0, 1], step = by / scale.steps;
      const next = e.shiftKey ? [Math.min(Math.max(0, low + step), high), high] : [low, Math.max(Math.min(1, high + step), low)];
      if (scale.range(...next)) set(i, ...next, true);
    } else return;
    e.preventDefault();
  });

  // ---- the line at the pointer

  function lineAt(px, py) {
    const i = axes.findIndex((_, k) => k + 1 < axes.length && px >= x(k) && px <= x(k + 1));
    if (i < 0) return null;
    const share = (px - x(i)) / (x(i + 1) - x(i));
    let best = null, least = 6;
    for (const p of points) {
      const off = Math.abs(heights.get(p)[i] * (1 - share) + heights.get(p)[i + 1] * share - py);
      if (off < least && passes(p)) { least = off; best = p; }
    }
    return best;
  }
  function hover(e) {
    const [px, py] = place(e), was = near;
    near = lineAt(px, py);
    tip.hidden = near === null;
    if (near !== was) soon();
    if (near === null) return;
    tip.replaceChildren(...say(near).map((line, i) => element('div', line, i === 0 ? 'first' : '')));
    tip.style.left = Math.max(0, Math.min(px + 14, width - tip.offsetWidth - 4)) + 'px';
    tip.style.top = py + 16 + 'px';
  }
  svg.addEventListener('pointerleave', () => { tip.hidden = true; if (near) { near = null; soon(); } });
  svg.addEventListener('click', (e) => {
    if (e.target.closest('.axis')) return;
    const p = lineAt(...place(e));
    if (p) choose(p);
  });

  new ResizeObserver(() => { if (axes.length > 0 && inner.clientWidth !== width) { build(); paint(); } }).observe(inner);

  // What is shown, anew.
  return (now) => {
    ({ axes, points, ranges, marked } = now);
    near = null;
    tip.hidden = true;
    const high = (a, v) => (a.scale.has(v) ? y(a.scale.at(v)) : NaN);
    heights = new Map(points.map((p) => [p, axes.map((a) => high(a, a.of(p)))]));
    build();
    paint();
    performance.mark('lines ' + id);
    canvas.weft = { place: (i, v) => [x(i), y(axes[i].scale.at(v))], axes, passing: () => points.filter(passes).length };
  };
};
