// SPDX-License-Identifier: Apache-2.0
// `weft study`: compression, lowering, mapping and arrays crossed, each combination a row of one table.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/sweep_progress.h"

enum { NOTE_SECONDS = 5, JOBS_MAX = 1024 };

typedef struct study_arguments {
  const char *directory, *csv, *fidelity, *report;
  uint64_t jobs;  // UINT64_MAX: not given
  bool any_version, extend, plan;
} study_arguments;

typedef struct job {
  const cli_common *common;
  const study_arguments *arguments;
  weft_session *session;
  weft_study *study;
  weft_study_facts facts;
  const char *directory;
  cli_line line;
} job;

// ---- running

static bool show(void *context, const weft_progress *p) {
  job *j = context;
  char name[CLI_NAME], what[CLI_NAME + 64];
  snprintf(what, sizeof what, "%" PRIu32 " of %" PRIu32 ", %s: ", p->part, p->parts, cli_shown(p->text, name));
  cli_sweep_progress(&j->line, what, p);
  return !cli_interrupted();
}

static weft_status measure(job *j, weft_sweep_result *result) {
  const study_arguments *a = j->arguments;
  const weft_sweep_options options = {.size = sizeof options,
                                      .jobs = a->jobs == UINT64_MAX ? 0 : (uint32_t)a->jobs,
                                      .any_version = a->any_version,
                                      .extend = a->extend};
  cli_interrupt_cancels(j->session);
  j->line = cli_line_begin(j->common, 0, NOTE_SECONDS);
  weft_session_watch(j->session, show, j);
  const weft_status status = weft_study_run(j->session, j->study, j->directory, &options, result);
  cli_interrupt_ends();
  weft_session_watch(j->session, NULL, NULL);
  cli_line_end(&j->line, true);
  cli_sweep_messages(j->session);
  return status;
}

// ---- results

// NULL after the reason was reported.
static char *table(const job *j, const char *form) {
  char *text = weft_study_table(j->session, j->study, j->directory, form);
  cli_messages(j->session);
  return text;
}

static void print_end(const job *j, const weft_sweep_result *r) {
  char directory[CLI_NAME];
  printf("\n%s: %" PRIu64 " configurations, %" PRIu64 " measurements by engine %s, %" PRIu64 " of them now in %.1f s\n",
         cli_shown(j->directory, directory), j->facts.configurations, r->measurements, j->facts.engine, r->fresh,
         r->seconds);
}

// Writes a form to a file ("-": stdout).
static bool put(const job *j, const char *form, const char *path) {
  char *text = table(j, form);
  const bool good = text != NULL && cli_write_text(path, text);
  weft_free(text);
  return good;
}

static bool put_page(const job *j) {
  char *path = cli_format("%s/index.html", j->arguments->report);
  const bool good = put(j, "page", path);
  free(path);
  return good;
}

static bool write_results(const job *j, const weft_sweep_result *r) {
  const char *csv = j->arguments->csv;
  bool good = csv == NULL || put(j, "csv", csv);
  if (good && cli_prints(j->common) && (csv == NULL || strcmp(csv, "-") != 0)) {
    good = put(j, "text", "-");
    print_end(j, r);
  }
  if (j->arguments->report != NULL) good = put_page(j) && good;
  if (j->common->json != NULL) good = put(j, "json", j->common->json) && good;
  return good;
}

static cli_exit study(job *j) {
  const char *page = j->arguments->report;
  if (!cli_make_folder(j->directory) || (page != NULL && !cli_make_folder(page))) return CLI_BAD_INPUT;
  weft_sweep_result result = {.size = sizeof result};
  const weft_status status = measure(j, &result);
  if (status == WEFT_OK) return write_results(j, &result) ? CLI_OK : CLI_BAD_INPUT;
  return status == WEFT_CANCELLED ? CLI_LIMIT : CLI_BAD_INPUT;
}

// ---- the verb

static void plan(const weft_study_facts *f) {
  printf("%s: %" PRIu64 " configurations: %" PRIu64 " networks, %" PRIu64 " compressions, %" PRIu64
         " lowerings, %" PRIu64 " mappings, %" PRIu64 " arrays, by engine %s\n",
         f->name, f->configurations, f->networks, f->compressions, f->lowerings, f->mappings, f->arrays, f->engine);
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

static cli_exit load_and_study(job *j, const char *specification) {
  j->study = weft_study_load(j->session, specification, j->arguments->fidelity);
  if (!cli_messages(j->session)) return CLI_BAD_INPUT;
  j->facts = (weft_study_facts){.size = sizeof j->facts};
  weft_study_describe(j->study, &j->facts);
  j->directory = j->arguments->directory == NULL ? j->facts.directory : j->arguments->directory;
  if (!j->arguments->plan) return cli_may_write(j->arguments->csv) ? study(j) : CLI_BAD_INPUT;
  plan(&j->facts);
  return CLI_OK;
}

cli_exit cli_study(int argc, char **argv) {
  study_arguments arguments = {.jobs = UINT64_MAX};
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
  if (arguments.jobs != UINT64_MAX && (arguments.jobs < 1 || arguments.jobs > JOBS_MAX)) {
    fprintf(stderr, "weft: error: --jobs must be from 1 to %d\n", JOBS_MAX);
    return CLI_USAGE;
  }
  job j = {.common = &common, .arguments = &arguments, .session = weft_session_create()};
  code = load_and_study(&j, argv[0]);
  weft_study_destroy(j.study);
  weft_session_destroy(j.session);
  return code;
}
