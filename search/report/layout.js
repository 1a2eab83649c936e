// Where the nodes of a graph stand: rows from top to bottom, each edge from a row to a later one, few crossings, straight
// long edges. The same graph is always laid out alike.
//
// A node's row is one behind the last of those before it; nodes that nothing is before stand just above those that read
// them. What reaches over several rows goes through a lane in each of them, one for all readers of a node. Rows are ordered
// by the medians of their neighbours, sweep after sweep; the order with the fewest crossings stays. Then each place asks for
// the mean of its neighbours, and a row gives places that keep their distances and move the least from what was asked
// (isotonic regression: neighbours that would overlap are moved as one).
weft.layout = (() => {
  const SWEEPS = 12, PULLS = 20, ONE_SIDED = 2, GRID = 8;

  // Rows, from edges [from, to] with from < to.
  function rowsOf(count, edges) {
    const row = new Array(count).fill(0), before = new Array(count).fill(0), after = new Array(count).fill(Infinity);
    const sorted = [...edges].sort((a, b) => a[0] - b[0]);
    for (const [from, to] of sorted) {
      row[to] = Math.max(row[to], row[from] + 1);
      before[to]++;
    }
    for (let i = sorted.length - 1; i >= 0; i--) {
      const [from, to] = sorted[i];
      after[from] = Math.min(after[from], row[to] - 1);
      const last = i === 0 || sorted[i - 1][0] !== from;
      if (last && before[from] === 0) row[from] = after[from];
    }
    return row;
  }

  // Places: the nodes, and lanes for what passes a row. `up` and `down` name neighbours in the rows above and below.
  function placesOf(count, edges, row) {
    const places = Array.from({ length: count }, (_, node) => ({ node, row: row[node], up: [], down: [] }));
    const lanes = new Map(), paths = [];
    const link = (a, b) => { if (!a.down.includes(b)) { a.down.push(b); b.up.push(a); } };
    const lane = (from, at) => {
      const key = from * 65536 + at;
      if (!lanes.has(key)) {
        const place = { node: -1, row: at, up: [], down: [] };
        lanes.set(key, place);
        places.push(place);
        link(at === row[from] + 1 ? places[from] : lane(from, at - 1), place);
      }
      return lanes.get(key);
    };
    for (const [from, to] of edges) {
      const path = [places[from]];
      for (let at = row[from] + 1; at < row[to]; at++) path.push(lane(from, at));
      link(path[path.length - 1], places[to]);
      paths.push([...path, places[to]]);
    }
    return { places, paths };
  }

  // ---- order within rows

  // Pairs of links between two rows that cross: inversions, counted in a tree of sums.
  function crossings(upper, width) {
    const tree = new Int32Array(width + 1);
    let total = 0, seen = 0;
    for (const place of upper) {
      const ends = place.down.map((b) => b.order);
      for (const end of ends) {
        let before = 0;
        for (let i = end + 1; i > 0; i -= i & -i) before += tree[i];
        total += seen - before;
      }
      for (const end of ends) for (let i = end + 1; i <= width; i += i & -i) tree[i]++;
      seen += ends.length;
    }
    return total;
  }

  const allCrossings = (rows) => rows.slice(0, -1).reduce((sum, row, i) => sum + crossings(row, rows[i + 1].length), 0);

  function median(neighbours, otherwise) {
    if (neighbours.length === 0) return otherwise;
    const at = neighbours.map((b) => b.order).sort((a, b) => a - b), middle = at.length >> 1;
    return at.length % 2 ? at[middle] : (at[middle - 1] + at[middle]) / 2;
  }

  const number = (row) => row.forEach((place, i) => { place.order = i; });

  function orderRow(row, side) {
    row.forEach((place) => { place.wish = median(place[side], place.order); });
    row.sort((a, b) => a.wish - b.wish || a.order - b.order);
    number(row);
  }

  function orderRows(rows) {
    let best = rows.map((row) => [...row]), least = allCrossings(rows);
    for (let sweep = 0; sweep < SWEEPS && least > 0; sweep++) {
      if (sweep % 2 === 0) for (let i = 1; i < rows.length; i++) orderRow(rows[i], 'up');
      else for (let i = rows.length - 2; i >= 0; i--) orderRow(rows[i], 'down');
      const now = allCrossings(rows);
      if (now < least) { least = now; best = rows.map((row) => [...row]); }
    }
    best.forEach(number);
    return best;
  }

  // ---- places in a row

  // Positions nearest to the wishes (in squares, by weight) that keep the least distances.
  function settle(row, distance) {
    const blocks = [];
    let offset = 0;
    row.forEach((place, i) => {
      offset += i === 0 ? 0 : distance(row[i - 1], place);
      place.offset = offset;
      let block = { first: i, weight: place.weight, sum: place.weight * (place.wish - offset) };
      while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].weight >= block.sum / block.weight) {
        const left = blocks.pop();
        block = { first: left.first, weight: left.weight + block.weight, sum: left.sum + block.sum };
      }
      blocks.push(block);
    });
    blocks.forEach((block, b) => {
      const end = b + 1 < blocks.length ? blocks[b + 1].first : row.length;
      for (let i = block.first; i < end; i++) row[i].x = row[i].offset + block.sum / block.weight;
    });
  }

  // Lanes hold on to lanes, so that what passes many rows does it in one line.
  const pull = (a, b) => (a.node < 0 && b.node < 0 ? 16 : a.node < 0 || b.node < 0 ? 2 : 1);

  function wishFor(place, neighbours) {
    let sum = 0, weight = 0;
    for (const other of neighbours) {
      sum += pull(place, other) * other.x;
      weight += pull(place, other);
    }
    place.wish = weight > 0 ? sum / weight : place.x;
    place.weight = Math.max(weight, 0.1);
  }

  function placeRows(rows, distance) {
    for (const row of rows) {
      let x = 0;
      row.forEach((place, i) => { place.x = x += i === 0 ? 0 : distance(row[i - 1], place); });
      row.forEach((place) => { place.x -= x / 2; });
    }
    for (let i = 0; i < PULLS; i++) {
      const sides = i >= ONE_SIDED ? ['up', 'down'] : i % 2 ? ['down'] : ['up'];
      for (const row of i % 2 ? [...rows].reverse() : rows) {
        row.forEach((place) => wishFor(place, sides.flatMap((side) => place[side])));
        settle(row, distance);
      }
    }
    for (const place of rows.flat()) place.x = Math.round(place.x / GRID) * GRID;  // what is nearly straight is straight
  }

  // Of `count` nodes, each before those that read it, and edges [from, to]: { x, y, paths, width, height }, x and y of
  // centres, a path of points for each edge. sizes: width and height of a node, the gaps between nodes and between rows.
  return (count, edges, sizes) => {
    const row = rowsOf(count, edges), { places, paths } = placesOf(count, edges, row);
    let rows = Array.from({ length: Math.max(-1, ...row) + 1 }, () => []);
    for (const place of places) rows[place.row].push(place);
    rows.forEach(number);
    rows = orderRows(rows);
    const half = (place) => (place.node < 0 ? 0 : sizes.width / 2);
    placeRows(rows, (a, b) => half(a) + half(b) + (a.node < 0 && b.node < 0 ? sizes.gap / 2 : sizes.gap));
    const pitch = sizes.height + sizes.between, edgesOf = places.map((p) => [p.x - half(p), p.x + half(p)]);
    const left = Math.min(0, ...edgesOf.map((e) => e[0])), right = Math.max(0, ...edgesOf.map((e) => e[1]));
    const x = (place) => place.x - left, y = (place) => place.row * pitch + sizes.height / 2;
    return {
      x: places.slice(0, count).map(x), y: places.slice(0, count).map(y), rows: row, paths: paths.map((path) => path.map((place) => [x(place), y(place)])),
      width: right - left, height: rows.length * pitch - sizes.between, order: rows.map((list) => list.filter((p) => p.node >= 0).map((p) => p.node)), crossings: allCrossings(rows),
    };
  };
})();

// A layout in columns, as text of a newspaper: so many rows in each, closed up to the left. What leads from one column to the
// next goes below its rows, up between the columns and into the next from above. paths: points [x, y, column].
weft.fold = (at, edges, sizes, columns) => {
  const GUTTER = 64, AROUND = 16, LANE = 5, pitch = sizes.height + sizes.between;
  const rowCount = at.order.length, each = Math.max(1, Math.ceil(rowCount / columns)), columnOf = (row) => Math.floor(row / each);
  const ends = Array.from({ length: Math.max(1, Math.ceil(rowCount / each)) }, () => [Infinity, -Infinity]);
  const reach = (row, low, high) => { const end = ends[columnOf(row)]; end[0] = Math.min(end[0], low); end[1] = Math.max(end[1], high); };
  at.x.forEach((x, i) => reach(at.rows[i], x - sizes.width / 2, x + sizes.width / 2));
  at.paths.forEach((path, e) => path.slice(1, -1).forEach(([x], i) => reach(at.rows[edges[e][0]] + 1 + i, x, x)));
  const starts = [];
  let width = 0;
  for (const [low, high] of ends) { starts.push(width); width += Math.max(0, high - low) + GUTTER; }
  const over = columns > 1 ? AROUND * 2 : 0, moved = (row, x, y) => { const c = columnOf(row); return [x - ends[c][0] + starts[c], y - c * each * pitch + over, c]; };
  const nodes = at.x.map((x, i) => moved(at.rows[i], x, at.y[i])), used = new Array(ends.length).fill(0);
  const around = (from, to) => {  // corners between two columns
    const k = used[to[2]]++ % 6, gutter = starts[to[2]] - GUTTER / 2 + (k - 2.5) * LANE, low = from[1] + sizes.height / 2 + AROUND + k * 2, high = to[1] - sizes.height / 2 - AROUND - k * 2;
    return [[from[0], low], [gutter, low], [gutter, high], [to[0], high]];
  };
  const paths = at.paths.map((path, e) => path.map(([x, y], i) => moved(at.rows[edges[e][0]] + i, x, y)));
  const breaks = paths.map((path) => path.map((point, i) => (i > 0 && point[2] !== path[i - 1][2] ? around(path[i - 1], point) : null)));
  return { x: nodes.map((n) => n[0]), y: nodes.map((n) => n[1]), paths, breaks, width: Math.max(0, width - GUTTER), height: Math.min(rowCount, each) * pitch - sizes.between + 2 * over };
};
