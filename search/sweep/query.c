// SPDX-License-Identifier: Apache-2.0
// Questions to a store on SQLite: see query.h.
#include "search/sweep/query.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "hw/array_text.h"
#include "search/sweep/store.h"

enum { BUSY_MILLISECONDS = 10000 };

struct sweep_reader {
  sqlite3 *db;
  const char *path;
};

struct sweep_query {
  sweep_reader *reader;
  bool owns_reader;
  sqlite3_stmt *statement;
};

// ---- readers

static const char condition_hint[] =
    "a condition over the columns that `weft query STORE \"\"` prints, such as: cycles < 1e6 order by edp";

// What SQLite says of the last call; `hint` is for texts that it did not understand.
static void report(const sweep_reader *r, const char *hint, wf_diag *diag) {
  const int code = r->db == NULL ? SQLITE_NOMEM : sqlite3_errcode(r->db);
  wf_error(diag, wf_in_file(r->path), "%s", r->db == NULL ? "no memory" : sqlite3_errmsg(r->db));
  if (code == SQLITE_BUSY) hint = "another process is writing it";
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) hint = "it is damaged, or no store";
  if (hint != NULL) wf_hint(diag, "%s", hint);
}

// Reading only, whatever the text says.
static int authorise(void *context, int action, const char *a, const char *b, const char *c, const char *d) {
  (void)context, (void)a, (void)b, (void)c, (void)d;
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE
             ? SQLITE_OK
             : SQLITE_DENY;
}

// The number that a statement of one row gives; -1: it fails or gives none.
static int64_t number_of(const sweep_reader *r, const char *sql) {
  sqlite3_stmt *statement = NULL;
  int64_t number = -1;
  if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
    number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return number;
}

// The tables must be tables: a view could give other rows each time, or rows without end.
static bool check_tables(const sweep_reader *r, wf_diag *diag) {
  const int64_t tables = number_of(r,
                                   "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ("
                                   "'sweep', 'array', 'point', 'network', 'layer', 'engine', 'measurement', 'step')");
  if (tables == 8) return true;
  if (tables < 0)
    report(r, NULL, diag);
  else
    wf_error(diag, wf_in_file(r->path), "is not the store of a sweep");
  return false;
}

bool sweep_store_schema_good(const char *path, int64_t schema, wf_diag *diag) {
  if (schema == SWEEP_SCHEMA_VERSION) return true;
  if (schema < 0) {
    wf_error(diag, wf_in_file(path), "does not say which version its tables have");
  } else {
    wf_error(diag, wf_in_file(path), "has tables of version %" PRId64 "; this program knows version %d", schema,
             SWEEP_SCHEMA_VERSION);
    wf_hint(diag, "use the version of weft that made it; `SELECT value FROM sweep WHERE key = 'version'` names it");
  }
  return false;
}

static bool begin(sweep_reader *r, wf_diag *diag) {
  sqlite3_busy_timeout(r->db, BUSY_MILLISECONDS);
  sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  if (sqlite3_exec(r->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
    report(r, NULL, diag);
    return false;
  }
  return check_tables(r, diag) &&
         sweep_store_schema_good(
             r->path,
             number_of(r, "SELECT CAST(value AS INTEGER) FROM sweep WHERE key = 'schema' AND value IS NOT NULL"), diag);
}

sweep_reader *sweep_reader_open(const char *path, wf_diag *diag) {
  sweep_reader *r = WF_NEW(sweep_reader);
  r->path = wf_strdup(path);
  bool good = sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;
  if (!good) report(r, NULL, diag);
  good = good && begin(r, diag);
  if (good) {
    sqlite3_set_authorizer(r->db, authorise, NULL);
    return r;
  }
  sweep_reader_close(r);
  return NULL;
}

void sweep_reader_close(sweep_reader *r) {
  sqlite3_close(r->db);
  wf_free((char *)r->path);
  wf_free(r);
}

// ---- questions

// The parameters of the sweep, as columns "mesh.rows" of the question: from the JSON of its first point. The table that
// json_each makes of it needs more than reading.
static char *parameter_columns(const sweep_reader *r) {
  char *columns = wf_strdup("");
  sqlite3_stmt *keys;
  static const char text[] =
      "SELECT DISTINCT j.key FROM (SELECT parameters FROM point ORDER BY id LIMIT 1) p, json_each(p.parameters) j";
  sqlite3_set_authorizer(r->db, NULL, NULL);
  const int code = sqlite3_prepare_v2(r->db, text, -1, &keys, NULL);
  sqlite3_set_authorizer(r->db, authorise, NULL);
  if (code != SQLITE_OK) return columns;
  while (sqlite3_step(keys) == SQLITE_ROW) {
    const char *key = (const char *)sqlite3_column_text(keys, 0);
    if (key == NULL || strchr(key, '"') != NULL) continue;  // no sweep makes such a key
    char *more = sqlite3_mprintf("%s, json_extract(p.parameters, '$.\"%q\"') AS \"%w\"", columns, key, key);
    wf_free(columns);
    columns = wf_strdup(more);
    sqlite3_free(more);
  }
  sqlite3_finalize(keys);
  return columns;
}

static bool starts_with(const char *text, const char *word) {
  text += strspn(text, " \t\n");
  const size_t length = strlen(word);
  return strncasecmp(text, word, length) == 0 && strspn(text + length, " \t\n(") > 0;
}

// The condition around a table with everything that one wants to ask of a point. A comment in it may hide the limit:
// the reader of the rows counts them, too.
static char *statement_of(const sweep_reader *r, const char *text, const char *network, uint64_t limit) {
  if (starts_with(text, "select")) return wf_strdup(text);
  char *columns = parameter_columns(r);
  const bool ordered = starts_with(text, "order"), all = text[strspn(text, " \t\n")] == '\0';
  char *of_network = network == NULL ? wf_strdup("") : sqlite3_mprintf(" AND n.network = %Q", network);
  char *at_most = limit == 0 ? wf_strdup("") : wf_format(" LIMIT %" PRIu64, limit);
  char *sql = wf_format(
      "SELECT * FROM (SELECT n.point, n.network, n.array%s, n.cycles, n.energy_pj, n.edp, n.macs, "
      "CAST(n.macs AS REAL) / (n.cycles * a.dim * a.dim) AS utilisation, a.dim, a.scratchpad_kib, a.accumulator_kib, "
      "a.logic_um2, a.memory_bits, a.area_technology, n.read_bytes, "
      "n.written_bytes, n.status, n.reason, "
      "n.array_energy_pj, a.technology, a.area_um2, a.area_whole, n.engine "
      "FROM point_network n JOIN point p ON p.id = n.point LEFT JOIN array a ON a.hash = n.array WHERE 1%s) %s %s %s",
      columns, of_network, ordered || all ? "WHERE status = 'good'" : "WHERE status = 'good' AND", text, at_most);
  wf_free(columns);
  if (network == NULL) {
    wf_free(of_network);
  } else {
    sqlite3_free(of_network);
  }
  wf_free(at_most);
  return sql;
}

static bool prepare(sweep_query *q, const char *sql, wf_diag *diag) {
  const char *rest = NULL;
  if (sqlite3_prepare_v2(q->reader->db, sql, -1, &q->statement, &rest) != SQLITE_OK) {
    report(q->reader, condition_hint, diag);
    return false;
  }
  if (q->statement == NULL || rest[strspn(rest, " \t\n;")] != '\0') {
    wf_error(diag, wf_in_file(q->reader->path), q->statement == NULL ? "no statement" : "more than one statement");
    return false;
  }
  return true;
}

sweep_query *sweep_query_on(sweep_reader *reader, const char *sql, wf_diag *diag) {
  sweep_query *q = WF_NEW(sweep_query);
  q->reader = reader;
  if (prepare(q, sql, diag)) return q;
  sweep_query_close(q);
  return NULL;
}

// The column that was meant by a word that SQLite does not know. Names with a dot are written in quotes.
static void suggest_column(sweep_reader *r, const char *network, wf_diag *diag) {
  static const char unknown[] = "no such column: ";
  const char *message = sqlite3_errmsg(r->db);
  if (strncmp(message, unknown, sizeof unknown - 1) != 0) return;
  char *word = wf_strdup(message + sizeof unknown - 1), *sql = statement_of(r, "", network, 0);
  wf_nearest nearest = wf_nearest_start(word);
  sqlite3_stmt *all = NULL;
  if (sqlite3_prepare_v2(r->db, sql, -1, &all, NULL) == SQLITE_OK)
    for (int c = 0; c < sqlite3_column_count(all); c++) wf_nearest_offer(&nearest, sqlite3_column_name(all, c));
  if (nearest.best[0] != '\0') {
    const char *quote = strchr(nearest.best, '.') != NULL ? "\"" : "";
    wf_hint(diag, "did you mean %s%s%s?", quote, nearest.best, quote);
  }
  sqlite3_finalize(all);
  wf_free(sql);
  wf_free(word);
}

sweep_query *sweep_query_open(const char *path, const char *text, const char *network, uint64_t limit, wf_diag *diag) {
  sweep_reader *reader = sweep_reader_open(path, diag);
  if (reader == NULL) return NULL;
  char *sql = statement_of(reader, text, network, limit);
  sweep_query *q = sweep_query_on(reader, sql, diag);
  wf_free(sql);
  if (q == NULL) {
    suggest_column(reader, network, diag);
    sweep_reader_close(reader);
    return NULL;
  }
  q->owns_reader = true;
  return q;
}

void sweep_query_close(sweep_query *q) {
  sqlite3_finalize(q->statement);
  if (q->owns_reader) sweep_reader_close(q->reader);
  wf_free(q);
}

bool sweep_query_next(sweep_query *q, wf_diag *diag) {
  const int code = sqlite3_step(q->statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) report(q->reader, NULL, diag);
  return code == SQLITE_ROW;
}

int sweep_query_columns(const sweep_query *q) { return sqlite3_column_count(q->statement); }
const char *sweep_query_name(const sweep_query *q, int column) { return sqlite3_column_name(q->statement, column); }

sweep_query_kind sweep_query_kind_of(const sweep_query *q, int column) {
  switch (sqlite3_column_type(q->statement, column)) {
    case SQLITE_INTEGER:
      return QUERY_INTEGER;
    case SQLITE_FLOAT:
      return QUERY_NUMBER;
    case SQLITE_NULL:
      return QUERY_NULL;
    default:
      return QUERY_TEXT;
  }
}

const char *sweep_query_text(const sweep_query *q, int column) {
  const unsigned char *text = sqlite3_column_text(q->statement, column);
  return text == NULL ? "" : (const char *)text;
}

int64_t sweep_query_integer(const sweep_query *q, int column) { return sqlite3_column_int64(q->statement, column); }

double sweep_query_number(const sweep_query *q, int column) { return sqlite3_column_double(q->statement, column); }

int sweep_query_find(const sweep_query *q, const char *name) {
  for (int c = 0; c < sweep_query_columns(q); c++)
    if (strcmp(sweep_query_name(q, c), name) == 0) return c;
  return -1;
}
