// SPDX-License-Identifier: Apache-2.0
// Studies: measured as sweeps, shown as tables. See weft.h.
#include "search/study/study.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/private.h"
#include "base/alloc.h"
#include "base/name.h"
#include "base/tasks.h"
#include "bench/study_table.h"
#include "search/report/page.h"
#include "weft_version.h"

enum { JOBS_MAX = 1024 };

struct weft_study {
  char *path;  // the specification points to it
  study_spec spec;
  study_progress progress;  // of the last run
};

weft_study *weft_study_load(weft_session *s, const char *specification, const char *engine) {
  if (!api_begin(s, "study") || !api_given(s, specification, "the specification")) return NULL;
  weft_study *study = WF_NEW(weft_study);
  study->path = wf_strdup(specification);
  const bool good = study_spec_load(&study->spec, study->path, &s->diag) &&
                    (engine == NULL || run_fidelity_named(engine, &study->spec.base.fidelity, &s->diag));
  if (api_end(s, good, WEFT_BAD_INPUT) == WEFT_OK) return study;
  weft_study_destroy(study);
  return NULL;
}

void weft_study_destroy(weft_study *study) {
  if (study == NULL) return;
  study_spec_release(&study->spec);
  wf_free(study->path);
  wf_free(study);
}

weft_status weft_study_describe(const weft_study *study, weft_study_facts *facts) {
  if (study == NULL) return WEFT_USAGE;
  const study_spec *spec = &study->spec;
  weft_study_facts full = {.engine = run_fidelity_names[spec->base.fidelity],
                           .configurations = study_row_count(spec),
                           .networks = spec->network_count,
                           .compressions = spec->compression_count,
                           .lowerings = spec->lowering_count,
                           .mappings = spec->mapping_count,
                           .arrays = sweep_point_count(&spec->base)};
  char *name = wf_name_file(spec->base.name);
  wf_name_shown(spec->base.name, full.name);
  snprintf(full.directory, sizeof full.directory, "%s-study", name);
  wf_free(name);
  return api_give(&full, sizeof full, facts);
}

// ---- measuring

static void tell(void *context, const study_progress *p) {
  const weft_progress progress = {.done = p->now.done,
                                  .total = p->now.total,
                                  .seconds = p->now.seconds,
                                  .text = p->name,
                                  .fresh = p->now.fresh,
                                  .failed = p->now.failed,
                                  .workers = p->now.workers,
                                  .part = (uint32_t)p->part + 1,
                                  .parts = (uint32_t)p->parts};
  api_progress_of(context, &progress);
}

static sweep_outcome measure(weft_session *s, weft_study *study, const char *directory, const weft_sweep_options *o) {
  const study_options options = {
      .directory = directory,
      .version = WEFT_GIT_VERSION,
      .jobs = o->jobs == 0 ? wf_processors() : o->jobs,
      .flags = (o->any_version ? SWEEP_STORE_ANY_VERSION : 0u) | (o->extend ? SWEEP_STORE_EXTEND : 0u),
      .stop = &s->stop,
      .progress = tell,
      .context = s};
  study->progress = (study_progress){0};
  return study_run(&study->spec, &options, &study->progress, &s->diag);
}

static bool options_good(weft_session *s, const weft_sweep_options *o) {
  if (o->jobs > JOBS_MAX) return api_refuse(s, "jobs are at most %d", JOBS_MAX), false;
  if (o->store != NULL || o->engine != NULL || o->ranks != NULL)
    return api_refuse(s, "store, engine and ranks are no options of a study"), false;
  return true;
}

weft_status weft_study_run(weft_session *s, weft_study *study, const char *directory, const weft_sweep_options *options,
                           weft_sweep_result *result) {
  weft_sweep_options o = {0};
  if (!api_begin(s, "study") || !api_given(s, study, "the study") || !api_given(s, directory, "the folder") ||
      !api_take(s, options, &o, sizeof o) || !options_good(s, &o))
    return WEFT_USAGE;
  const bool good = measure(s, study, directory, &o) == SWEEP_FINISHED;
  const sweep_progress *p = &study->progress.all;
  const weft_sweep_result full = {.measurements = p->total,
                                  .done = p->done,
                                  .fresh = p->fresh,
                                  .failed = p->failed,
                                  .seconds = p->seconds,
                                  .finished = good,
                                  .opened = true,
                                  .without_run = p->spared,
                                  .without_compiling = p->shared,
                                  .compile_seconds = p->compile_seconds,
                                  .simulate_seconds = p->simulate_seconds};
  const weft_status status = api_end(s, good, WEFT_BAD_INPUT);
  if (result == NULL || api_give(&full, sizeof full, result) == WEFT_OK) return status;
  api_begin(s, "study");
  return api_refuse(s, "the result has no size: set it to sizeof");
}

// ---- tables

// All that a form is made of.
typedef struct form_request {
  const weft_study *study;
  const char *directory;
  const study_rows *rows;
} form_request;

static void write_lines(const form_request *r, FILE *text, FILE *csv) {
  bench_report *report = bench_report_create("study", text, csv);
  bench_study_print(report, r->rows);
  bench_report_destroy(report);
}

static void write_text(const form_request *r, FILE *out) { write_lines(r, out, NULL); }
static void write_csv(const form_request *r, FILE *out) { write_lines(r, NULL, out); }

static void add_number(cJSON *document, const char *key, uint64_t number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRIu64, number);
  cJSON_AddRawToObject(document, key, digits);
}

// The tables, and what they come from.
static cJSON *json_of(const form_request *r) {
  const sweep_progress *p = &r->study->progress.all;
  bench_report *report = bench_report_create("study", NULL, NULL);
  bench_study_print(report, r->rows);
  cJSON *document = bench_report_json(report);
  bench_report_destroy(report);
  cJSON_DeleteItemFromObject(document, "bench");
  cJSON_AddStringToObject(document, "study", r->study->spec.base.name);
  cJSON_AddStringToObject(document, "directory", r->directory);
  cJSON_AddStringToObject(document, "engine", run_fidelity_names[r->study->spec.base.fidelity]);
  add_number(document, "configurations", r->rows->count);
  add_number(document, "measurements", p->total);
  add_number(document, "measured_now", p->fresh);
  cJSON_AddNumberToObject(document, "seconds", p->seconds);
  return document;
}

static void write_json(const form_request *r, FILE *out) {
  cJSON *document = json_of(r);
  char *text = cJSON_Print(document);
  wf_name_write(WF_NAME_DOCUMENT, text, out);
  fputc('\n', out);
  cJSON_free(text);
  cJSON_Delete(document);
}

static void write_page(const form_request *r, FILE *out) {
  cJSON *document = json_of(r);
  cJSON_AddStringToObject(document, "writer", WEFT_GIT_VERSION);
  char *text = cJSON_PrintUnformatted(document);
  report_page_write(REPORT_PAGE_STUDY, text, NULL, out);
  cJSON_free(text);
  cJSON_Delete(document);
}

static const char *const forms[] = {"text", "csv", "json", "page"};
static void (*const writers[])(const form_request *r, FILE *out) = {write_text, write_csv, write_json, write_page};
enum { FORMS = sizeof forms / sizeof *forms };

char *weft_study_table(weft_session *s, const weft_study *study, const char *directory, const char *form) {
  if (!api_begin(s, "study") || !api_given(s, study, "the study") || !api_given(s, directory, "the folder"))
    return NULL;
  const int chosen = api_choice(s, "form", form, forms, FORMS);
  if (chosen < 0) return NULL;
  study_rows rows;
  char *text = NULL;
  size_t length;
  FILE *out = study_rows_read(&rows, &study->spec, directory, &s->diag) ? open_memstream(&text, &length) : NULL;
  const form_request request = {study, directory, &rows};
  if (out != NULL) {
    writers[chosen](&request, out);
    fclose(out);
  }
  study_rows_release(&rows);
  api_end(s, out != NULL, WEFT_BAD_INPUT);
  return text;
}
