// SPDX-License-Identifier: Apache-2.0
// `weft sweep`: measures the points of a sweep into a store; `weft query`: asks a store.
//
// Started by mpirun or srun, rank 0 owns the store and the other ranks work for it.
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/csv.h"
#include "base/name.h"
#include "base/progress.h"
#include "base/tasks.h"
#include "cli/cli.h"
#include "cli/sweep_fronts.h"
#include "search/sweep/query.h"
#include "search/sweep/remote.h"
#include "search/sweep/sweep.h"
#include "weft_version.h"

enum { NOTE_SECONDS = 5, JOBS_MAX = 1024 };

typedef struct sweep_arguments {
  const char *store, *fidelity;
  uint64_t jobs;
  bool any_version, plan;
} sweep_arguments;

typedef struct shown {
  wf_progress line;
  const sweep_remote_group *group;
} shown;

static wf_stop interrupted;
static void interrupt(int number) {
  (void)number;
  wf_stop_set(&interrupted, true);
  signal(number, SIG_DFL);  // a second one ends at once
}

// ---- progress

static void write_duration(double seconds, char text[32]) {
  const unsigned long whole = (unsigned long)seconds;
  if (whole < 3600) {
    snprintf(text, 32, "%lu:%02lu", whole / 60, whole % 60);
  } else {
    snprintf(text, 32, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
  }
}

static void show(void *context, const sweep_progress *p) {
  shown *s = context;
  const bool end = p->done == p->total;
  if (!end && !wf_progress_due(&s->line)) return;
  char left[32] = "-";
  const double rate = p->seconds > 0 ? (double)p->fresh / p->seconds : 0;
  if (rate > 0) write_duration((double)(p->total - p->done) / rate, left);
  wf_progress_line(
      &s->line, "%" PRIu64 " of %" PRIu64 " (%.1f %%), %" PRIu64 " failed, %.1f/s with %u workers, %s left", p->done,
      p->total, p->total == 0 ? 100 : 100.0 * (double)p->done / (double)p->total, p->failed, rate, p->workers, left);
  if (end) wf_progress_end(&s->line, true);
}

static int join(void *context) {
  const shown *s = context;
  return sweep_remote_accept(s->group);
}

// ---- sweep

static cli_exit write_json(const cli_common *common, const char *store_path, run_fidelity fidelity,
                           const sweep_progress *p, sweep_outcome outcome, wf_diag *diag) {
  if (common->json == NULL) return CLI_OK;
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "store", store_path);
  cJSON_AddStringToObject(object, "engine", run_fidelity_names[fidelity]);
  cJSON_AddBoolToObject(object, "finished", outcome == SWEEP_FINISHED);
  cli_json_count(object, "measurements", p->total);
  cli_json_count(object, "done", p->done);
  cli_json_count(object, "measured_now", p->fresh);
  cli_json_count(object, "failed_now", p->failed);
  cli_json_count(object, "without_run", p->spared);
  cli_json_count(object, "without_compiling", p->shared);
  cJSON_AddNumberToObject(object, "compile_seconds", p->compile_seconds);
  cJSON_AddNumberToObject(object, "simulate_seconds", p->simulate_seconds);
  cJSON_AddNumberToObject(object, "seconds", p->seconds);
  return cli_write_json(common->json, object, diag) ? CLI_OK : CLI_BAD_INPUT;
}

static void print_end(const char *path, const sweep_spec *spec, const sweep_progress *p) {
  printf("%s: %" PRIu64 " measurements by engine %s, %" PRIu64 " of them now in %.1f s, %" PRIu64 " of those failed\n",
         path, p->total, run_fidelity_names[spec->fidelity], p->fresh, p->seconds, p->failed);
  if (p->fresh == 0) return;
  printf("  processors: %.1f s compiling, %" PRIu64 " programs were there; %.1f s running, %" PRIu64
         " runs were known\n",
         p->compile_seconds, p->shared, p->simulate_seconds, p->spared);
}

static void plan(const sweep_spec *spec) {
  size_t layers = spec->program_count;
  for (size_t n = 0; n < spec->network_count; n++) layers += spec->networks[n].count;
  char name[WF_NAME_LINE];
  printf("%s: %zu points, %zu networks, %zu layers and programs\n", wf_name_shown(spec->name, name),
         sweep_point_count(spec), spec->network_count + spec->program_count, layers);
}

static cli_exit sweep(const cli_common *common, const sweep_arguments *arguments, const sweep_spec *spec,
                      const sweep_remote_group *group, wf_diag *diag) {
  shown s = {.line = wf_progress_begin(common->quiet, 0, NOTE_SECONDS), .group = group};
  char *name = wf_name_file(spec->name), shown_path[WF_NAME_LINE];
  char *path = arguments->store == NULL ? wf_format("%s.sqlite", name) : wf_strdup(arguments->store);
  signal(SIGINT, interrupt);  // before the store is there: who sees it may interrupt
  signal(SIGTERM, interrupt);
  sweep_store *file = sweep_store_open(path, spec, WEFT_GIT_VERSION, arguments->any_version, diag);
  cli_exit code = CLI_BAD_INPUT;
  if (file != NULL) {
    const sweep_options options = {.version = WEFT_GIT_VERSION,
                                   .fidelity = spec->fidelity,
                                   .jobs = (unsigned)arguments->jobs,
                                   .stop = &interrupted,
                                   .progress = show,
                                   .join_socket = group->launched ? group->socket : -1,
                                   .join = join,
                                   .context = &s};
    sweep_progress progress = {0};
    const sweep_outcome outcome = sweep_run(spec, file, &options, &progress, diag);
    sweep_store_close(file);
    wf_progress_end(&s.line, true);
    if (outcome == SWEEP_STOPPED) fprintf(stderr, "weft: stopped; the same command goes on from here\n");
    code = write_json(common, path, spec->fidelity, &progress, outcome, diag);
    if (outcome != SWEEP_FINISHED) code = CLI_LIMIT;
    if (outcome == SWEEP_FAILED) code = CLI_BAD_INPUT;
    if (!common->quiet && outcome == SWEEP_FINISHED) print_end(wf_name_shown(path, shown_path), spec, &progress);
  }
  wf_free(path);
  wf_free(name);
  return code;
}

// A rank other than the first works until rank 0 has nothing more.
static cli_exit serve(const sweep_spec *spec, const sweep_remote_group *group) {
  signal(SIGINT, SIG_IGN);
  const sweep_work_context context = {spec->programs, spec->program_count, spec->tech};
  sweep_pool_serve(group->socket, spec->timeout, sweep_work_measure, &context);
  return CLI_OK;
}

static uint64_t default_jobs(const sweep_remote_group *group) { return group->launched ? 1 : wf_processors(); }

static const wf_option sweep_rows[] = {
    {"o", WF_TEXT(sweep_arguments, store), "FILE", "the store (default: NAME.sqlite); an existing one is gone on with"},
    {"jobs", WF_COUNT(sweep_arguments, jobs), "N",
     "processes that measure (default: one per processor; 1 per rank under mpirun or srun)"},
    {"fidelity", WF_TEXT(sweep_arguments, fidelity), "NAME",
     "the engine that measures: cycle, or flow, a percent or so off and some times as fast (default: what the text "
     "says); rows of both stand in one store"},
    {"any-version", WF_FLAG(sweep_arguments, any_version), NULL, "go on with a store that another version began"},
    {"plan", WF_FLAG(sweep_arguments, plan), NULL, "print how many points there are, measure nothing"},
};

cli_exit cli_sweep(int argc, char **argv) {
  sweep_arguments arguments = {.jobs = UINT64_MAX};
  static const cli_usage usage = {.verb = "sweep",
                                  .synopsis = "SPEC.yaml",
                                  .text =
                                      "Times networks, step by step, on every array of a sweep (docs/sweeps.md).\n"
                                      "It may be interrupted at any time: the same command goes on where it ended.",
                                  .options = {CLI_OPTIONS(sweep_rows, 0)},
                                  .min_arguments = 1,
                                  .max_arguments = 1};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &arguments, &argc, argv, &common, &code)) return code;
  wf_diag diag = wf_diag_to(stderr);
  sweep_remote_group group;
  sweep_spec spec;
  if (!sweep_remote_join(&group, WEFT_GIT_VERSION, &diag)) return CLI_BAD_INPUT;
  if (arguments.jobs == UINT64_MAX) arguments.jobs = default_jobs(&group);
  if (arguments.jobs > JOBS_MAX || (arguments.jobs == 0 && !group.launched)) {
    fprintf(stderr, "weft: error: --jobs must be from 1 to %d\n", JOBS_MAX);
    return CLI_USAGE;
  }
  code = CLI_BAD_INPUT;
  bool good = sweep_spec_load(&spec, argv[0], &diag);
  if (good && arguments.fidelity != NULL) good = run_fidelity_named(arguments.fidelity, &spec.fidelity, &diag);
  if (good) {
    if (group.launched && group.rank != 0) {
      code = serve(&spec, &group);
    } else if (arguments.plan) {
      plan(&spec);
      code = CLI_OK;
    } else {
      code = sweep(&common, &arguments, &spec, &group, &diag);
    }
  }
  sweep_spec_release(&spec);
  sweep_remote_leave(&group);
  return code;
}

// ---- query

typedef struct query_arguments {
  const char *network, *array;
  uint64_t limit;
  bool fronts;
} query_arguments;

// A line of names, or of the fields of a row.
static void write_line(const sweep_query *q, const char *text_of(const sweep_query *q, int column)) {
  for (int c = 0; c < sweep_query_columns(q); c++) {
    if (c > 0) putchar(',');
    wf_csv_field(text_of(q, c), stdout);
  }
  putchar('\n');
}

static cJSON *json_row(const sweep_query *q) {
  cJSON *row = cJSON_CreateObject();
  for (int c = 0; c < sweep_query_columns(q); c++) {
    const sweep_query_kind kind = sweep_query_kind_of(q, c);
    if (kind == QUERY_NULL) {
      cJSON_AddNullToObject(row, sweep_query_name(q, c));
    } else if (kind == QUERY_TEXT) {
      cJSON_AddStringToObject(row, sweep_query_name(q, c), sweep_query_text(q, c));
    } else if (kind == QUERY_INTEGER) {
      cli_json_integer(row, sweep_query_name(q, c), sweep_query_integer(q, c));
    } else {
      cJSON_AddNumberToObject(row, sweep_query_name(q, c), sweep_query_number(q, c));
    }
  }
  return row;
}

// The description of the first row's array, for `weft rtl`, `weft compile` and every other verb.
static bool write_array(const char *path, const char *hash, const char *out_path, wf_diag *diag) {
  if (hash[strspn(hash, "0123456789abcdef")] != '\0') {
    wf_error(diag, wf_in_file(path), "array '%s' is no hash", hash);
    return false;
  }
  char *text = wf_format("SELECT yaml FROM array WHERE hash = '%s'", hash);
  sweep_query *q = sweep_query_open(path, text, NULL, 0, diag);
  wf_free(text);
  if (q == NULL) return false;
  bool good = sweep_query_next(q, diag);
  FILE *out = good ? cli_open_output(out_path, diag) : NULL;
  if (!good) wf_error(diag, wf_in_file(path), "has no array %s", hash);
  if (out != NULL) fputs(sweep_query_text(q, 0), out);
  good = out != NULL && cli_close(out, out_path, diag);
  sweep_query_close(q);
  return good;
}

static cli_exit run_query(const cli_common *common, const query_arguments *arguments, const char *path,
                          const char *text, wf_diag *diag) {
  if (!cli_check_output(arguments->array, diag)) return CLI_BAD_INPUT;
  sweep_query *q = sweep_query_open(path, text, arguments->network, arguments->limit, diag);
  if (q == NULL) return CLI_BAD_INPUT;
  cJSON *rows = common->json == NULL ? NULL : cJSON_CreateArray();
  char hash[32] = "";
  const int array = sweep_query_find(q, "array");
  uint64_t count = 0;
  for (; (arguments->limit == 0 || count < arguments->limit) && sweep_query_next(q, diag); count++) {
    const bool any = count > 0;
    if (!any && rows == NULL) write_line(q, sweep_query_name);
    if (!any && array >= 0) snprintf(hash, sizeof hash, "%s", sweep_query_text(q, array));
    if (rows == NULL) {
      write_line(q, sweep_query_text);
    } else {
      cJSON_AddItemToArray(rows, json_row(q));
    }
  }
  sweep_query_close(q);
  const bool any = count > 0;
  bool good = diag->errors == 0;
  if (rows != NULL) good = cli_write_json(common->json, rows, diag) && good;
  if (good && !any) fprintf(stderr, "weft: no point is like this\n");
  if (good && any && arguments->array != NULL) good = write_array(path, hash, arguments->array, diag);
  return !good ? CLI_BAD_INPUT : any ? CLI_OK : CLI_CANNOT_BUILD;
}

static const wf_option query_rows[] = {
    {"network", WF_TEXT(query_arguments, network), "NAME", "only rows of this network"},
    {"limit", WF_COUNT(query_arguments, limit), "N", "at most N rows"},
    {"fronts", WF_FLAG(query_arguments, fronts), NULL,
     "the points on the fronts of the engines cycle and flow, and how far they are apart"},
    {"write-array", WF_TEXT(query_arguments, array), "FILE.yaml", "write the array of the first row"},
};

cli_exit cli_query(int argc, char **argv) {
  query_arguments arguments = {0};
  static const cli_usage usage = {
      .verb = "query",
      .synopsis = "STORE [CONDITION]",
      .text =
          "Prints the points of a sweep for which a condition holds, as CSV or JSON:\n"
          "  weft query s.sqlite \"cycles < 20e6 and dim <= 16 order by edp\" --limit 1\n"
          "A text that begins with SELECT is a statement of its own (docs/sweeps.md has the tables).",
      .options = {CLI_OPTIONS(query_rows, 0)},
      .min_arguments = 1,
      .max_arguments = 2};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &arguments, &argc, argv, &common, &code)) return code;
  wf_diag diag = wf_diag_to(stderr);
  if (arguments.fronts) return cli_sweep_fronts(&common, argv[0], arguments.network, &diag);
  return run_query(&common, &arguments, argv[0], argc > 1 ? argv[1] : "", &diag);
}
