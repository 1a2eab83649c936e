'use strict';
// What the pages share: numbers, elements, colours that follow the theme, tables that can be sorted, searched and kept
// as CSV, and the choices of a page in its URL. A page's own script follows and uses `weft`.
const weft = (() => {
  const $ = (id) => document.getElementById(id);
  const palettes = {
    light: ['#1d4ed8', '#c2410c', '#15803d', '#7e22ce', '#b45309', '#0e7490', '#be123c', '#4d7c0f', '#475569', '#a21caf'],
    dark: ['#7aa2ff', '#ff9a5c', '#6fd08c', '#c79bff', '#f0c05a', '#5fd0e6', '#ff8fa3', '#b4d96a', '#a9b8cc', '#f09bf5'],
  };
  // For causes of waiting, beside the grey of idle and the green of working.
  const causePalettes = {
    light: ['#c2410c', '#1d4ed8', '#f59e0b', '#7e22ce', '#0e7490', '#be123c', '#0f172a', '#db2777', '#38bdf8', '#854d0e', '#a78bfa', '#f97373', '#14b8a6', '#64748b'],
    dark: ['#ff9a5c', '#7aa2ff', '#f7d154', '#c79bff', '#3fb8d0', '#ff6b8a', '#f5f7fa', '#f09bf5', '#9bdcff', '#c08a4a', '#8b7bff', '#ffb3b3', '#4fe0cf', '#93a4b8'],
  };
  const charts = {};

  // ---- numbers and elements

  const whole = new Intl.NumberFormat('en'), four = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });  // dear to make
  const number = (v) => {
    if (!Number.isFinite(v)) return '-';
    if (Number.isInteger(v) && Math.abs(v) < 1e15) return whole.format(v);
    const size = Math.abs(v);
    return size !== 0 && (size >= 1e6 || size < 1e-3) ? v.toExponential(3) : four.format(v);
  };
  const soft = (name) => name.replace(/[._]/g, '$&\u200b');  // may be cut there
  const percent = (v) => (Number.isFinite(v) ? (100 * v).toFixed(1) + ' %' : '-');

  function element(name, text, className) {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
  }

  function button(text, act) {
    const b = element('button', text);
    b.type = 'button';
    b.onclick = act;
    return b;
  }

  // ---- choices in the URL: #key=value&key=value, so that a page can be sent as it is seen

  const kept = new URLSearchParams(location.hash.slice(1));
  const recall = (key) => kept.get(key);
  function keep(key, value) {
    if (value === null || value === undefined || value === '') kept.delete(key);
    else kept.set(key, value);
    history.replaceState(null, '', '#' + kept);
  }

  function options(id, entries, chosen, change) {
    const select = $(id), key = id;
    const known = entries.some(([value]) => value === recall(key)) ? recall(key) : chosen;
    select.replaceChildren(...entries.map(([value, text]) => {
      const o = element('option', text);
      o.value = value;
      o.selected = value === known;
      return o;
    }));
    select.onchange = () => { keep(key, select.value === chosen ? null : select.value); change(select.value, false); };
    change(known, true);
  }

  // ---- work that can wait: a piece in each task, so that the page answers in between; a piece takes the place of an older
  // one of its name

  const pieces = new Map();
  let woken = false;
  function step() {
    const [name, act] = pieces.entries().next().value;
    pieces.delete(name);
    act();
  }
  function wake() {
    woken = false;
    if (pieces.size > 0) step();
    if (pieces.size > 0) sleep(); else performance.mark('drawn');
  }
  function sleep() {
    if (!woken) setTimeout(wake);
    woken = true;
  }
  function later(name, act) {
    pieces.delete(name);
    pieces.set(name, act);
    sleep();
  }
  const finish = () => { while (pieces.size > 0) step(); };

  // ---- theme: that of the system, or the button's; paper is always light

  let printing = false;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isPaper = () => printing;
  const isDark = () => !printing && (recall('theme') ? recall('theme') === 'dark' : system.matches);
  const colours = () => palettes[isDark() ? 'dark' : 'light'];
  const causes = () => causePalettes[isDark() ? 'dark' : 'light'];
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const ink = () => style('--ink');

  // Colours are said by a chart's description when it is drawn, so a new theme draws all charts again.
  function draw(id, describe) {
    if (charts[id]) charts[id].chart.destroy();
    const config = describe();
    config.options = Object.assign({ responsive: true, maintainAspectRatio: false, animation: false }, config.options);
    charts[id] = { chart: new Chart($(id), config), describe };
    performance.mark('chart ' + id);
    return charts[id].chart;
  }
  function forget(id) {
    if (charts[id]) charts[id].chart.destroy();
    delete charts[id];
  }

  function applyTheme() {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
    document.documentElement.toggleAttribute('data-paper', printing);  // as wide as paper, before charts are drawn for it
    Chart.defaults.color = style('--soft');
    Chart.defaults.borderColor = style('--line');
    Chart.defaults.font.family = 'system-ui, sans-serif';
    for (const [id, c] of Object.entries(charts)) draw(id, c.describe);
    document.dispatchEvent(new Event('theme'));
  }
  function themeButton(id) {
    $(id).onclick = () => { keep('theme', isDark() ? 'light' : 'dark'); applyTheme(); };
  }
  system.addEventListener('change', applyTheme);
  addEventListener('beforeprint', () => { printing = true; finish(); applyTheme(); });
  addEventListener('afterprint', () => { printing = false; applyTheme(); });

  // ---- axes

  // Multiples of 1, 2, 2.5 or 5 times a power of ten, at most seven.
  function roundTicks(least, most) {
    const rough = (most - least) / 6, decade = 10 ** Math.floor(Math.log10(rough));
    const step = decade * [1, 2, 2.5, 5, 10].find((lead) => lead * decade >= rough * (1 - 1e-9)), first = Math.ceil(least / step);
    return Array.from({ length: Math.max(0, Math.floor(most / step) - first + 1) }, (_, i) => ({ value: (first + i) * step }));
  }

  // From a little below the least to a little above the most, not from decade to decade.
  function logScale(label, values) {
    const some = (values || []).filter((v) => v > 0 && Number.isFinite(v));
    const least = Math.min(...some), most = Math.max(...some), margin = Math.max((most / least) ** 0.05, 1.02);
    const wide = most / least > 20;
    // Within some four times the round numbers of a logarithmic axis are too far apart.
    if (most / least < 4) {
      const pad = Math.max((most - least) * 0.06, most * 1e-3);
      return { type: 'linear', min: Math.max(0, least - pad), max: most + pad, title: { display: true, text: label },
        afterBuildTicks: (axis) => { axis.ticks = roundTicks(axis.min, axis.max); }, ticks: { includeBounds: false, callback: (v) => number(Number(v.toPrecision(6))) } };
    }
    const scale = { type: 'logarithmic', title: { display: true, text: label }, ticks: { maxTicksLimit: 8, callback: (v) => {
      const lead = v / 10 ** Math.floor(Math.log10(v) + 1e-9);
      const round = Math.abs(v - Number(v.toPrecision(2))) < 1e-6 * v;  // the ends of the axis are not
      return round && (!wide || [1, 2, 5].some((l) => Math.abs(lead - l) < 1e-6)) ? number(Number(v.toPrecision(2))) : '';
    } } };
    if (some.length) Object.assign(scale, { min: least / margin, max: most * margin });
    return scale;
  }

  // ---- legends: text beside its colour, so that they work on paper, on a phone and for screen readers

  function legend(id, entries) {
    $(id).replaceChildren(...entries.map(([name, colour, value]) => {
      const item = element('li'), swatch = element('span', undefined, 'swatch');
      swatch.style.background = colour;
      item.append(swatch, element('span', value === undefined ? name : `${name} ${value}`));
      return item;
    }));
  }

  // ---- tables

  const csvField = (v) => {
    const text = v === null || v === undefined ? '' : String(v);
    const safe = /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? "'" + text : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };

  function download(name, text) {
    const a = element('a');
    a.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  }

  const SHOWN = 100;  // rows, until all are asked for

  // A table in the element `id`. columns: { head, of(row), text(row), left, wrap, cell(row) }: `of` gives what is sorted and
  // exported, `text` what is shown. `chosen(row)` and `choose(row)` make rows choosable by mouse and keyboard. `mark` of what
  // it returns, and mark(row, cell) of columns, renew what is chosen, and keep the focus where it is.
  function table(id, { columns, rows, file, chosen, choose, sorted }) {
    const box = $(id), before = box.weft || {};
    const state = { column: before.column ?? sorted ?? null, down: before.down ?? false, search: before.search ?? '', all: before.all ?? false };
    box.weft = state;
    const value = (column, row) => column.of(row);
    const shown = (column, row) => { const v = value(column, row); return column.text ? column.text(row) : typeof v === 'number' ? number(v) : v ?? ''; };

    function found() {
      const words = state.search.toLowerCase().split(/\s+/).filter((w) => w);
      let list = rows.filter((row) => words.every((w) => columns.some((c) => String(shown(c, row)).toLowerCase().includes(w))));
      if (state.column !== null && columns[state.column]) {
        const c = columns[state.column], sign = state.down ? -1 : 1;
        const compare = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a ?? '').localeCompare(String(b ?? ''), 'en', { numeric: true }));
        list = [...list].sort((a, b) => sign * compare(value(c, a), value(c, b)));
      }
      return list;
    }

    function head() {
      const tr = element('tr');
      columns.forEach((c, i) => {
        const th = element('th', undefined, c.left ? 'text' : '');
        th.scope = 'col';
        if (!c.head) { tr.append(th); return; }
        const mark = state.column === i ? (state.down ? ' \u25be' : ' \u25b4') : '';
        th.setAttribute('aria-sort', state.column !== i ? 'none' : state.down ? 'descending' : 'ascending');
        th.append(button(soft(c.head) + mark, () => {
          if (state.column === i && state.down) { state.column = null; state.down = false; } else { state.down = state.column === i; state.column = i; }
          fill();
          box.querySelectorAll('th')[i].firstChild.focus();
        }));
        tr.append(th);
      });
      return tr;
    }

    const lines = new Map();  // that are shown, by row
    function markLine(tr, row) {
      if (chosen && chosen(row)) tr.setAttribute('aria-selected', 'true'); else tr.removeAttribute('aria-selected');
      columns.forEach((c, i) => { if (c.mark) c.mark(row, tr.children[i]); });
    }

    function line(row) {
      const tr = element('tr');
      for (const c of columns) {
        const td = element('td', undefined, (c.left ? 'text' : '') + (c.wrap ? ' wrap' : ''));
        if (c.cell) td.append(c.cell(row)); else td.textContent = String(shown(c, row));
        tr.append(td);
      }
      lines.set(row, tr);
      markLine(tr, row);
      if (choose) {
        tr.tabIndex = 0;
        tr.className = 'row';
        tr.onclick = (e) => { if (!e.target.closest('input, button, a')) choose(row); };
        tr.onkeydown = (e) => {
          const to = e.key === 'ArrowDown' ? tr.nextElementSibling : e.key === 'ArrowUp' ? tr.previousElementSibling : null;
          if (to && to.tabIndex === 0) to.focus();
          else if (e.key === 'Enter' || e.key === ' ') { if (e.target !== tr) return; choose(row); } else return;
          e.preventDefault();
        };
      }
      return tr;
    }

    function fill() {
      const list = found(), part = state.all ? list : list.slice(0, SHOWN);
      const thead = element('thead'), tbody = element('tbody');
      thead.append(head());
      lines.clear();
      tbody.append(...part.map(line));
      grid.replaceChildren(thead, tbody);
      count.textContent = list.length === rows.length ? `${number(rows.length)} rows` : `${number(list.length)} of ${number(rows.length)} rows`;
      more.hidden = part.length === list.length;
      more.textContent = `show all ${number(list.length)}`;
    }

    const bar = element('div', undefined, 'tablebar'), search = element('input'), count = element('span', undefined, 'note');
    const grid = element('table'), scroll = element('div', undefined, 'scroll'), more = button('', () => { state.all = true; fill(); });
    search.type = 'search';
    search.placeholder = 'search rows';
    search.setAttribute('aria-label', 'search rows');
    search.value = state.search;
    search.oninput = () => { state.search = search.value; fill(); };
    const save = button('CSV', () => download(file, [columns.filter((c) => c.head).map((c) => csvField(c.head)), ...found().map((row) => columns.filter((c) => c.head).map((c) => csvField(value(c, row))))]
      .map((fields) => fields.join(',')).join('\n') + '\n'));
    save.setAttribute('aria-label', `keep ${file}`);
    bar.append(search, count, save);
    scroll.append(grid);
    box.replaceChildren(bar, scroll, more);
    fill();
    performance.mark('table ' + id);
    return { rows: found, csv: save, mark: () => lines.forEach(markLine) };
  }

  // ---- pictures that can be moved and enlarged

  // What mouse, touch and wheel do on an element. Once it has the focus, by a click, a tap or Tab, the wheel and a finger
  // are its own; before, they scroll the page. move(dx, dy) and zoom(factor, x, y) in pixels of the element; click(event)
  // is no end of a drag.
  function gestures(area, { move, zoom, click }) {
    const STILL = 5, pointers = new Map();
    let moved = 0;
    const at = (e) => { const r = area.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    const middle = () => { const p = [...pointers.values()]; return [0, 1].map((c) => p.reduce((sum, q) => sum + q[c], 0) / p.length); };
    const spread = () => { const [a, b] = [...pointers.values()]; return Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1])); };
    area.addEventListener('pointerdown', (e) => {
      if (e.button !== 0) return;
      if (pointers.size === 0) moved = 0;
      pointers.set(e.pointerId, at(e));
    });
    area.addEventListener('pointermove', (e) => {
      if (!pointers.has(e.pointerId)) return;
      const from = middle(), apart = pointers.size === 2 ? spread() : 0;
      pointers.set(e.pointerId, at(e));
      const to = middle();
      moved += Math.hypot(to[0] - from[0], to[1] - from[1]) + (apart ? STILL : 0);
      if (moved < STILL) return;
      if (e.isTrusted) area.setPointerCapture(e.pointerId);
      move(to[0] - from[0], to[1] - from[1]);
      if (apart) zoom(spread() / apart, ...to);
    });
    for (const type of ['pointerup', 'pointercancel', 'pointerleave']) area.addEventListener(type, (e) => pointers.delete(e.pointerId));
    area.addEventListener('click', (e) => { if (moved < STILL) click(e); });
    area.addEventListener('wheel', (e) => {
      if (!e.ctrlKey && !e.metaKey && document.activeElement !== area) return;
      e.preventDefault();
      zoom(Math.exp(-e.deltaY * (e.deltaMode === 1 ? 0.05 : 0.002)), ...at(e));
    }, { passive: false });
    return { held: () => pointers.size > 0 };
  }

  function figures(id, pairs) {
    $(id).replaceChildren(...pairs.map(([name, value]) => {
      const pair = element('div');
      pair.append(element('dt', soft(name)), element('dd', String(value)));
      return pair;
    }));
  }

  // The data of the page in an element: JSON, or gzip of it in base64 (page.c).
  async function data(id) {
    const text = $(id).textContent;
    if (text[0] === '{') return JSON.parse(text);
    if (typeof DecompressionStream === 'undefined') {
      $('title').textContent = 'This page needs a browser of 2023 or later: its data are packed.';
      throw new Error('no DecompressionStream');
    }
    const raw = atob(text), packed = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) packed[i] = raw.charCodeAt(i);  // much faster than Uint8Array.from
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
  }
  // What stands behind the scripts is there when the page is.
  async function rest(id) {
    if (document.readyState === 'loading') await new Promise((go) => addEventListener('DOMContentLoaded', go));
    return data(id);
  }

  return { $, number, percent, soft, element, button, recall, keep, options, colours, causes, ink, style, draw, forget, applyTheme, themeButton, isPaper, logScale, legend, table, gestures, figures,
    chart: (id) => charts[id] && charts[id].chart, data: () => data('data'), rest, later };
})();
