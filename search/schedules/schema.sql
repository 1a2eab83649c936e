-- The table of a schedule store. Hashes are 16 hex digits. Energy is pJ.
CREATE TABLE schedules (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE schedule (
  layer TEXT NOT NULL,        -- hash of what follows, up to `form`
  kind TEXT NOT NULL,         -- gemm, conv, ..
  n INTEGER NOT NULL, p INTEGER NOT NULL, q INTEGER NOT NULL, k INTEGER NOT NULL,
  c INTEGER NOT NULL, r INTEGER NOT NULL, s INTEGER NOT NULL,
  form TEXT NOT NULL,         -- strides, padding, and what happens to results
  array TEXT NOT NULL,        -- hash
  array_name TEXT NOT NULL,
  dim INTEGER NOT NULL, scratchpad_kib INTEGER NOT NULL, accumulator_kib INTEGER NOT NULL,
  engine TEXT NOT NULL,       -- that judged it
  objective TEXT NOT NULL,    -- cycles, energy, edp
  cycles INTEGER NOT NULL,    -- with the mapping, of all such layers of a network
  before INTEGER NOT NULL,    -- with the mapper's first; 0: not known
  energy_pj REAL,
  mapping TEXT NOT NULL,
  origin TEXT NOT NULL,       -- the network or kernel that it was tuned in
  version TEXT NOT NULL,
  PRIMARY KEY (layer, array, engine, objective)
) WITHOUT ROWID;
