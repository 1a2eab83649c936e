// SPDX-License-Identifier: Apache-2.0
// `weft study`: compression, lowering, mapping and arrays crossed, each combination a row of one table.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "base/tasks.h"
#include "bench/study_table.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/sweep_progress.h"
#include "runner/fidelity.h"
#include "search/report/page.h"
#include "weft_version.h"

enum { NOTE_SECONDS = 5, JOBS_MAX = 1024 };

typedef struct study_arguments {
  const char *directory, *csv, *fidelity, *report;
  uint64_t jobs;
  bool any_version, extend, plan;
} study_arguments;

typedef struct job {
  const cli_common *common;
  const study_arguments *arguments;
  const study_spec *spec;
  const char *directory;
  cli_line line;
  study_progress progress;
  wf_diag *diag;
} job;

// ---- running

static void show(void *context, const study_progress *p) {
  job *j = context;
  char name[WF_NAME_LINE], what[WF_NAME_LINE + 64];
  snprintf(what, sizeof what, "%zu of %zu, %s: ", p->part + 1, p->parts, wf_name_shown(p->name, name));
  const weft_progress now = {.done = p->now.done,
                             .total = p->now.total,
                             .seconds = p->now.seconds,
                             .fresh = p->now.fresh,
                             .failed = p->now.failed,
                             .workers = p->now.workers};
  cli_sweep_progress(&j->line, what, &now);
}

static sweep_outcome measure(job *j) {
  const study_arguments *a = j->arguments;
  const study_options options = {
      .directory = j->directory,
      .version = WEFT_GIT_VERSION,
      .jobs = (unsigned)a->jobs,
      .flags = (a->any_version ? SWEEP_STORE_ANY_VERSION : 0u) | (a->extend ? SWEEP_STORE_EXTEND : 0u),
      .stop = cli_interruptible(),
      .progress = show,
      .context = j};
  j->line = cli_line_begin(j->common, 0, NOTE_SECONDS);
  const sweep_outcome outcome = study_run(j->spec, &options, &j->progress, j->diag);
  cli_line_end(&j->line, true);
  if (outcome == SWEEP_STOPPED) fprintf(stderr, "weft: stopped; the same command goes on from here\n");
  return outcome;
}

// ---- results

// The tables as JSON, and what they come from.
static cJSON *json_of(const job *j, const bench_report *report, size_t count) {
  const sweep_progress *p = &j->progress.all;
  cJSON *document = bench_report_json(report);
  cJSON_DeleteItemFromObject(document, "bench");
  cJSON_AddStringToObject(document, "study", j->spec->base.name);
  cJSON_AddStringToObject(document, "directory", j->directory);
  cJSON_AddStringToObject(document, "engine", run_fidelity_names[j->spec->base.fidelity]);
  cli_json_count(document, "configurations", count);
  cli_json_count(document, "measurements", p->total);
  cli_json_count(document, "measured_now", p->fresh);
  cJSON_AddNumberToObject(document, "seconds", p->seconds);
  return document;
}

static bool write_page(const job *j, cJSON *document) {
  char *path = wf_format("%s/index.html", j->arguments->report);
  FILE *out = cli_open_output(path, j->diag);
  cJSON_AddStringToObject(document, "writer", WEFT_GIT_VERSION);
  char *json = cJSON_PrintUnformatted(document);
  if (out != NULL) report_page_write(REPORT_PAGE_STUDY, json, NULL, out);
  const bool good = out != NULL && cli_close(out, path, j->diag);
  cJSON_free(json);
  cJSON_Delete(document);
  wf_free(path);
  return good;
}

static void print_end(const job *j, size_t count) {
  const sweep_progress *p = &j->progress.all;
  char directory[WF_NAME_LINE];
  printf("\n%s: %zu configurations, %" PRIu64 " measurements by engine %s, %" PRIu64 " of them now in %.1f s\n",
         wf_name_shown(j->directory, directory), count, p->total, run_fidelity_names[j->spec->base.fidelity], p->fresh,
         p->seconds);
}

static bool write_results(const job *j, const study_rows *rows) {
  const char *path = j->arguments->csv;
  FILE *csv = path == NULL ? NULL : cli_open_output(path, j->diag);
  if (path != NULL && csv == NULL) return false;
  const bool prints = cli_prints(j->common) && csv != stdout;
  bench_report *report = bench_report_create("study", prints ? stdout : NULL, csv);
  bench_study_print(report, rows);
  bool good = cli_end_output(csv, path, true, j->diag);
  if (prints) print_end(j, rows->count);
  if (j->arguments->report != NULL) good = write_page(j, json_of(j, report, rows->count)) && good;
  if (j->common->json != NULL) good = cli_write_json(j->common->json, json_of(j, report, rows->count), j->diag) && good;
  bench_report_destroy(report);
  return good;
}

static cli_exit finish(const job *j) {
  study_rows rows;
  const bool good = study_rows_read(&rows, j->spec, j->directory, j->diag) && write_results(j, &rows);
  study_rows_release(&rows);
  return good ? CLI_OK : CLI_BAD_INPUT;
}

static cli_exit study(job *j) {
  const char *page = j->arguments->report;
  if (!cli_make_directory(j->directory, j->diag) || (page != NULL && !cli_make_directory(page, j->diag)))
    return CLI_BAD_INPUT;
  const sweep_outcome outcome = measure(j);
  if (outcome == SWEEP_FINISHED) return finish(j);
  return outcome == SWEEP_STOPPED ? CLI_LIMIT : CLI_BAD_INPUT;
}

// ---- the verb

static void plan(const study_spec *spec) {
  char name[WF_NAME_LINE];
  printf(
      "%s: %zu configurations: %zu networks, %zu compressions, %zu lowerings, %zu mappings, %zu arrays, by engine %s\n",
      wf_name_shown(spec->base.name, name), study_row_count(spec), spec->network_count, spec->compression_count,
      spec->lowering_count, spec->mapping_count, sweep_point_count(&spec->base),
      run_fidelity_names[spec->base.fidelity]);
}

static const wf_option study_rows_of_options[] = {
    {"o", WF_TEXT(study_arguments, directory), "DIR",
     "the stores, one for each mapping and side (default: NAME-study); existing ones are gone on with"},
    {"csv", WF_TEXT(study_arguments, csv), "FILE|-", "write a line for each configuration"},
    {"report", WF_TEXT(study_arguments, report), "DIR", "write the page DIR/index.html (docs/report.md)"},
    {"jobs", WF_COUNT(study_arguments, jobs), "N", "processes that measure (default: one per processor)"},
    {"fidelity", WF_TEXT(study_arguments, fidelity), "NAME",
     "the engine that measures: flow, or cycle (default: what the text says, or flow)"},
    {"any-version", WF_FLAG(study_arguments, any_version), NULL, "go on with stores that another version began"},
    {"extend", WF_FLAG(study_arguments, extend), NULL,
     "the text has changed since: keep what was measured, measure what is new"},
    {"plan", WF_FLAG(study_arguments, plan), NULL, "print how many configurations there are, measure nothing"},
};

static cli_exit run(const cli_common *common, const study_arguments *arguments, const study_spec *spec, wf_diag *diag) {
  if (arguments->plan) {
    plan(spec);
    return CLI_OK;
  }
  if (!cli_check_output(arguments->csv, diag)) return CLI_BAD_INPUT;
  char *name = wf_name_file(spec->base.name), *own = wf_format("%s-study", name);
  job j = {.common = common,
           .arguments = arguments,
           .spec = spec,
           .directory = arguments->directory == NULL ? own : arguments->directory,
           .diag = diag};
  const cli_exit code = study(&j);
  wf_free(own);
  wf_free(name);
  return code;
}

cli_exit cli_study(int argc, char **argv) {
  study_arguments arguments = {.jobs = wf_processors()};
  static const cli_usage usage = {
      .verb = "study",
      .synopsis = "SPEC.yaml",
      .text =
          "Measures networks, compressed and lowered in several ways, with several ways to choose mappings, on\n"
          "several arrays (docs/study.md), and prints what each configuration gains of what its multiplications\n"
          "promise. It may be interrupted at any time: the same command goes on where it ended.",
      .options = {CLI_OPTIONS(study_rows_of_options, 0)},
      .min_arguments = 1,
      .max_arguments = 1};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &arguments, &argc, argv, &common, &code)) return code;
  wf_diag diag = wf_diag_to(stderr);
  if (arguments.jobs < 1 || arguments.jobs > JOBS_MAX) {
    fprintf(stderr, "weft: error: --jobs must be from 1 to %d\n", JOBS_MAX);
    return CLI_USAGE;
  }
  study_spec spec;
  code = CLI_BAD_INPUT;
  bool good = study_spec_load(&spec, argv[0], &diag);
  if (good && arguments.fidelity != NULL) good = run_fidelity_named(arguments.fidelity, &spec.base.fidelity, &diag);
  if (good) code = run(&common, &arguments, &spec, &diag);
  study_spec_release(&spec);
  return code;
}
