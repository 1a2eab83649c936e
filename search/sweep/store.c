// SPDX-License-Identifier: Apache-2.0
// The store of a sweep on SQLite: see store.h. Statements are prepared once; the first one that fails is kept and
// reported at the next commit, so callers need not look after each.
#include "search/sweep/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/number.h"
#include "hw/tech.h"
#include "search/sweep/schema.h"

enum { HASH_TEXT = 17, BUSY_MILLISECONDS = 10000 };

enum {
  HAS_POINT,
  ADD_POINT,
  ADD_ARRAY,
  HAS_MEASUREMENT,
  ADD_MEASUREMENT,
  ADD_STEP,
  COUNT_STATUS,
  ADD_ENGINE,
  STATEMENTS
};
static const char *const statement_text[STATEMENTS] = {
    [HAS_POINT] = "SELECT 1 FROM point WHERE id = ?",
    [ADD_POINT] = "INSERT INTO point VALUES (?, ?, ?, ?, ?)",
    [ADD_ARRAY] = "INSERT OR IGNORE INTO array VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [HAS_MEASUREMENT] = "SELECT 1 FROM measurement WHERE array = ? AND layer = ? AND policy = ? AND engine = ?",
    [ADD_MEASUREMENT] = "INSERT INTO measurement VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [ADD_ENGINE] = "INSERT OR IGNORE INTO engine VALUES (?)",
    [ADD_STEP] = "INSERT INTO step VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [COUNT_STATUS] = "SELECT count(*) FROM measurement WHERE status = ?",
};

struct sweep_store {
  sqlite3 *db;
  const char *path, *lock_path;
  int lock;  // the descriptor; -1: none
  sqlite3_stmt *statement[STATEMENTS];
  char failure[256];  // the first; empty: none
};

static void note_failure(sweep_store *s) {
  if (s->failure[0] == '\0') snprintf(s->failure, sizeof s->failure, "%s", sqlite3_errmsg(s->db));
}

bool sweep_store_good(const sweep_store *s) { return s->failure[0] == '\0'; }

static bool execute(sweep_store *s, const char *sql) {
  if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK) return true;
  note_failure(s);
  return false;
}

static void hash_text(uint64_t hash, char text[HASH_TEXT]) { snprintf(text, HASH_TEXT, "%016" PRIx64, hash); }

// ---- binding: a letter per value. t: text, i: int64_t, d: double

static void bind(sweep_store *s, sqlite3_stmt *statement, const char *kinds, ...) {
  va_list list;
  va_start(list, kinds);
  sqlite3_reset(statement);
  for (int i = 1; kinds[i - 1] != '\0'; i++) {
    int code = SQLITE_OK;
    if (kinds[i - 1] == 't') {
      code = sqlite3_bind_text(statement, i, va_arg(list, const char *), -1, SQLITE_TRANSIENT);
    } else if (kinds[i - 1] == 'i') {
      code = sqlite3_bind_int64(statement, i, va_arg(list, int64_t));
    } else {
      code = sqlite3_bind_double(statement, i, va_arg(list, double));
    }
    if (code != SQLITE_OK) note_failure(s);
  }
  va_end(list);
}

// Runs a bound statement: whether there is a row. Reset it when the row was read.
static bool step(sweep_store *s, sqlite3_stmt *statement) {
  const int code = sqlite3_step(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) note_failure(s);
  return code == SQLITE_ROW;
}

static void run(sweep_store *s, sqlite3_stmt *statement) {
  step(s, statement);
  sqlite3_reset(statement);
}

static bool has_row(sweep_store *s, sqlite3_stmt *statement) {
  const bool row = step(s, statement);
  sqlite3_reset(statement);
  return row;
}

// ---- what a sweep is

static bool set(sweep_store *s, const char *key, const char *value) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(s->db, "INSERT INTO sweep VALUES (?, ?)", -1, &statement, NULL) != SQLITE_OK) {
    note_failure(s);
    return false;
  }
  bind(s, statement, "tt", key, value);
  run(s, statement);
  sqlite3_finalize(statement);
  return sweep_store_good(s);
}

// The value of a key, to be freed; NULL: it has none.
static char *get(sweep_store *s, const char *key) {
  sqlite3_stmt *statement;
  char *value = NULL;
  if (sqlite3_prepare_v2(s->db, "SELECT value FROM sweep WHERE key = ?", -1, &statement, NULL) != SQLITE_OK)
    return NULL;
  bind(s, statement, "t", key);
  const char *text = step(s, statement) ? (const char *)sqlite3_column_text(statement, 0) : NULL;
  if (text != NULL) value = wf_strdup(text);
  sqlite3_finalize(statement);
  return value;
}

static uint64_t tech_hash(uint64_t hash, const hw_tech *tech) {
  const size_t numbers = offsetof(hw_tech, energy_pj);
  if (tech == NULL) return hash;
  hash = wf_hash(hash, tech->name, strlen(tech->name));
  return wf_hash(hash, (const char *)tech + numbers, sizeof *tech - numbers);
}

// What the points depend on and the text does not hold: the base array, and arrays, technology and layers from files.
static uint64_t content_hash(const sweep_spec *spec) {
  uint64_t hash = WF_HASH_START;
  const uint64_t base = hw_array_hash(&spec->base);
  hash = wf_hash(hash, spec->text, strlen(spec->text));
  hash = wf_hash(hash, &base, sizeof base);
  for (size_t i = 0; i < spec->array_count; i++) {
    const uint64_t array = hw_array_hash(&spec->arrays[i]);
    hash = wf_hash(hash, &array, sizeof array);
  }
  for (size_t n = 0; n < spec->network_count; n++) {
    for (size_t i = 0; i < spec->networks[n].count; i++) {
      const map_layer layer = layers_to_map(&spec->networks[n].layers[i]);
      const uint64_t parts[2] = {map_layer_hash(&layer), (uint64_t)spec->networks[n].layers[i].count};
      hash = wf_hash(hash, parts, sizeof parts);
    }
  }
  hash = tech_hash(hash, spec->tech);
  for (size_t n = 0; n < spec->program_count; n++) {
    const uint64_t program = sweep_program_hash(spec, &spec->programs[n]);
    hash = wf_hash(hash, &program, sizeof program);
  }
  return hash;
}

static void write_dims(const layers_layer *layer, char *text, size_t size) {
  size_t length = (size_t)snprintf(text, size, "{");
  for (int d = 0; d < BLOCK_DIMS && length < size; d++)
    length += (size_t)snprintf(text + length, size - length, "\"%s\":%" PRId64 ",", block_dim_names[d],
                               layers_whole_size(layer, (block_dim_id)d));
  if (length < size)
    snprintf(text + length, size - length,
             "\"stride\":[%" PRId64 ",%" PRId64 "],\"dilation\":[%" PRId64 ",%" PRId64 "],\"groups\":%" PRId64 "}",
             layer->stride[0], layer->stride[1], layer->dilation[0], layer->dilation[1], layers_groups(layer));
}

static void add_layer(sweep_store *s, sqlite3_stmt *statement, const layers_network *network, size_t position) {
  const layers_layer *layer = &network->layers[position];
  const map_layer mapped = layers_to_map(layer);
  char hash[HASH_TEXT], dims[512];
  hash_text(map_layer_hash(&mapped), hash);
  write_dims(layer, dims, sizeof dims);
  bind(s, statement, "tittiit", network->name, (int64_t)position, layer->name, hash, layer->count,
       wf_whole(layers_macs(layer)), dims);
  run(s, statement);
}

static void add_network(sweep_store *s, const layers_network *network) {
  sqlite3_stmt *add_one, *add_layers;
  double macs = 0;
  for (size_t i = 0; i < network->count; i++)
    macs += (double)network->layers[i].count * layers_macs(&network->layers[i]);
  if (sqlite3_prepare_v2(s->db, "INSERT INTO network VALUES (?, ?, ?)", -1, &add_one, NULL) != SQLITE_OK ||
      sqlite3_prepare_v2(s->db, "INSERT INTO layer VALUES (?, ?, ?, ?, ?, ?, ?)", -1, &add_layers, NULL) != SQLITE_OK) {
    note_failure(s);
    return;
  }
  bind(s, add_one, "tti", network->name, network->description == NULL ? "" : network->description, wf_whole(macs));
  run(s, add_one);
  for (size_t i = 0; i < network->count; i++) add_layer(s, add_layers, network, i);
  sqlite3_finalize(add_one);
  sqlite3_finalize(add_layers);
}

// A program stands as one layer; its steps depend on the array.
static void add_program(sweep_store *s, const sweep_spec *spec, const layers_program *program) {
  static const char network[] = "INSERT INTO network VALUES (?, ?, ?)",
                    layer[] = "INSERT INTO layer VALUES (?, 0, ?, ?, 1, ?, '{}')";
  sqlite3_stmt *statement;
  char hash[HASH_TEXT];
  hash_text(sweep_program_hash(spec, program), hash);
  if (sqlite3_prepare_v2(s->db, network, -1, &statement, NULL) != SQLITE_OK) {
    note_failure(s);
    return;
  }
  bind(s, statement, "tti", program->name, program->description, program->macs);
  run(s, statement);
  sqlite3_finalize(statement);
  if (sqlite3_prepare_v2(s->db, layer, -1, &statement, NULL) != SQLITE_OK) {
    note_failure(s);
    return;
  }
  bind(s, statement, "ttti", program->name, program->name, hash, program->macs);
  run(s, statement);
  sqlite3_finalize(statement);
}

// What the text says, and what it names.
static bool add_spec(sweep_store *s, const sweep_spec *spec) {
  char content[HASH_TEXT];
  hash_text(content_hash(spec), content);
  set(s, "name", spec->name);
  set(s, "spec", spec->text);
  set(s, "content", content);
  for (size_t n = 0; n < spec->network_count; n++) add_network(s, &spec->networks[n]);
  for (size_t n = 0; n < spec->program_count; n++) add_program(s, spec, &spec->programs[n]);
  return sweep_store_good(s);
}

static bool create(sweep_store *s, const sweep_spec *spec, const char *version) {
  char tech[HASH_TEXT], number[16];
  hash_text(tech_hash(WF_HASH_START, spec->tech), tech);
  snprintf(number, sizeof number, "%d", SWEEP_SCHEMA_VERSION);
  sweep_store_begin(s);
  if (!execute(s, sweep_schema)) return false;
  set(s, "schema", number);
  set(s, "version", version);
  set(s, "policy", sweep_policy(spec).text);
  set(s, "technology", tech);
  return add_spec(s, spec) && execute(s, "COMMIT");
}

// Measurements belong to array, layer, policy and engine, so those of the text of before serve this one, too. Its
// points and networks do not; what a time limit or a crash ended may end otherwise now.
static bool replace(sweep_store *s, const sweep_spec *spec) {
  sweep_store_begin(s);
  return execute(s,
                 "DELETE FROM point; DELETE FROM network; DELETE FROM layer;"
                 "DELETE FROM sweep WHERE key IN ('name', 'spec', 'content');"
                 "DELETE FROM measurement WHERE status IN ('timeout', 'crashed')") &&
         add_spec(s, spec) && execute(s, "COMMIT");
}

// Whether the key's value is this one; `what` is its name for people.
static bool is_same(sweep_store *s, const char *key, const char *value, const char *what, wf_diag *diag) {
  char *its = get(s, key);
  const bool same = its != NULL && strcmp(its, value) == 0;
  if (its == NULL)
    wf_error(diag, wf_in_file(s->path), "does not say its %s, so it cannot be extended", what);
  else if (!same)
    wf_error(diag, wf_in_file(s->path), "has measurements with another %s: it cannot be extended", what);
  if (!same) wf_hint(diag, "name another file with -o");
  wf_free(its);
  return same;
}

static bool extend(sweep_store *s, const sweep_spec *spec, wf_diag *diag) {
  char tech[HASH_TEXT];
  hash_text(tech_hash(WF_HASH_START, spec->tech), tech);
  return is_same(s, "policy", sweep_policy(spec).text, "choice of mappings", diag) &&
         is_same(s, "technology", tech, "technology", diag) && replace(s, spec);
}

static bool check_schema(sweep_store *s, wf_diag *diag) {
  char *schema = get(s, "schema"), *end;
  const int64_t number = schema == NULL ? -1 : strtoll(schema, &end, 10);
  const bool good = sweep_store_schema_good(s->path, schema != NULL && *end == '\0' ? number : -1, diag);
  wf_free(schema);
  return good;
}

// Whether an existing store may be gone on with, if need be after it was extended.
static bool check(sweep_store *s, const sweep_spec *spec, const char *version, unsigned flags, wf_diag *diag) {
  char content[HASH_TEXT];
  hash_text(content_hash(spec), content);
  char *its_content = get(s, "content"), *its_version = get(s, "version");
  const bool changed = its_content != NULL && strcmp(its_content, content) != 0;
  bool good = false;
  if (its_content == NULL || its_version == NULL) {
    wf_error(diag, wf_in_file(s->path), "is not the store of a sweep");
  } else if (changed && (flags & SWEEP_STORE_EXTEND) == 0) {
    wf_error(diag, wf_in_file(s->path), "is the store of another sweep");
    wf_hint(diag, "--extend makes it the store of this one and keeps its measurements; or name another file with -o");
  } else if (strcmp(its_version, version) != 0 && (flags & SWEEP_STORE_ANY_VERSION) == 0) {
    wf_error(diag, wf_in_file(s->path), "was begun by version %s, this is %s", its_version, version);
    wf_hint(diag, "--any-version goes on all the same; each measurement says who made it");
  } else {
    good = check_schema(s, diag) && (!changed || extend(s, spec, diag));
  }
  wf_free(its_content);
  wf_free(its_version);
  return good;
}

static bool is_empty(sweep_store *s) {
  sqlite3_stmt *statement;
  bool empty = false;
  if (sqlite3_prepare_v2(s->db, "SELECT count(*) FROM sqlite_master", -1, &statement, NULL) != SQLITE_OK) {
    note_failure(s);
    return false;
  }
  if (step(s, statement)) empty = sqlite3_column_int(statement, 0) == 0;
  sqlite3_finalize(statement);
  return empty;
}

static bool prepare(sweep_store *s) {
  for (int i = 0; i < STATEMENTS; i++) {
    if (sqlite3_prepare_v2(s->db, statement_text[i], -1, &s->statement[i], NULL) == SQLITE_OK) continue;
    note_failure(s);
    return false;
  }
  return true;
}

// ---- the lock

// Takes the lock of a descriptor. A lock of fcntl is the process's own: workers that outlive a killed sweep hold none.
static bool lock_descriptor(int descriptor) {
  const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_SETLK, &whole) == 0;
}

// One process writes a store. Its lock is a file beside the store, since SQLite's own locks would keep readers out. The
// holder removes the file before it lets go, so that a lock on a file that is gone is worth nothing.
static bool take_lock(sweep_store *s, wf_diag *diag) {
  for (;;) {
    struct stat about;
    s->lock = open(s->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->lock < 0) {
      wf_error(diag, wf_in_file(s->lock_path), "cannot be made: %s", strerror(errno));
      return false;
    }
    if (!lock_descriptor(s->lock)) {
      wf_error(diag, wf_in_file(s->path), "is locked");
      wf_hint(diag, "another process sweeps into this file");
      return false;
    }
    if (fstat(s->lock, &about) == 0 && about.st_nlink > 0) return true;
    close(s->lock);
  }
}

static void drop_lock(sweep_store *s, bool holds) {
  if (s->lock < 0) return;
  if (holds) unlink(s->lock_path);
  close(s->lock);
  s->lock = -1;
}

// ---- opening and closing

// Readers work beside the writer; where a file system has no shared memory for that, they wait for it.
static bool open_file(sweep_store *s, const sweep_spec *spec, const char *version, unsigned flags, wf_diag *diag) {
  if (sqlite3_open(s->path, &s->db) != SQLITE_OK) {
    note_failure(s);
    return false;
  }
  sqlite3_busy_timeout(s->db, BUSY_MILLISECONDS);
  if (!execute(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")) return false;
  const bool empty = is_empty(s);
  if (!sweep_store_good(s)) return false;
  return (empty ? create(s, spec, version) : check(s, spec, version, flags, diag)) && prepare(s);
}

sweep_store *sweep_store_open(const char *path, const sweep_spec *spec, const char *version, unsigned flags,
                              wf_diag *diag) {
  sweep_store *s = WF_NEW(sweep_store);
  s->path = wf_strdup(path);
  s->lock_path = wf_format("%s-lock", path);
  const unsigned before = diag->errors;
  const bool alone = take_lock(s, diag);
  if (alone && open_file(s, spec, version, flags, diag)) return s;
  if (diag->errors == before) wf_error(diag, wf_in_file(path), "%s", s->failure);
  if (!alone) drop_lock(s, false);
  sweep_store_close(s);
  return NULL;
}

// A store at rest is one file without a log, which also a folder that cannot be written serves.
void sweep_store_close(sweep_store *s) {
  for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(s->statement[i]);
  if (s->db != NULL) {
    sqlite3_busy_timeout(s->db, 0);
    sqlite3_exec(s->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  }
  sqlite3_close(s->db);
  drop_lock(s, true);
  wf_free((char *)s->path);
  wf_free((char *)s->lock_path);
  wf_free(s);
}

void sweep_store_begin(sweep_store *s) { execute(s, "BEGIN IMMEDIATE"); }

bool sweep_store_commit(sweep_store *s, wf_diag *diag) {
  if (sweep_store_good(s) && execute(s, "COMMIT")) return true;
  wf_error(diag, wf_in_file(s->path), "cannot be written: %s", s->failure);
  return false;
}

// ---- rows

static char *yaml_of(const hw_array *array) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  hw_array_print(array, out);
  fclose(out);
  return text;
}

// A technology with areas: the array's own, else the one that has been measured, so that arrays can be compared.
static void area_technology(hw_tech *tech, const hw_array *array) {
  hw_tech_of(tech, array);
  if (!tech->has.area_um2) hw_tech_named(tech, "180nm");
}

static void add_array(sweep_store *s, const hw_array *array, const char *hash) {
  sqlite3_stmt *statement = s->statement[ADD_ARRAY];
  hw_tech tech, own;
  area_technology(&tech, array);
  hw_tech_of(&own, array);
  const hw_area area = hw_tech_area_of(&tech, array);
  hw_system_area system = {.whole = false};
  if (own.has.system_um2) system = hw_tech_system_area(&own, array);
  char *yaml = yaml_of(array);
  bind(s, statement, "ttiiidittdi", hash, yaml, (int64_t)hw_derive(array).dim, (int64_t)array->scratchpad.capacity_kib,
       (int64_t)array->accumulator.capacity_kib, area.total, (int64_t)area.memory_bits, tech.name, own.name,
       system.known, (int64_t)system.whole);
  enum { AREA = 10 };
  if (!own.has.system_um2) sqlite3_bind_null(statement, AREA);
  run(s, statement);
  free(yaml);
}

void sweep_store_point(sweep_store *s, size_t index, const hw_array *array, const char *parameters,
                       const char *reason) {
  char hash[HASH_TEXT];
  const bool possible = reason[0] == '\0';
  hash_text(hw_array_hash(array), hash);
  if (possible) add_array(s, array, hash);
  bind(s, s->statement[ADD_POINT], "itttt", (int64_t)index, hash, parameters,
       sweep_work_status_names[possible ? WORK_GOOD : WORK_IMPOSSIBLE], reason);
  run(s, s->statement[ADD_POINT]);
}

bool sweep_store_has_point(sweep_store *s, size_t index) {
  bind(s, s->statement[HAS_POINT], "i", (int64_t)index);
  return has_row(s, s->statement[HAS_POINT]);
}

void sweep_store_fidelity(sweep_store *s, run_fidelity fidelity) {
  bind(s, s->statement[ADD_ENGINE], "t", run_fidelity_names[fidelity]);
  run(s, s->statement[ADD_ENGINE]);
}

bool sweep_store_has(sweep_store *s, const sweep_store_key *key) {
  char array[HASH_TEXT], layer[HASH_TEXT];
  hash_text(key->array, array);
  hash_text(key->layer, layer);
  bind(s, s->statement[HAS_MEASUREMENT], "tttt", array, layer, key->policy, run_fidelity_names[key->fidelity]);
  return has_row(s, s->statement[HAS_MEASUREMENT]);
}

// {"mesh": 12.5, "hart": 3, ...}: parts without energy are left out.
enum { ENERGY_TEXT = SIM_PARTS * 48 };
static void energy_text(const sweep_work_result *r, char text[ENERGY_TEXT]) {
  size_t length = 1;
  text[0] = '{';
  for (unsigned part = 0; part < SIM_PARTS; part++)
    if (r->part_pj[part] > 0)
      length += (size_t)snprintf(text + length, ENERGY_TEXT - length, "%s\"%s\":%.9g", length == 1 ? "" : ",",
                                 sim_part_names[part], r->part_pj[part]);
  memcpy(text + length, "}", 2);
}

static void bind_nulls(sqlite3_stmt *statement, int first, int second, int third) {
  sqlite3_bind_null(statement, first);
  sqlite3_bind_null(statement, second);
  sqlite3_bind_null(statement, third);
}

static void add_step(sweep_store *s, const sweep_store_key *key, size_t position, const sweep_work_step *step) {
  char array[HASH_TEXT], layer[HASH_TEXT], shape[HASH_TEXT];
  hash_text(key->array, array);
  hash_text(key->layer, layer);
  hash_text(step->shape, shape);
  const sweep_work_result *r = &step->figures;
  char energy[ENERGY_TEXT];
  energy_text(r, energy);
  sqlite3_stmt *statement = s->statement[ADD_STEP];
  bind(s, statement, "ttttittttiiidiiidtttdt", array, layer, key->policy, run_fidelity_names[key->fidelity],
       (int64_t)position, step->name,
       !step->on_host ? "array"
       : step->edge   ? "end"
                      : "host",
       step->kernel, shape, step->count, (int64_t)r->cycles, (int64_t)r->macs, r->utilisation, (int64_t)r->commands,
       (int64_t)r->read_bytes, (int64_t)r->written_bytes, r->energy_pj, r->bound, r->mapping, r->units, r->array_pj,
       energy);
  enum { ENERGY = 17, ARRAY_ENERGY = 21, PARTS = 22 };
  if (!r->has_energy) bind_nulls(statement, ENERGY, ARRAY_ENERGY, PARTS);
  run(s, statement);
}

void sweep_store_add(sweep_store *s, const sweep_store_key *key, const char *version, const sweep_work_result *r) {
  char array[HASH_TEXT], layer[HASH_TEXT], digest[HASH_TEXT];
  hash_text(key->array, array);
  hash_text(key->layer, layer);
  hash_text(r->program_digest, digest);
  sqlite3_stmt *statement = s->statement[ADD_MEASUREMENT];
  const bool good = r->status == WORK_GOOD;
  char energy[ENERGY_TEXT];
  energy_text(r, energy);
  bind(s, statement, "tttttiiddiiittttttdddtdt", array, layer, key->policy, sweep_work_status_names[r->status],
       r->reason, (int64_t)r->cycles, (int64_t)r->macs, r->utilisation, r->energy_pj, (int64_t)r->commands,
       (int64_t)r->read_bytes, (int64_t)r->written_bytes, r->bound, r->mapping, r->units, digest,
       run_fidelity_names[key->fidelity], version, r->compile_seconds, r->simulate_seconds, r->wall_seconds, r->host,
       r->array_pj, energy);
  enum { FIRST_FIGURE = 6, LAST_FIGURE = 16, ENERGY = 9, ARRAY_ENERGY = 23, PARTS = 24 };
  for (int i = FIRST_FIGURE; i <= LAST_FIGURE && !good; i++) sqlite3_bind_null(statement, i);
  if (!r->has_energy || !good) bind_nulls(statement, ENERGY, ARRAY_ENERGY, PARTS);
  run(s, statement);
  sweep_store_fidelity(s, key->fidelity);
  for (size_t i = 0; i < r->step_count; i++) add_step(s, key, i, &r->steps[i]);
}

uint64_t sweep_store_count(sweep_store *s, sweep_work_status status) {
  sqlite3_stmt *statement = s->statement[COUNT_STATUS];
  bind(s, statement, "t", sweep_work_status_names[status]);
  const uint64_t count = step(s, statement) ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
  sqlite3_reset(statement);
  return count;
}
