'use strict';
// Put at the end of a study's page by browser_test.sh: uses it as a reader would, and leaves what it saw in #verdict.
window.addEventListener('load', async () => {
  const problems = window.seenProblems;
  const check = (what, good) => { if (!good) problems.push(what); };
  const pause = () => new Promise((go) => setTimeout(go, 60));
  const $ = (id) => document.getElementById(id), all = (css) => [...document.querySelectorAll(css)];
  const data = JSON.parse($('data').textContent);
  for (let i = 0; i < 50 && !Chart.getChart('bounds'); i++) await pause();
  const dots = () => Chart.getChart('scatter').data.datasets.flatMap((d) => d.data.filter((p) => p.row));
  const good = data.rows.filter((r) => r.status === 'good');
  check('no rows', good.length > 10 && good.length < data.rows.length);
  check(`${dots().length} dots for ${good.length} configurations`, dots().length === good.length);
  check('not a row for each configuration', all('#rows tbody tr').length === data.rows.length);
  check('not a row for each mean', all('#compressions tbody tr').length === data.compressions.length);
  check('no kinds or rankings', all('#kinds tbody tr').length === data.kinds.length && all('#rankings tbody tr').length === data.rankings.length);
  check('a failure without its reason', all('#rows td').some((td) => td.textContent.includes('lopsided')));

  // Bars are parts of the time, of all of it.
  const whole = () => Chart.getChart('bounds').data.labels.every((_, i) => Math.abs(Chart.getChart('bounds').data.datasets.reduce((a, d) => a + d.data[i], 0) - 100) < 1e-6);
  check('parts that are not the whole', whole());

  // A tooltip names its configuration.
  const chart = Chart.getChart('scatter'), at = chart.getDatasetMeta(1).data[0].getCenterPoint(), box = $('scatter').getBoundingClientRect();
  $('scatter').dispatchEvent(new MouseEvent('mousemove', { bubbles: true, clientX: box.left + at.x, clientY: box.top + at.y }));
  await pause();
  check('no tooltip', chart.tooltip.opacity > 0 && chart.tooltip.body[0].lines[0].includes(','));

  // Every choice leaves its configurations.
  const select = async (id, value) => { $(id).value = value; $(id).onchange(); await pause(); };
  for (const field of ['network', 'array', 'lowering', 'mapping']) {
    for (const option of [...$(field).options]) {
      await select(field, option.value);
      const want = (list) => list.filter((r) => option.value === '' || r[field] === option.value).length;
      check(`${field} ${option.value}: ${dots().length} dots`, dots().length === want(good));
      check(`${field} ${option.value}: rows`, all('#rows tbody tr').length === want(data.rows));
      check(`${field} ${option.value}: bars`, whole());
    }
    check('a choice that the URL does not keep', location.hash.includes(field + '='));
    await select(field, '');
  }
  for (const option of [...$('colour').options]) {
    await select('colour', option.value);
    check(`${option.value}: legend`, $('scatter-legend').children.length === Chart.getChart('scatter').data.datasets.length - 1);
  }
  $('theme').click();
  check('not dark', document.documentElement.dataset.theme === 'dark');
  const wide = all('body *').filter((e) => !e.closest('.scroll, .tallbox, pre, script, style') &&
    e.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
  check(`wider than the page: ${wide.map((e) => e.id || e.tagName).join(' ')}`, wide.length === 0);
  check('the page scrolls sideways', document.documentElement.scrollWidth <= document.documentElement.clientWidth);
  parent.postMessage({ width: innerWidth, problems }, '*');
});
