// SPDX-License-Identifier: Apache-2.0
// Sweeps and questions to their stores. See weft.h.
#include "search/sweep/sweep.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/private.h"
#include "base/alloc.h"
#include "base/name.h"
#include "base/tasks.h"
#include "search/report/report.h"
#include "search/sweep/query.h"
#include "weft_version.h"

enum { JOBS_MAX = 1024 };

// ---- sweeps

static void tell(void *context, const sweep_progress *p) {
  char text[64];
  snprintf(text, sizeof text, "%" PRIu64 " failed, %u workers", p->failed, p->workers);
  api_progress(context, p->done, p->total, text);
}

static unsigned store_flags(const weft_sweep_options *o) {
  return (o->any_version ? SWEEP_STORE_ANY_VERSION : 0u) | (o->extend ? SWEEP_STORE_EXTEND : 0u);
}

static sweep_outcome run(weft_session *s, const sweep_spec *spec, const weft_sweep_options *o,
                         sweep_progress *progress) {
  char *file = wf_name_file(spec->name), *path = o->store != NULL ? wf_strdup(o->store) : wf_format("%s.sqlite", file);
  sweep_store *store = sweep_store_open(path, spec, WEFT_GIT_VERSION, store_flags(o), &s->diag);
  sweep_outcome outcome = SWEEP_FAILED;
  if (store != NULL) {
    const sweep_options options = {.version = WEFT_GIT_VERSION,
                                   .fidelity = spec->fidelity,
                                   .jobs = o->jobs == 0 ? wf_processors() : o->jobs,
                                   .stop = &s->stop,
                                   .progress = tell,
                                   .join_socket = -1,
                                   .context = s};
    outcome = sweep_run(spec, store, &options, progress, &s->diag);
    sweep_store_close(store);
  }
  wf_free(path);
  wf_free(file);
  return outcome;
}

weft_status weft_sweep(weft_session *s, const char *specification, const weft_sweep_options *options,
                       weft_sweep_result *result) {
  weft_sweep_options o = {0};
  if (!api_begin(s, "sweep") || !api_given(s, specification, "the specification") ||
      !api_take(s, options, &o, sizeof o))
    return WEFT_USAGE;
  if (o.jobs > JOBS_MAX) return api_refuse(s, "jobs are at most %d", JOBS_MAX);
  sweep_spec spec;
  sweep_progress progress = {0};
  sweep_outcome outcome = SWEEP_FAILED;
  if (sweep_spec_load(&spec, specification, &s->diag)) outcome = run(s, &spec, &o, &progress);
  sweep_spec_release(&spec);
  const weft_sweep_result full = {.measurements = progress.total,
                                  .done = progress.done,
                                  .fresh = progress.fresh,
                                  .failed = progress.failed,
                                  .seconds = progress.seconds,
                                  .finished = outcome == SWEEP_FINISHED};
  const weft_status status = api_end(s, outcome == SWEEP_FINISHED, WEFT_BAD_INPUT);
  if (result != NULL && api_give(&full, sizeof full, result) != WEFT_OK) {
    api_begin(s, "sweep");
    return api_refuse(s, "the result has no size: set it to sizeof");
  }
  return status;
}

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
