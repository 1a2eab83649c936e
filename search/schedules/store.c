// SPDX-License-Identifier: Apache-2.0
// Schedule stores on SQLite: see schedules.h. A row of a file is checked as if a stranger had written it: sizes are in
// range, names are known, the mapping is a text that map_parse takes. Whether it is legal on an array is asked when it
// is used.
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "search/schedules/schedules.h"
#include "search/schedules/schema.h"

enum { HASH_TEXT = 17, BUSY_MILLISECONDS = 10000, SIZE_MOST = 1 << 24, FORM_TEXT = 256 };

struct schedules {
  wf_arena *arena;
  schedules_row *rows, *removed;
  bool *fresh;  // per row: it is not in the file
  size_t count, room, fresh_count, fresh_room, removed_count, removed_room;
};

schedules *schedules_create(void) {
  schedules *s = WF_NEW(schedules);
  s->arena = wf_arena_create();
  return s;
}

void schedules_destroy(schedules *s) {
  if (s == NULL) return;
  wf_arena_destroy(s->arena);
  wf_free(s);
}

size_t schedules_count(const schedules *s) { return s->count; }
const schedules_row *schedules_at(const schedules *s, size_t index) { return &s->rows[index]; }

// ---- rows in memory

static bool is_same(const schedules_row *a, const schedules_row *b) {
  return a->array == b->array && map_layer_hash(&a->layer) == map_layer_hash(&b->layer) &&
         strcmp(a->engine, b->engine) == 0 && strcmp(a->objective, b->objective) == 0;
}

static void put(schedules *s, const schedules_row *row, bool fresh) {
  size_t at = 0;
  while (at < s->count && !is_same(&s->rows[at], row)) at++;
  if (at == s->count) {
    WF_ARENA_PUSH(s->arena, s->rows, s->count, &s->room);
    WF_ARENA_PUSH(s->arena, s->fresh, s->fresh_count, &s->fresh_room);
  }
  s->rows[at] = *row;
  s->fresh[at] = fresh;
}

void schedules_add(schedules *s, const schedules_row *row) { put(s, row, true); }

void schedules_set_array(schedules_row *row, const hw_array *array) {
  row->array = hw_array_hash(array);
  snprintf(row->array_name, sizeof row->array_name, "%s", array->name);
  row->dim = hw_derive(array).dim;
  row->scratchpad_kib = array->scratchpad.capacity_kib;
  row->accumulator_kib = array->accumulator.capacity_kib;
}

size_t schedules_remove(schedules *s, bool (*is_in)(void *context, const schedules_row *row), void *context) {
  size_t kept = 0;
  for (size_t i = 0; i < s->count; i++) {
    if (is_in(context, &s->rows[i])) {
      *WF_ARENA_PUSH(s->arena, s->removed, s->removed_count, &s->removed_room) = s->rows[i];
      continue;
    }
    s->rows[kept] = s->rows[i];
    s->fresh[kept++] = s->fresh[i];
  }
  const size_t gone = s->count - kept;
  s->count = s->fresh_count = kept;
  return gone;
}

// ---- text of a layer

static void write_form(const map_layer *l, char text[FORM_TEXT]) {
  snprintf(text, FORM_TEXT,
           "stride %" PRId64 " %" PRId64 " dilation %" PRId64 " %" PRId64 " padding %" PRId64 " %" PRId64 " %" PRId64
           " %" PRId64 " groups %" PRId64 " result %" PRIu32 " bias %d residual %" PRId64 " pool %" PRIu32 " %" PRIu32
           " %" PRIu32,
           l->stride[0], l->stride[1], l->dilation[0], l->dilation[1], l->padding[0], l->padding[1], l->padding[2],
           l->padding[3], l->groups, l->result_bytes, l->bias, l->residual, l->pool_size, l->pool_stride,
           l->pool_padding);
}

static bool is_between(const int64_t *numbers, size_t count, int64_t least, int64_t most) {
  for (size_t i = 0; i < count; i++)
    if (numbers[i] < least || numbers[i] > most) return false;
  return true;
}

static bool read_form(const char *text, map_layer *l) {
  int bias, end = 0;
  const int read = sscanf(text,
                          "stride %" SCNd64 " %" SCNd64 " dilation %" SCNd64 " %" SCNd64 " padding %" SCNd64 " %" SCNd64
                          " %" SCNd64 " %" SCNd64 " groups %" SCNd64 " result %" SCNu32 " bias %d residual %" SCNd64
                          " pool %" SCNu32 " %" SCNu32 " %" SCNu32 "%n",
                          &l->stride[0], &l->stride[1], &l->dilation[0], &l->dilation[1], &l->padding[0],
                          &l->padding[1], &l->padding[2], &l->padding[3], &l->groups, &l->result_bytes, &bias,
                          &l->residual, &l->pool_size, &l->pool_stride, &l->pool_padding, &end);
  enum { NUMBERS = 15, POOL_MOST = 255 };
  if (read != NUMBERS || text[end] != '\0' || (bias != 0 && bias != 1)) return false;
  l->bias = bias == 1;
  return is_between(l->stride, 2, 0, SIZE_MOST) && is_between(l->dilation, 2, 0, SIZE_MOST) &&
         is_between(l->padding, 4, 0, SIZE_MOST) && is_between(&l->groups, 1, 0, SIZE_MOST) &&
         is_between(&l->residual, 1, 0, SIZE_MOST) && l->result_bytes <= 4 && l->pool_size <= POOL_MOST &&
         l->pool_stride <= POOL_MOST && l->pool_padding <= POOL_MOST;
}

static bool read_kind(const char *text, map_kind *kind) {
  for (int k = 0; k < MAP_KIND_COUNT; k++) {
    if (strcmp(text, map_kind_names[k]) != 0) continue;
    *kind = (map_kind)k;
    return true;
  }
  return false;
}

// ---- reading

enum {
  KIND,
  SIZES,
  FORM = SIZES + BLOCK_DIMS,
  ARRAY,
  ARRAY_NAME,
  DIM,
  SCRATCHPAD,
  ACCUMULATOR,
  ENGINE,
  OBJECTIVE,
  CYCLES,
  BEFORE,
  ENERGY,
  MAPPING,
  ORIGIN,
  VERSION
};
static const char select_text[] =
    "SELECT kind, n, p, q, k, c, r, s, form, array, array_name, dim, scratchpad_kib, accumulator_kib, engine, "
    "objective,"
    " cycles, before, energy_pj, mapping, origin, version FROM schedule ORDER BY layer, array, engine, objective";

static const char *text_of(sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return text == NULL ? "" : text;
}

static void copy_name(char to[SCHEDULES_NAME], sqlite3_stmt *statement, int column) {
  snprintf(to, SCHEDULES_NAME, "%s", text_of(statement, column));
}

static bool read_row(sqlite3_stmt *statement, schedules_row *row) {
  wf_diag silent = wf_diag_to(NULL);
  const char *mapping = text_of(statement, MAPPING), *hash = text_of(statement, ARRAY);
  char *end = NULL;
  *row = (schedules_row){.array = strtoull(hash, &end, 16)};
  if (end - hash != HASH_TEXT - 1 || *end != '\0' || !read_kind(text_of(statement, KIND), &row->layer.kind))
    return false;
  for (int d = 0; d < BLOCK_DIMS; d++) row->layer.size[d] = sqlite3_column_int64(statement, SIZES + d);
  row->dim = sqlite3_column_int64(statement, DIM);
  row->scratchpad_kib = sqlite3_column_int64(statement, SCRATCHPAD);
  row->accumulator_kib = sqlite3_column_int64(statement, ACCUMULATOR);
  const int64_t array[] = {row->dim, row->scratchpad_kib, row->accumulator_kib};
  const int64_t cycles[] = {sqlite3_column_int64(statement, CYCLES), sqlite3_column_int64(statement, BEFORE)};
  row->cycles = (uint64_t)cycles[0];
  row->before = (uint64_t)cycles[1];
  row->energy_pj = sqlite3_column_double(statement, ENERGY);
  copy_name(row->array_name, statement, ARRAY_NAME);
  copy_name(row->engine, statement, ENGINE);
  copy_name(row->objective, statement, OBJECTIVE);
  copy_name(row->origin, statement, ORIGIN);
  copy_name(row->version, statement, VERSION);
  return is_between(row->layer.size, BLOCK_DIMS, 1, SIZE_MOST) && is_between(array, 3, 1, SIZE_MOST) &&
         is_between(cycles, 2, 0, INT64_MAX) && read_form(text_of(statement, FORM), &row->layer) &&
         map_parse(&row->mapping, "mapping", mapping, strlen(mapping), &silent);
}

static bool is_of_this_version(sqlite3 *db) {
  sqlite3_stmt *statement = NULL;
  const bool good =
      sqlite3_prepare_v2(db, "SELECT value FROM schedules WHERE key = 'schema'", -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == SCHEDULES_VERSION;
  sqlite3_finalize(statement);
  return good;
}

static bool read_rows(schedules *s, sqlite3 *db, const char *path, wf_diag *diag) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(db, select_text, -1, &statement, NULL);
  size_t number = 0;
  bool good = code == SQLITE_OK;
  while (good && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    schedules_row row;
    number++;
    good = read_row(statement, &row);
    if (good) put(s, &row, false);
  }
  if (!good && code == SQLITE_ROW)
    wf_error(diag, wf_in_file(path), "row %zu is no schedule", number);
  else if (code != SQLITE_DONE)
    wf_error(diag, wf_in_file(path), "%s", sqlite3_errmsg(db));
  sqlite3_finalize(statement);
  return good && code == SQLITE_DONE;
}

static bool read_file(schedules *s, const char *path, wf_diag *diag) {
  sqlite3 *db = NULL;
  bool good = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;
  if (good) sqlite3_busy_timeout(db, BUSY_MILLISECONDS);
  if (!good) {
    wf_error(diag, wf_in_file(path), "%s", db == NULL ? "no memory" : sqlite3_errmsg(db));
  } else if (!is_of_this_version(db)) {
    wf_error(diag, wf_in_file(path), "is no schedule store of version %d", SCHEDULES_VERSION);
    good = false;
  } else {
    good = read_rows(s, db, path, diag);
  }
  sqlite3_close(db);
  return good;
}

schedules *schedules_open(const char *path, bool may_be_new, wf_diag *diag) {
  schedules *s = schedules_create();
  if (access(path, F_OK) != 0) {
    if (may_be_new) return s;
    wf_error(diag, wf_in_file(path), "there is no such store");
    wf_hint(diag, "--tune N with --schedules makes one");
  } else if (read_file(s, path, diag)) {
    return s;
  }
  schedules_destroy(s);
  return NULL;
}

// ---- writing

static char *mapping_text(const map_mapping *mapping) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  map_print(mapping, out);
  fclose(out);
  return text;
}

static void bind_text(sqlite3_stmt *statement, int *at, const char *text) {
  sqlite3_bind_text(statement, ++*at, text, -1, SQLITE_TRANSIENT);
}

static void bind_hash(sqlite3_stmt *statement, int *at, uint64_t hash) {
  char text[HASH_TEXT];
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  bind_text(statement, at, text);
}

static void bind_whole(sqlite3_stmt *statement, int *at, int64_t number) {
  sqlite3_bind_int64(statement, ++*at, number);
}

static bool run(sqlite3_stmt *statement) {
  const bool good = sqlite3_step(statement) == SQLITE_DONE;
  return sqlite3_reset(statement) == SQLITE_OK && good;
}

static bool write_row(sqlite3_stmt *statement, const schedules_row *row) {
  char form[FORM_TEXT];
  char *mapping = mapping_text(&row->mapping);
  int at = 0;
  write_form(&row->layer, form);
  bind_hash(statement, &at, map_layer_hash(&row->layer));
  bind_text(statement, &at, map_kind_names[row->layer.kind]);
  for (int d = 0; d < BLOCK_DIMS; d++) bind_whole(statement, &at, row->layer.size[d]);
  bind_text(statement, &at, form);
  bind_hash(statement, &at, row->array);
  bind_text(statement, &at, row->array_name);
  bind_whole(statement, &at, row->dim);
  bind_whole(statement, &at, row->scratchpad_kib);
  bind_whole(statement, &at, row->accumulator_kib);
  bind_text(statement, &at, row->engine);
  bind_text(statement, &at, row->objective);
  bind_whole(statement, &at, (int64_t)row->cycles);
  bind_whole(statement, &at, (int64_t)row->before);
  if (row->energy_pj > 0)
    sqlite3_bind_double(statement, ++at, row->energy_pj);
  else
    sqlite3_bind_null(statement, ++at);
  bind_text(statement, &at, mapping);
  bind_text(statement, &at, row->origin);
  bind_text(statement, &at, row->version);
  free(mapping);
  return run(statement);
}

static bool delete_row(sqlite3_stmt *statement, const schedules_row *row) {
  int at = 0;
  bind_hash(statement, &at, map_layer_hash(&row->layer));
  bind_hash(statement, &at, row->array);
  bind_text(statement, &at, row->engine);
  bind_text(statement, &at, row->objective);
  return run(statement);
}

static bool execute(sqlite3 *db, const char *text) { return sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK; }

static bool make_tables(sqlite3 *db) {
  char text[80];
  snprintf(text, sizeof text, "INSERT INTO schedules VALUES ('schema', '%d')", SCHEDULES_VERSION);
  return execute(db, schedules_schema) && execute(db, text);
}

static bool write_rows(const schedules *s, sqlite3 *db) {
  static const char insert[] = "INSERT OR REPLACE INTO schedule VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                    remove[] = "DELETE FROM schedule WHERE layer = ? AND array = ? AND engine = ? AND objective = ?";
  sqlite3_stmt *statement = NULL, *gone = NULL;
  bool good = sqlite3_prepare_v2(db, insert, -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, remove, -1, &gone, NULL) == SQLITE_OK;
  for (size_t i = 0; good && i < s->removed_count; i++) good = delete_row(gone, &s->removed[i]);
  for (size_t i = 0; good && i < s->count; i++)
    if (s->fresh[i]) good = write_row(statement, &s->rows[i]);
  sqlite3_finalize(statement);
  sqlite3_finalize(gone);
  return good;
}

// Rows that others have written meanwhile stay.
bool schedules_save(const schedules *s, const char *path, wf_diag *diag) {
  sqlite3 *db = NULL;
  bool good = sqlite3_open(path, &db) == SQLITE_OK;
  if (good) {
    sqlite3_busy_timeout(db, BUSY_MILLISECONDS);
    good = execute(db, "BEGIN IMMEDIATE") && (is_of_this_version(db) || make_tables(db)) && write_rows(s, db) &&
           execute(db, "COMMIT");
  }
  if (!good) wf_error(diag, wf_in_file(path), "cannot be written: %s", db == NULL ? "no memory" : sqlite3_errmsg(db));
  sqlite3_close(db);
  return good;
}
