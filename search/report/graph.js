// A graph to look at: boxes and lines in an SVG that can be moved and enlarged by mouse, wheel, touch and keyboard, with a
// small map of the whole. It is a list of choices for screen readers.
weft.graph = (id, { count, edges, describe, tint, choose, open }) => {
  const { element } = weft, box = weft.$(id), NS = 'http://www.w3.org/2000/svg';
  const NODE = { width: 176, height: 54, gap: 22, between: 38 };
  const MOST = 3, READABLE = 0.55, NEAR = 0.35;  // scales: the largest, the least to begin with, the least with text
  const MOST_COLUMNS = 16, PAPER = 560;  // pixels that a strip on paper is high
  const rows = weft.layout(count, edges, NODE);
  let layout = weft.fold(rows, edges, NODE, 1);
  const margin = 24, view = { k: 1, x: 0, y: 0 };
  let chosen = [], active = -1;

  const svg = (name, attributes = {}, children = []) => {
    const e = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  };
  const title = (text) => svg('title', {}, [text]);

  // ---- drawing

  // Down from a node, straight through its lanes, into the top of the next; by corners into another column.
  function curve(path, breaks) {
    const half = NODE.height / 2;
    let d = `M${path[0][0]} ${path[0][1] + half}`;
    for (let i = 1; i < path.length; i++) {
      const [x0, y0] = [path[i - 1][0], path[i - 1][1] + half], [x1, y1] = [path[i][0], path[i][1] - half], middle = (y0 + y1) / 2;
      if (breaks[i]) d += breaks[i].map(([x, y]) => `L${x} ${y}`).join('') + `L${x1} ${y1}`;
      else d += x0 === x1 ? `V${y1}` : `C${x0} ${middle} ${x1} ${middle} ${x1} ${y1}`;
      if (i < path.length - 1) d += `V${path[i][1] + half}`;
    }
    return d;
  }

  function drawEdge([from, to, text], i) {
    return svg('g', { class: 'edge', 'data-edge': i }, [svg('path', { class: 'hit' }, [title(text)]), svg('path', { class: 'line', 'marker-end': `url(#${id}-arrow)` })]);
  }

  function drawNode(i) {
    const about = describe(i);
    const text = (x, y, line, className) => svg('text', { x, y, class: className, ...(className === 'at' ? { 'text-anchor': 'end' } : {}) }, [line]);
    return svg('g', { id: `${id}-${i}`, class: 'node' + (about.faint ? ' faint' : ''), 'data-node': i, role: 'option', 'aria-selected': 'false', 'aria-label': about.said }, [
      title(about.hover), svg('rect', { class: 'box', width: NODE.width, height: NODE.height, rx: 6 }), svg('rect', { class: 'strip', width: 8, height: NODE.height, rx: 3 }),
      svg('g', { class: 'words', 'aria-hidden': 'true', 'clip-path': `url(#${id}-inside)` }, [text(15, 17, about.head, 'head'), text(NODE.width - 7, 17, about.corner, 'at'), text(15, 32, about.name, ''), text(15, 46, about.figure, '')]),
      svg('rect', { class: 'heat', x: 8, y: NODE.height - 4, width: Math.max(0, (NODE.width - 10) * about.share), height: 3 })]);
  }

  const nodes = Array.from({ length: count }, (_, i) => drawNode(i)), lines = edges.map(drawEdge);
  const all = svg('g', { id: `${id}-all` }, [svg('g', { 'aria-hidden': 'true' }, lines), svg('g', {}, nodes)]), stage = svg('g', {}, [all]);
  const arrow = svg('marker', { id: `${id}-arrow`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, [svg('path', { d: 'M0 0L8 4L0 8z', class: 'tip' })]);
  const inside = svg('clipPath', { id: `${id}-inside` }, [svg('rect', { width: NODE.width - 4, height: NODE.height })]);
  const picture = svg('svg', { class: 'stage', role: 'presentation' }, [svg('defs', {}, [arrow, inside]), stage]);
  const spots = Array.from({ length: count }, () => svg('rect', { width: NODE.width, height: NODE.height }));
  const frame = svg('rect', { class: 'frame', 'vector-effect': 'non-scaling-stroke' });
  const map = svg('svg', { class: 'map', 'aria-hidden': 'true', preserveAspectRatio: 'none' }, [...spots, frame]);
  const list = element('div', undefined, 'list'), sheets = element('div', undefined, 'sheets');
  list.tabIndex = 0;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', `graph of ${count} nodes: up and down follow its edges, left and right stay in a row, Enter goes to the step, plus, minus and 0 change the size`);
  list.append(picture);
  box.replaceChildren(list, map, sheets);

  function put() {
    for (let i = 0; i < count; i++) {
      const left = layout.x[i] - NODE.width / 2, top = layout.y[i] - NODE.height / 2;
      nodes[i].setAttribute('transform', `translate(${left} ${top})`);
      spots[i].setAttribute('x', left);
      spots[i].setAttribute('y', top);
    }
    lines.forEach((line, i) => { for (const path of line.children) path.setAttribute('d', curve(layout.paths[i], layout.breaks[i])); });
    map.setAttribute('viewBox', `${-margin} ${-margin} ${layout.width + 2 * margin} ${layout.height + 2 * margin}`);
  }

  function paint() {
    for (let i = 0; i < count; i++) {
      const [colour, strength] = tint(i);
      for (const e of [nodes[i].querySelector('.strip'), spots[i]]) {
        e.setAttribute('fill', colour);
        e.setAttribute('fill-opacity', strength);
      }
    }
  }

  // ---- the view

  const size = () => ({ width: list.clientWidth || 800, height: list.clientHeight || 480 });
  const fit = (at) => Math.min(1, size().width / (at.width + 2 * margin), size().height / (at.height + 2 * margin));
  const whole = () => fit(layout);

  // As many columns as show the whole largest; one more only if it gains a tenth.
  function arrange(inColumns) {
    const fold = (columns) => weft.fold(rows, edges, NODE, columns);
    layout = fold(1);
    for (let columns = 2; inColumns && columns <= Math.min(MOST_COLUMNS, rows.order.length); columns++) {
      const other = fold(columns);
      if (fit(other) > 1.1 * fit(layout)) layout = other;
    }
    put();
  }

  function apply() {
    const { width, height } = size(), w = layout.width * view.k, h = layout.height * view.k, held = 60;
    view.x = Math.min(Math.max(view.x, held - w), width - held);
    view.y = Math.min(Math.max(view.y, held - h), height - held);
    stage.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.k})`);
    picture.classList.toggle('far', view.k < NEAR);
    const at = { x: -view.x / view.k, y: -view.y / view.k, width: width / view.k, height: height / view.k };
    for (const [key, value] of Object.entries(at)) frame.setAttribute(key, value);
    map.style.display = w <= width && h <= height ? 'none' : '';
  }

  function show(k, x, y) {  // the point x, y of the graph in the middle
    const { width, height } = size();
    Object.assign(view, { k, x: width / 2 - x * k, y: height / 2 - y * k });
    apply();
  }
  const showWhole = () => show(whole(), layout.width / 2, layout.height / 2);

  // The whole if it can be read, else its upper end.
  function begin() {
    if (whole() >= READABLE) { showWhole(); return; }
    const { width, height } = size(), k = Math.max(READABLE, Math.min(1, width / (layout.width + 2 * margin)));
    const wide = layout.width * k > width - 2 * margin;
    const first = count > 0 ? layout.x[rows.order[0][0]] : 0;  // in the middle, unless room on its left stays empty
    show(k, wide ? Math.max(first, (width / 2 - margin) / k) : layout.width / 2, (height / 2 - margin) / k);
  }

  function zoom(factor, x = size().width / 2, y = size().height / 2) {
    const k = Math.min(Math.max(view.k * factor, whole() * 0.8), MOST), by = k / view.k;
    Object.assign(view, { k, x: x - (x - view.x) * by, y: y - (y - view.y) * by });
    apply();
  }

  function reveal(i) {
    const { width, height } = size(), x = layout.x[i] * view.k + view.x, y = layout.y[i] * view.k + view.y;
    const fits = x > NODE.width * view.k / 2 && x < width - NODE.width * view.k / 2 && y > 30 && y < height - 30;
    if (!fits || view.k < NEAR) show(Math.max(view.k, READABLE), layout.x[i], layout.y[i]);
  }

  // ---- mouse, touch and wheel

  weft.gestures(list, {
    move: (dx, dy) => { view.x += dx; view.y += dy; apply(); },
    zoom,
    click: (e) => {
      const node = e.target.closest('[data-node]');
      if (node) activate(Number(node.dataset.node));
    },
  });
  list.addEventListener('dblclick', () => { if (active >= 0) open(active); });

  const onMap = (e) => {
    if (e.type === 'pointermove' && e.buttons !== 1) return;
    const r = map.getBoundingClientRect(), part = [(e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height];
    show(view.k, part[0] * (layout.width + 2 * margin) - margin, part[1] * (layout.height + 2 * margin) - margin);
  };
  map.addEventListener('pointerdown', onMap);
  map.addEventListener('pointermove', onMap);

  // ---- keyboard

  const next = (i, from, to) => edges.filter((e) => e[from] === i).map((e) => e[to])[0] ?? i;
  function beside(i, step) {
    const row = rows.order[rows.rows[i]];
    return row[Math.min(row.length - 1, Math.max(0, row.indexOf(i) + step))];
  }
  const moves = { ArrowUp: (i) => next(i, 1, 0), ArrowDown: (i) => next(i, 0, 1), ArrowLeft: (i) => beside(i, -1), ArrowRight: (i) => beside(i, 1), Home: () => 0, End: () => count - 1 };
  const pans = { ArrowUp: [0, 60], ArrowDown: [0, -60], ArrowLeft: [60, 0], ArrowRight: [-60, 0] };
  const sizes = { '+': () => zoom(1.25), '=': () => zoom(1.25), '-': () => zoom(0.8), 0: showWhole };

  list.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.shiftKey && pans[e.key]) { view.x += pans[e.key][0]; view.y += pans[e.key][1]; apply(); } else if (moves[e.key]) activate(active < 0 ? 0 : moves[e.key](active));
    else if (sizes[e.key]) sizes[e.key]();
    else if (e.key === 'Enter' && active >= 0) open(active);
    else return;
    e.preventDefault();
  });

  // ---- what is chosen

  function activate(i) {
    choose(i);
    mark(chosen.includes(i) ? chosen : [i], i);
  }

  // Nodes that are chosen, by the page or by a reader; the one to look at comes into the view.
  function mark(list_, look) {
    for (const i of chosen) { nodes[i].classList.remove('chosen'); nodes[i].setAttribute('aria-selected', 'false'); }
    chosen = list_;
    for (const i of chosen) { nodes[i].classList.add('chosen'); nodes[i].setAttribute('aria-selected', 'true'); }
    active = look ?? chosen[0] ?? -1;
    edges.forEach(([from, to], e) => lines[e].classList.toggle('near', chosen.includes(from) || chosen.includes(to)));
    if (active < 0) { list.removeAttribute('aria-activedescendant'); return; }
    list.setAttribute('aria-activedescendant', `${id}-${active}`);
    reveal(active);
  }

  // ---- paper: strips of the graph side by side, as a page cannot be moved

  function sheet(top, high, k) {
    const wide = layout.width + 2 * margin, part = svg('svg', { viewBox: `${-margin} ${top} ${wide} ${high}`, width: wide * k, height: high * k });
    part.append(svg('use', { href: `#${id}-all` }));
    return part;
  }
  let onScreen = null;
  function forPaper() {
    onScreen = layout;
    arrange(false);
    const k = Math.min(0.6, 640 / (layout.width + 2 * margin)), pitch = NODE.height + NODE.between, most = Math.max(1, Math.floor(PAPER / k / pitch)), parts = [];
    for (let top = 0; top < layout.height; top += most * pitch) parts.push(sheet(top - NODE.between / 2, Math.min(most * pitch, layout.height - top + NODE.between), k));
    sheets.replaceChildren(...parts);
  }
  addEventListener('beforeprint', forPaper);
  addEventListener('afterprint', () => {
    layout = onScreen || layout;
    put();
    sheets.replaceChildren();
  });

  function start(inColumns) {
    arrange(inColumns);
    begin();
    if (active >= 0) reveal(active);
  }
  paint();
  let seen = size();
  new ResizeObserver(() => {
    const now = size();
    if (now.width === seen.width && now.height === seen.height) return;
    const x = (seen.width / 2 - view.x) / view.k, y = (seen.height / 2 - view.y) / view.k;
    seen = now;
    show(view.k, x, y);
  }).observe(list);
  return { mark, paint, zoom, showWhole, arrange: start };
};
