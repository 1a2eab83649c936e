'use strict';
// Put at the end of a report's page by browser_test.sh: uses the page as a reader would and leaves what it saw in the
// element #verdict.
window.addEventListener('load', async () => {
  const problems = window.seenProblems;
  const check = (what, good) => { if (!good) problems.push(what); };
  const pause = () => new Promise((go) => setTimeout(go, 60));
  const chart = Chart.getChart('scatter');
  const canvas = document.getElementById('scatter');
  const mouse = (type, at) => {
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: box.left + at.x, clientY: box.top + at.y }));
  };
  Element.prototype.scrollIntoView = () => {};  // the page stays where the test aims
  await pause();
  check('no charts', ['scatter', 'bars', 'roofline', 'stalls'].every((id) => Chart.getChart(id)));
  check('an empty canvas', canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((v) => v !== 0));
  const sets = chart.data.datasets.filter((s) => s.data.some((d) => d.p));
  check('no points', sets.length > 1);

  // Every set's last point: its tooltip comes, and a click chooses it.
  for (let i = 0; i < sets.length; i++) {
    const index = sets[i].data.length - 1, point = sets[i].data[index].p;
    const at = chart.getDatasetMeta(i).data[index].getCenterPoint();
    mouse('mousemove', at);
    await pause();
    check('no tooltip', chart.tooltip.opacity > 0 && chart.tooltip.body.length > 0);
    mouse('click', at);
    await pause();
    const shown = document.getElementById('chosen-title').textContent;
    const hits = chart.getElementsAtEventForMode({ type: 'click', x: at.x, y: at.y, native: true }, 'point', { intersect: true }, true)
      .map((h) => chart.data.datasets[h.datasetIndex].data[h.index].p).filter((p) => p).map((p) => 'Point ' + p.id);
    check(`click on point ${point.id} shows ${shown}`, hits.includes(shown));
    check('no layers', document.querySelectorAll('#layers tr').length > 1);
    check('no description', document.getElementById('yaml').textContent.includes('mesh:'));
  }

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
  const wide = [...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll, pre, details, script, style') &&
    e.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
  check(`wider than the page: ${wide.map((e) => e.id || e.tagName).join(' ')}`, wide.length === 0);
  check('the page scrolls sideways', document.documentElement.scrollWidth <= document.documentElement.clientWidth);
  check('tiny text', [...document.querySelectorAll('p, td, dd, h1, h2, h3')].every((e) => parseFloat(getComputedStyle(e).fontSize) >= 12));
  parent.postMessage({ width: innerWidth, problems }, '*');
});
