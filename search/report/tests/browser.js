'use strict';
// Put at the end of a report's page by browser_test.sh: uses the page as a reader would and leaves what it saw in the
// element #verdict.
window.addEventListener('load', async () => {
  const problems = window.seenProblems;
  const check = (what, good) => { if (!good) problems.push(what); };
  const pause = () => new Promise((go) => setTimeout(go, 60));
  const scatter = () => Chart.getChart('scatter');  // drawn anew by every choice
  const $ = (id) => document.getElementById(id);
  const canvas = document.getElementById('scatter');
  const mouse = (type, at, more) => {
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent(type, { bubbles: true, ...more, clientX: box.left + at.x, clientY: box.top + at.y }));
  };
  Element.prototype.scrollIntoView = () => {};  // the page stays where the test aims
  const drawn = () => performance.getEntriesByName('table layers').length > 0;  // packed data come a little later
  for (let i = 0; i < 200 && !drawn(); i++) await pause();
  await pause();
  check('no charts', ['scatter', 'bars', 'roofline', 'stalls'].every((id) => Chart.getChart(id)));
  check('an empty canvas', canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((v) => v !== 0));
  const sets = scatter().data.datasets.filter((s) => s.data.some((d) => d.p));
  check('no points', sets.length > 1);

  // Where a point is once it stays there: a busy machine draws the last frames of a movement late.
  const rest = async (where) => {
    let at = where();
    for (let n = 0, still = 0; n < 100 && still < 3; n++) {
      await pause();
      const next = where();
      still = next.x === at.x && next.y === at.y ? still + 1 : 0;
      at = next;
    }
    return at;
  };

  // Every set's last point: its tooltip comes, and a click chooses it.
  for (let i = 0; i < sets.length; i++) {
    const index = sets[i].data.length - 1, point = sets[i].data[index].p;
    const at = await rest(() => scatter().getDatasetMeta(i).data[index].getCenterPoint());
    mouse('mousemove', at);
    await pause();
    check('no tooltip', scatter().tooltip.opacity > 0 && scatter().tooltip.body.length > 0);
    mouse('click', at);
    await pause();
    const shown = document.getElementById('chosen-title').textContent;
    const hits = scatter().getElementsAtEventForMode({ type: 'click', x: at.x, y: at.y, native: true }, 'point', { intersect: true }, true)
      .map((h) => scatter().data.datasets[h.datasetIndex].data[h.index].p).filter((p) => p).map((p) => 'Point ' + p.id);
    check(`click on point ${point.id} shows ${shown}`, hits.includes(shown));
    check('no layers', document.querySelectorAll('#layers tr').length > 1);
    check('no description', document.getElementById('yaml').textContent.includes('mesh:'));
  }

  check('causes without a legend', $('stalls-legend').children.length > 2);
  check('a choice that the URL does not keep', /[#&]point=\d+/.test(location.hash));

  // The axes begin near the data, not at a decade, and have several round numbers.
  for (const axis of Object.values(scatter().scales)) check(`ticks of ${axis.id}: ${axis.ticks.map((t) => t.label)}`, axis.ticks.filter((t) => t.label).length >= 3);
  const cycles = sets.flatMap((s) => s.data.map((d) => d.x));
  check('an axis that is not fitted', scatter().scales.x.min > Math.min(...cycles) / 1.5 && scatter().scales.x.max < Math.max(...cycles) * 1.5);

  // A column is sorted up, down, and as before; a search leaves rows out; rows are chosen by the keyboard.
  const column = (id, n) => [...document.querySelectorAll(`#${id} tbody tr`)].map((tr) => tr.children[n].textContent);
  const head = (id, text) => [...document.querySelectorAll(`#${id} th`)].findIndex((th) => th.textContent.startsWith(text));
  const press = (id, n) => document.querySelectorAll(`#${id} th`)[n].querySelector('button').click();
  const at = head('points', 'cycles'), before = column('points', at).join();
  const ordered = (list) => list.every((v, i) => i === 0 || list[i - 1] <= v);
  const numbers = () => column('points', at).map((t) => Number(t.replaceAll(',', '')));
  press('points', at);
  check('not sorted', ordered(numbers()) && document.querySelectorAll('#points th')[at].getAttribute('aria-sort') === 'ascending');
  press('points', at);
  check('not sorted downwards', ordered(numbers().reverse()));
  press('points', at);
  check('not as before', column('points', at).join() === before);
  const all = column('points', 1), search = document.querySelector('#points input[type=search]');
  search.value = 'no such row';
  search.oninput();
  check('a search that finds nothing shows rows', column('points', 1).length === 0);
  search.value = '';
  search.oninput();
  const rows = document.querySelectorAll('#points tbody tr');
  rows[0].focus();
  rows[0].dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
  check('the keyboard does not go on', document.activeElement === rows[1]);
  rows[1].dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  check('the keyboard does not choose', $('chosen-title').textContent === `Point ${all[1]}`);
  const was = $('chosen-title').textContent;
  check('the table loses the focus', document.activeElement === rows[1] && rows[1].getAttribute('aria-selected') === 'true' && rows[0].getAttribute('aria-selected') === null);
  for (const key of ['ArrowRight', 'ArrowLeft', 'ArrowLeft']) canvas.onkeydown(new KeyboardEvent('keydown', { key }));
  check('the arrow keys choose nothing', $('chosen-title').textContent !== was || all.length === 1);

  // What is kept as CSV are the rows as they stand.
  let csv = null;
  const made = URL.createObjectURL, clicked = HTMLAnchorElement.prototype.click;
  URL.createObjectURL = (blob) => { csv = blob; return 'about:blank'; };
  HTMLAnchorElement.prototype.click = () => {};
  [...document.querySelectorAll('#points .tablebar button')].find((b) => b.textContent === 'CSV').click();
  const lines = (await csv.text()).trim().split('\n');
  check('another CSV', lines.length === all.length + 1 && lines[0].includes('cycles'));
  URL.createObjectURL = made;
  HTMLAnchorElement.prototype.click = clicked;

  // A click with shift puts a point beside others.
  await pause();
  const spot = scatter().getDatasetMeta(0).data[0].getCenterPoint();
  mouse('mousemove', spot);
  mouse('click', spot, { shiftKey: true });
  await pause();
  check('shift and a click compare nothing', !$('compared').hidden);
  $('clear').click();
  await pause();

  // Two points side by side, by the checkbox and by the button; none again.
  document.querySelectorAll('#points tbody input')[0].click();
  await pause();
  check('nothing is compared', !$('compared').hidden && /[#&]compare=\d+/.test(location.hash));
  document.querySelector('#points tbody tr:last-child').click();
  $('pin').click();
  await pause();
  check('not side by side', document.querySelectorAll('#comparison tr:first-child th').length === 3 && /\(\d+\.\d\d\)/.test($('comparison').textContent));
  check('boxes that say nothing', document.querySelectorAll('#points tbody input:checked').length === 2);
  check('no layers side by side', Chart.getChart('against').data.datasets.length === 2);
  $('clear').click();
  await pause();
  check('still compared', $('compared').hidden && !location.hash.includes('compare'));

  // A filter leaves points out and stands in the URL.
  const filter = $('filter-0');
  filter.value = filter.options[1].value;
  filter.onchange();
  await pause();
  check('a filter without effect', column('points', 1).length < all.length && location.hash.includes('filter-0'));
  filter.value = '';
  filter.onchange();
  await pause();
  check('a filter that stays', column('points', 1).length === all.length && !location.hash.includes('filter-0'));

  // ---- ranges on the parallel axes

  const fan = document.querySelector('#parallel canvas'), over = document.querySelector('#parallel svg');
  const axisOf = (key) => fan.weft.axes.findIndex((a) => a.key === key);
  const finger = (type, [x, y], i) => { const r = over.getBoundingClientRect();
    (i === undefined ? over : over.querySelector(`[data-axis="${i}"] .reach`)).dispatchEvent(new PointerEvent(type, { bubbles: true, button: type === 'pointerdown' ? 0 : -1, clientX: r.left + x, clientY: r.top + y })); };
  const drawOn = async (i, from, to) => { finger('pointerdown', from, i); finger('pointermove', [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]); finger('pointermove', to); await pause();
    const during = fan.weft.passing(); finger('pointerup', to); await pause(); return during; };
  const plotted = () => scatter().data.datasets.flatMap((s) => s.data.filter((d) => d.p)).length;
  const chips = () => [...$('ranges').children].map((b) => b.textContent);
  const of = axisOf('cycles'), figures = numbers().sort((a, b) => a - b), [x0] = fan.weft.place(of, figures[0]);
  const rim = (v) => fan.weft.place(of, v)[1];
  check('no axis for each parameter', fan.weft.axes.filter((a) => a.key.startsWith('@')).length > 0 && fan.weft.axes.length > 4);
  const between = figures.findIndex((v, i) => i > 0 && rim(figures[i - 1]) - rim(v) > 2), few = figures.slice(0, between);
  const during = await drawOn(of, [x0, rim(figures[0]) + 8], [x0, (rim(figures[between - 1]) + rim(figures[between])) / 2]);
  check(`a range of ${few.length} points leaves ${during} while it is drawn`, during === few.length);
  check(`a range of ${few.length} points leaves ${numbers()} in the table`, numbers().sort((a, b) => a - b).join() === few.join());
  check(`a range of ${few.length} points leaves ${plotted()} in the chart`, plotted() === few.length);
  check('the range is not named', chips().length === 1 && chips()[0].startsWith('cycles') && /[#&]ranges=/.test(location.hash));
  check('the range is not said', over.querySelector(`[data-axis="${of}"]`).getAttribute('aria-valuetext') !== 'all');
  const other = fan.weft.axes.findIndex((a) => a.key.startsWith('@')), axis = fan.weft.axes[other];
  const narrow = new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true });
  over.querySelector(`[data-axis="${other}"]`).focus();
  over.querySelector(`[data-axis="${other}"]`).dispatchEvent(narrow);
  await pause();
  check('two ranges', chips().length === 3 && chips()[2] === 'all again' && !chips()[1].includes(String(axis.scale.known[axis.scale.known.length - 1]) + ' '));
  check('the axis loses the focus', document.activeElement.dataset.axis === String(other));
  const both = fan.weft.passing();
  check('points that are in one range alone', numbers().length === both && both <= few.length);
  over.querySelector(`[data-axis="${other}"]`).dispatchEvent(new KeyboardEvent('keydown', { key: 'Delete', bubbles: true, cancelable: true }));
  await pause();
  const scrolls = (target) => target.dispatchEvent(new Event('touchstart', { bubbles: true, cancelable: true }));
  check('a finger on an axis scrolls the page, or one beside does not', !scrolls(over.querySelector('.reach')) && scrolls(over));
  check('Delete leaves no range', chips().length === 1 && numbers().length === few.length);
  finger('pointerdown', [x0, rim(figures[0]) - 1], of);
  finger('pointerup', [x0, rim(figures[0]) - 1]);
  await pause();
  check('a click leaves no range', chips().length === 0 && numbers().length === all.length && !location.hash.includes('ranges='));
  const last = fan.weft.axes.length - 1, p1 = fan.weft.axes[0], chosenBefore = scatter().data.datasets.find((s) => s.data.some((d) => d.p)).data[0].p;
  const aim = [fan.weft.place(0, p1.of(chosenBefore)), fan.weft.place(1, fan.weft.axes[1].of(chosenBefore))], near = [0, 1].map((c) => (aim[0][c] + aim[1][c]) / 2);
  finger('pointermove', near);
  check('a line is not told of', !document.querySelector('#parallel .tip').hidden && /^point \d+:/.test(document.querySelector('#parallel .tip').textContent));
  const told = /^point (\d+):/.exec(document.querySelector('#parallel .tip').textContent);
  over.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: over.getBoundingClientRect().left + near[0], clientY: over.getBoundingClientRect().top + near[1] }));
  await pause();
  check('a click on a line chooses no point', told && $('chosen-title').textContent === `Point ${told[1]}`);
  check('the lines are not drawn', fan.getContext('2d').getImageData(0, 0, fan.width, fan.height).data.some((v) => v !== 0) && last > 3);

  // Scales: places for few values, a logarithm over more than a decade.
  const words = weft.scale(['os', 'ws', 'ws']), many = weft.scale(Array.from({ length: 30 }, (_, i) => 2 ** i));
  check('words on an axis', words.at('os') < words.at('ws') && words.inside('ws', ['ws', 'ws']) && !words.inside('os', ['ws', 'ws']) && words.range(0.6, 1).join() === 'ws,ws');
  check('a logarithmic axis', Math.abs(many.at(2 ** 10) - 10 / 29) < 1e-9 && many.range(-1, 2).join() === `1,${2 ** 29}` && !many.inside(NaN, [1, 8]));

  // The dark page and back; paper is light.
  const ground = () => getComputedStyle(document.body).backgroundColor, light = ground();
  $('theme').click();
  check('not dark', ground() !== light);
  dispatchEvent(new Event('beforeprint'));
  check('dark paper', document.documentElement.dataset.theme === 'light');
  check('axes beyond the paper', fan.clientWidth <= 740 && fan.weft.axes.length > 4);
  dispatchEvent(new Event('afterprint'));
  check('light after printing', ground() !== light);
  $('theme').click();
  check('not light', ground() === light);

  // Every choice of every select can be shown; one of the networks has failures.
  let failures = 0, parameters = 0;
  for (const id of ['network', 'x-axis', 'y-axis', 'colour']) {
    const select = document.getElementById(id);
    for (const option of [...select.options]) {
      select.value = option.value;
      select.onchange();
      await pause();
      failures = Math.max(failures, document.querySelectorAll('#failures tr').length);
      parameters = Math.max(parameters, document.querySelectorAll('#sensitivity canvas').length);
    }
  }
  check('no sensitivity', parameters > 0);
  check('failures are not listed', failures > 1);

  // Nothing is wider than the page, and no text is tiny.
  const wide = [...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll, .tallbox, pre, details, script, style') &&
    e.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
  check(`wider than the page: ${wide.map((e) => e.id || e.tagName).join(' ')}`, wide.length === 0);
  check('the page scrolls sideways', document.documentElement.scrollWidth <= document.documentElement.clientWidth);
  check('tiny text', [...document.querySelectorAll('p, td, dd, h1, h2, h3')].every((e) => parseFloat(getComputedStyle(e).fontSize) >= 12));
  parent.postMessage({ width: innerWidth, problems }, '*');
});
