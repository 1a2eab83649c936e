// SPDX-License-Identifier: Apache-2.0
// Questions to stores of sweeps, and their pages. See weft.h.
#include "api/private.h"
#include "base/alloc.h"
#include "search/report/report.h"
#include "search/sweep/query.h"
#include "weft_version.h"

// ---- questions

struct weft_rows {
  sweep_query *query;
  uint64_t left;  // rows that are still wanted
};

weft_rows *weft_query(weft_session *s, const char *store, const char *condition, const char *network, uint64_t limit) {
  if (!api_begin(s, "query") || !api_given(s, store, "the store")) return NULL;
  sweep_query *query = sweep_query_open(store, condition == NULL ? "" : condition, network, limit, &s->diag);
  if (api_end(s, query != NULL, WEFT_BAD_INPUT) != WEFT_OK) return NULL;
  weft_rows *rows = WF_NEW(weft_rows);
  *rows = (weft_rows){.query = query, .left = limit == 0 ? UINT64_MAX : limit};
  return rows;
}

void weft_rows_close(weft_rows *rows) {
  if (rows == NULL) return;
  sweep_query_close(rows->query);
  wf_free(rows);
}

bool weft_rows_next(weft_session *s, weft_rows *rows) {
  if (!api_begin(s, "query") || !api_given(s, rows, "the rows")) return false;
  const bool any = rows->left > 0 && sweep_query_next(rows->query, &s->diag);
  if (any) rows->left--;
  api_end(s, s->diag.errors == 0, WEFT_BAD_INPUT);
  return any;
}

size_t weft_rows_columns(const weft_rows *rows) { return rows == NULL ? 0 : (size_t)sweep_query_columns(rows->query); }

const char *weft_rows_name(const weft_rows *rows, size_t column) {
  return column < weft_rows_columns(rows) ? sweep_query_name(rows->query, (int)column) : NULL;
}

weft_value weft_rows_kind(const weft_rows *rows, size_t column) {
  static const weft_value kinds[] = {
      [QUERY_NULL] = WEFT_NULL, [QUERY_INTEGER] = WEFT_INTEGER, [QUERY_NUMBER] = WEFT_NUMBER, [QUERY_TEXT] = WEFT_TEXT};
  return column < weft_rows_columns(rows) ? kinds[sweep_query_kind_of(rows->query, (int)column)] : WEFT_NULL;
}

const char *weft_rows_text(const weft_rows *rows, size_t column) {
  return column < weft_rows_columns(rows) ? sweep_query_text(rows->query, (int)column) : NULL;
}

int64_t weft_rows_integer(const weft_rows *rows, size_t column) {
  return column < weft_rows_columns(rows) ? sweep_query_integer(rows->query, (int)column) : 0;
}

double weft_rows_number(const weft_rows *rows, size_t column) {
  return column < weft_rows_columns(rows) ? sweep_query_number(rows->query, (int)column) : 0;
}

// ---- reports

weft_status weft_report(weft_session *s, const char *store, const char *directory, const weft_report_options *options) {
  weft_report_options o = {0};
  if (!api_begin(s, "report") || !api_given(s, store, "the store") || !api_given(s, directory, "the directory") ||
      !api_take(s, options, &o, sizeof o))
    return WEFT_USAGE;
  const report_options with = {
      .title = o.title, .version = WEFT_GIT_VERSION, .engine = o.engine, .pictures = !o.without_pictures};
  return api_end(s, report_write(store, directory, &with, &s->diag), WEFT_BAD_INPUT);
}
