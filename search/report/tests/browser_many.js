'use strict';
// Put at the end of the page of 2,000 points by browser_test.sh: they are drawn first, and little else with them; then the
// rest, each chart once, with few elements. Hovering, choosing, searching and sorting work on all.
window.addEventListener('load', async () => {
  const problems = window.seenProblems;
  const check = (what, good) => { if (!good) problems.push(what); };
  const pause = () => new Promise((go) => setTimeout(go, 60));
  const scatter = () => Chart.getChart('scatter');
  const $ = (id) => document.getElementById(id);
  Element.prototype.scrollIntoView = () => {};
  for (let i = 0; i < 200 && !scatter(); i++) await pause();  // packed data come a little later
  await pause();
  const sets = () => scatter().data.datasets.filter((s) => s.data.some((d) => d.p));
  const points = () => sets().reduce((n, s) => n + s.data.filter((d) => d.p).length, 0);
  check(`${points()} points instead of 2000`, points() === 2000);

  // What was done until the points could be used, and until all was drawn.
  const marks = () => performance.getEntriesByType('mark').map((m) => m.name);
  for (let i = 0; i < 200 && !(marks().includes('table layers') && marks()[marks().length - 1] === 'drawn'); i++) await pause();
  const first = marks().slice(0, marks().indexOf('points'));
  check(`before the points: ${first}`, first.join() === 'chart scatter');
  const drawn = marks().filter((m) => /^(chart|table|lines) /.test(m));
  check(`drawn twice: ${drawn}`, drawn.length === new Set(drawn).size && ['lines parallel', 'table points', 'chart bars', 'table layers'].every((m) => drawn.includes(m)));
  check('the first choice has no details', $('stalls-note').textContent.startsWith('Engine flow') && $('yaml').textContent.includes('mesh:'));
  const elements = document.getElementsByTagName('*').length;
  check(`${elements} elements`, elements < 3000);
  check('points with layers in what is read first', document.getElementById('data').textContent.length < 1 << 20);

  const mouse = (type, at) => {
    const box = $('scatter').getBoundingClientRect();
    $('scatter').dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: box.left + at.x, clientY: box.top + at.y }));
  };
  const last = sets().length - 1, index = sets()[last].data.length - 1;
  const at = scatter().getDatasetMeta(last).data[index].getCenterPoint();
  mouse('mousemove', at);
  await pause();
  check('no tooltip', scatter().tooltip.opacity > 0);
  mouse('click', at);
  await pause();
  check('nothing chosen', $('chosen-title').textContent.startsWith('Point ') && /[#&]point=\d+/.test(location.hash));

  const rows = () => document.querySelectorAll('#points tbody tr').length;
  const before = rows(), search = document.querySelector('#points input[type=search]');
  search.value = 'nothing has this name';
  search.dispatchEvent(new Event('input'));
  await pause();
  check('a search that leaves rows', before === 100 && rows() < before);
  search.value = '';
  search.dispatchEvent(new Event('input'));
  await pause();
  check('rows that did not come back', rows() === before);
  document.querySelector('#points > button').click();
  check(`all rows are ${rows()}`, rows() === 2000);
  for (const id of ['x-axis', 'y-axis', 'colour']) {
    const select = $(id);
    select.value = select.options[select.options.length - 1].value;
    select.onchange();
    await pause();
    check(`${id}: ${points()} points`, points() === 2000);
  }
  parent.postMessage({ width: innerWidth, problems }, '*');
});
