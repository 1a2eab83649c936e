// SPDX-License-Identifier: Apache-2.0
// `weft sweep`: measures the points of a sweep into a store.
//
// Started by mpirun or srun, rank 0 owns the store and the other ranks work for it.
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/name.h"
#include "base/progress.h"
#include "base/tasks.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/sweep_progress.h"
#include "search/sweep/remote.h"
#include "search/sweep/sweep.h"
#include "weft_version.h"

enum { NOTE_SECONDS = 5, JOBS_MAX = 1024 };

typedef struct sweep_arguments {
  const char *store, *fidelity;
  uint64_t jobs;
  bool any_version, extend, plan;
} sweep_arguments;

typedef struct shown {
  wf_progress line;
  const sweep_remote_group *group;
} shown;

// ---- progress

static void show(void *context, const sweep_progress *p) {
  shown *s = context;
  cli_sweep_progress(&s->line, "", p);
  if (p->done == p->total) wf_progress_end(&s->line, true);
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
  const wf_stop *stop = cli_interruptible();  // before the store is there: who sees it may interrupt
  const unsigned flags =
      (arguments->any_version ? SWEEP_STORE_ANY_VERSION : 0u) | (arguments->extend ? SWEEP_STORE_EXTEND : 0u);
  sweep_store *file = sweep_store_open(path, spec, WEFT_GIT_VERSION, flags, diag);
  cli_exit code = CLI_BAD_INPUT;
  if (file != NULL) {
    const sweep_options options = {.version = WEFT_GIT_VERSION,
                                   .fidelity = spec->fidelity,
                                   .jobs = (unsigned)arguments->jobs,
                                   .stop = stop,
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
    if (cli_prints(common) && outcome == SWEEP_FINISHED) print_end(wf_name_shown(path, shown_path), spec, &progress);
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
    {"extend", WF_FLAG(sweep_arguments, extend), NULL,
     "the text has changed since: keep what was measured, measure what is new (points and networks are those of the "
     "text)"},
    {"plan", WF_FLAG(sweep_arguments, plan), NULL, "print how many points there are, measure nothing"},
};

cli_exit cli_sweep(int argc, char **argv) {
  sweep_arguments arguments = {.jobs = UINT64_MAX};
  static const cli_usage usage = {.verb = "sweep",
                                  .synopsis = "SPEC.yaml",
                                  .text =
                                      "Times networks, step by step, on every array of a sweep (docs/sweeps.md).\n"
                                      "It may be interrupted at any time: the same command goes on where it ended.",
                                  .examples =
                                      "  weft sweep sizes.yaml --plan\n"
                                      "  weft sweep sizes.yaml -o sizes.sqlite\n"
                                      "  weft sweep sizes.yaml -o sizes.sqlite --extend\n",
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
