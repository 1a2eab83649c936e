// SPDX-License-Identifier: Apache-2.0
// Questions to a store on SQLite: see query.h.
#include "search/sweep/query.h"

#include <sqlite3.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

struct sweep_query {
  sqlite3 *db;
  sqlite3_stmt *statement;
  const char *path;
};

static sweep_query *fail(sweep_query *q, wf_diag *diag, const char *hint) {
  wf_error(diag, wf_in_file(q->path), "%s", q->db == NULL ? "no memory" : sqlite3_errmsg(q->db));
  if (hint != NULL) wf_hint(diag, "%s", hint);
  sweep_query_close(q);
  return NULL;
}

// Reading only, whatever the text says.
static int authorise(void *context, int action, const char *a, const char *b, const char *c, const char *d) {
  (void)context, (void)a, (void)b, (void)c, (void)d;
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE
             ? SQLITE_OK
             : SQLITE_DENY;
}

// The parameters of the sweep, as columns "mesh.rows" of the question: from the JSON of its first point.
static char *parameter_columns(sweep_query *q) {
  char *columns = wf_strdup("");
  sqlite3_stmt *keys;
  static const char text[] =
      "SELECT DISTINCT j.key FROM (SELECT parameters FROM point ORDER BY id LIMIT 1) p, json_each(p.parameters) j";
  if (sqlite3_prepare_v2(q->db, text, -1, &keys, NULL) != SQLITE_OK) return columns;
  while (sqlite3_step(keys) == SQLITE_ROW) {
    const char *key = (const char *)sqlite3_column_text(keys, 0);
    char *more = wf_format("%s, json_extract(p.parameters, '$.\"%s\"') AS \"%s\"", columns, key, key);
    wf_free(columns);
    columns = more;
  }
  sqlite3_finalize(keys);
  return columns;
}

static bool starts_with(const char *text, const char *word) {
  text += strspn(text, " \t\n");
  const size_t length = strlen(word);
  return strncasecmp(text, word, length) == 0 && strspn(text + length, " \t\n(") > 0;
}

// The condition around a table with everything that one wants to ask of a point.
static char *statement_of(sweep_query *q, const char *text, const char *network, unsigned limit) {
  if (starts_with(text, "select")) return wf_strdup(text);
  char *columns = parameter_columns(q);
  const bool ordered = starts_with(text, "order"), all = text[strspn(text, " \t\n")] == '\0';
  char *of_network = network == NULL ? wf_strdup("") : sqlite3_mprintf(" AND n.network = %Q", network);
  char *at_most = limit == 0 ? wf_strdup("") : wf_format(" LIMIT %u", limit);
  char *sql = wf_format(
      "SELECT * FROM (SELECT n.point, n.network, n.array%s, n.cycles, n.energy_pj, n.edp, n.macs, "
      "CAST(n.macs AS REAL) / (n.cycles * a.dim * a.dim) AS utilisation, a.dim, a.scratchpad_kib, a.accumulator_kib, "
      "a.logic_um2, a.memory_bits, a.area_technology, n.read_bytes, n.written_bytes, n.status, n.reason "
      "FROM point_network n JOIN point p ON p.id = n.point LEFT JOIN array a ON a.hash = n.array WHERE 1%s) %s %s%s",
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

sweep_query *sweep_query_open(const char *path, const char *text, const char *network, unsigned limit, wf_diag *diag) {
  sweep_query *q = WF_NEW(sweep_query);
  q->path = wf_strdup(path);
  if (sqlite3_open_v2(path, &q->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) return fail(q, diag, NULL);
  char *sql = statement_of(q, text, network, limit);
  sqlite3_set_authorizer(q->db, authorise, NULL);
  const char *rest = NULL;
  const int code = sqlite3_prepare_v2(q->db, sql, -1, &q->statement, &rest);
  const bool more = code == SQLITE_OK && rest[strspn(rest, " \t\n;")] != '\0';
  wf_free(sql);
  if (code != SQLITE_OK)
    return fail(q, diag,
                "a condition over the columns that `weft query STORE \"\"` prints, such as: cycles < 1e6 order by edp");
  if (!more) return q;
  wf_error(diag, wf_in_file(path), "more than one statement");
  sweep_query_close(q);
  return NULL;
}

void sweep_query_close(sweep_query *q) {
  sqlite3_finalize(q->statement);
  sqlite3_close(q->db);
  wf_free((char *)q->path);
  wf_free(q);
}

bool sweep_query_next(sweep_query *q, wf_diag *diag) {
  const int code = sqlite3_step(q->statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) wf_error(diag, wf_in_file(q->path), "%s", sqlite3_errmsg(q->db));
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

double sweep_query_number(const sweep_query *q, int column) { return sqlite3_column_double(q->statement, column); }

int sweep_query_find(const sweep_query *q, const char *name) {
  for (int c = 0; c < sweep_query_columns(q); c++)
    if (strcmp(sweep_query_name(q, c), name) == 0) return c;
  return -1;
}
