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

  // A buffer for each rectangle; no two that live at one time share bytes, unless one takes the other's place over.
  check('not a rectangle for each buffer', all('#memory rect').length === data.buffers.length && data.buffers.length > 0);
  check('a buffer beyond the arena', data.buffers.every((b) => b.offset >= 0 && b.offset + b.bytes <= data.arena_bytes));

  // Parts of energy add up.
  const parts = sum(Object.entries(data.energy_pj).filter(([name]) => name !== 'total').map(([, pj]) => pj || 0));
  check('components of energy', Math.abs(parts / data.energy_pj.total - 1) < 1e-6);

  $('theme').click();
  check('not dark', document.documentElement.dataset.theme === 'dark');
  $('theme').click();
  const wide = all('body *').filter((e) => !e.closest('.scroll, .tallbox, pre, script, style') &&
    e.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
  check(`wider than the page: ${wide.map((e) => e.id || e.tagName).join(' ')}`, wide.length === 0);
  check('the page scrolls sideways', document.documentElement.scrollWidth <= document.documentElement.clientWidth);
  parent.postMessage({ width: innerWidth, problems }, '*');
});
