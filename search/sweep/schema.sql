-- The tables of a sweep's store. Hashes are 16 hex digits. Times are seconds; energy is pJ.
CREATE TABLE sweep (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE array (
  hash TEXT PRIMARY KEY,
  yaml TEXT NOT NULL,         -- the whole description, as `weft array show` prints it
  dim INTEGER NOT NULL,
  scratchpad_kib INTEGER NOT NULL,
  accumulator_kib INTEGER NOT NULL,
  logic_um2 REAL NOT NULL,    -- area of the logic in area_technology
  memory_bits INTEGER NOT NULL,
  area_technology TEXT NOT NULL,
  technology TEXT NOT NULL,   -- of the energies, and of the next
  area_um2 REAL,              -- of mesh, local memories, hart and L2, as far as the technology knows them
  area_whole INTEGER NOT NULL -- 1: it knows all parts
) WITHOUT ROWID;

CREATE TABLE point (
  id INTEGER PRIMARY KEY,     -- 0, 1, ... in the order of the sweep
  array TEXT NOT NULL,        -- hash; in `array` unless the array is impossible
  parameters TEXT NOT NULL,   -- JSON: what the sweep varies
  status TEXT NOT NULL,       -- good, or: impossible array
  reason TEXT NOT NULL
);

CREATE TABLE network (name TEXT PRIMARY KEY, description TEXT NOT NULL, macs INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE layer (
  network TEXT NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,         -- of its dimensions: layers that are alike are measured once
  count INTEGER NOT NULL,     -- how often the network has it
  macs INTEGER NOT NULL,      -- of one
  dims TEXT NOT NULL,         -- JSON
  PRIMARY KEY (network, position)
) WITHOUT ROWID;

-- The engines of its measurements: a row of one never replaces one of another.
CREATE TABLE engine (name TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE measurement (
  array TEXT NOT NULL,
  layer TEXT NOT NULL,        -- hash
  policy TEXT NOT NULL,       -- default, tune N, or search N and the objective
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  cycles INTEGER, macs INTEGER, utilisation REAL, energy_pj REAL,
  commands INTEGER, read_bytes INTEGER, written_bytes INTEGER,
  bound TEXT, mapping TEXT, units TEXT, program_digest TEXT,
  engine TEXT NOT NULL, version TEXT NOT NULL,
  compile_seconds REAL, simulate_seconds REAL, wall_seconds REAL, host TEXT,
  array_energy_pj REAL,       -- as models of arrays count: every byte of the port is one of main memory
  energy TEXT,                -- JSON: the parts of energy_pj
  PRIMARY KEY (array, layer, policy, engine)
) WITHOUT ROWID;

-- What a program consists of on an array: equal steps are one row, whose figures are sums over all of them.
CREATE TABLE step (
  array TEXT NOT NULL,
  layer TEXT NOT NULL,        -- hash of the program
  policy TEXT NOT NULL,
  engine TEXT NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,         -- of the first
  place TEXT NOT NULL,        -- array, host, or end: the hart, for int8 in and out of the network
  kernel TEXT NOT NULL,       -- with its arguments; or the operators of the hart
  shape TEXT NOT NULL,        -- hash of the kernel and its arguments without scales
  count INTEGER NOT NULL,
  cycles INTEGER NOT NULL, macs INTEGER NOT NULL, utilisation REAL NOT NULL,
  commands INTEGER NOT NULL, read_bytes INTEGER NOT NULL, written_bytes INTEGER NOT NULL,
  energy_pj REAL, bound TEXT NOT NULL, mapping TEXT NOT NULL, units TEXT NOT NULL,
  array_energy_pj REAL, energy TEXT,
  PRIMARY KEY (array, layer, policy, engine, position)
) WITHOUT ROWID;

CREATE VIEW point_step AS
  SELECT p.id AS point, l.network, s.position, s.name, s.place, s.kernel, s.shape, s.count, s.array, s.policy, s.engine,
         s.cycles, s.macs, s.utilisation, s.commands, s.read_bytes, s.written_bytes, s.energy_pj, s.bound,
         s.mapping, s.units, s.array_energy_pj, s.energy
  FROM point p CROSS JOIN layer l JOIN step s ON s.array = p.array AND s.layer = l.hash;

CREATE VIEW point_layer AS
  SELECT p.id AS point, l.network, l.position, l.name, l.count, p.array, m.policy, e.name AS engine,
         CASE WHEN p.status <> 'good' THEN p.status ELSE coalesce(m.status, 'missing') END AS status,
         CASE WHEN p.status <> 'good' THEN p.reason ELSE coalesce(m.reason, '') END AS reason,
         m.cycles, l.macs, m.utilisation, m.energy_pj, m.commands, m.read_bytes, m.written_bytes,
         m.bound, m.mapping, m.units, m.program_digest, m.version, m.wall_seconds,
         m.array_energy_pj, m.energy
  FROM point p CROSS JOIN layer l CROSS JOIN engine e
       LEFT JOIN measurement m ON m.array = p.array AND m.layer = l.hash AND m.engine = e.name;

-- A network's layers one after the other, each as often as it occurs. Sums are NULL unless every layer is good.
CREATE VIEW point_network AS
  SELECT point, network, array, policy, engine,
         CASE WHEN sum(status <> 'good') = 0 THEN 'good'
              ELSE min(CASE WHEN status <> 'good' THEN status END) END AS status,
         coalesce(min(CASE WHEN status <> 'good' THEN name || ': ' || reason END), '') AS reason,
         CASE WHEN sum(status <> 'good') = 0 THEN sum(count * cycles) END AS cycles,
         sum(count * macs) AS macs,
         CASE WHEN sum(status <> 'good') = 0 THEN sum(count * energy_pj) END AS energy_pj,
         CASE WHEN sum(status <> 'good') = 0 THEN sum(count * energy_pj) * 1e-6 * sum(count * cycles) END AS edp,
         sum(count * read_bytes) AS read_bytes, sum(count * written_bytes) AS written_bytes,
         sum(wall_seconds) AS wall_seconds,
         CASE WHEN sum(status <> 'good') = 0 THEN sum(count * array_energy_pj) END AS array_energy_pj
  FROM point_layer GROUP BY point, network, engine;
