// SPDX-License-Identifier: Apache-2.0
// `weft sweep`: measures the points of a sweep into a store.
//
// Started by mpirun or srun, rank 0 owns the store and the other ranks work for it.
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/sweep_progress.h"

enum { NOTE_SECONDS = 5, JOBS_MAX = 1024 };

typedef struct sweep_arguments {
  const char *store, *fidelity;
  uint64_t jobs;  // UINT64_MAX: not given
  bool any_version, extend, plan;
} sweep_arguments;

typedef struct job {
  const cli_common *common;
  const sweep_arguments *arguments;
  weft_session *session;
  weft_ranks *ranks;
  weft_plan *plan;
  weft_plan_facts facts;
  cli_line line;
  uint32_t jobs;  // 0: one per processor, of a launched sweep none
} job;

// ---- sweep

static bool show(void *context, const weft_progress *p) {
  job *j = context;
  cli_sweep_progress(&j->line, "", p);
  if (p->done == p->total) cli_line_end(&j->line, true);
  return !cli_interrupted();
}

static const char *store_of(const job *j) { return j->arguments->store == NULL ? j->facts.store : j->arguments->store; }

static cJSON *json_of(const job *j, const weft_sweep_result *r) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "store", store_of(j));
  cJSON_AddStringToObject(object, "engine", j->facts.engine);
  cJSON_AddBoolToObject(object, "finished", r->finished);
  wf_json_count(object, "measurements", r->measurements);
  wf_json_count(object, "done", r->done);
  wf_json_count(object, "measured_now", r->fresh);
  wf_json_count(object, "failed_now", r->failed);
  wf_json_count(object, "without_run", r->without_run);
  wf_json_count(object, "without_compiling", r->without_compiling);
  cJSON_AddNumberToObject(object, "compile_seconds", r->compile_seconds);
  cJSON_AddNumberToObject(object, "simulate_seconds", r->simulate_seconds);
  cJSON_AddNumberToObject(object, "seconds", r->seconds);
  return object;
}

static void print_end(const job *j, const weft_sweep_result *r) {
  char path[CLI_NAME];
  printf("%s: %" PRIu64 " measurements by engine %s, %" PRIu64 " of them now in %.1f s, %" PRIu64 " of those failed\n",
         cli_shown(store_of(j), path), r->measurements, j->facts.engine, r->fresh, r->seconds, r->failed);
  if (r->fresh == 0) return;
  printf("  processors: %.1f s compiling, %" PRIu64 " programs were there; %.1f s running, %" PRIu64
         " runs were known\n",
         r->compile_seconds, r->without_compiling, r->simulate_seconds, r->without_run);
}

static void plan(const weft_plan_facts *facts) {
  printf("%s: %" PRIu64 " points, %" PRIu64 " networks, %" PRIu64 " layers and programs\n", facts->name, facts->points,
         facts->networks, facts->layers);
}

static weft_status measure(job *j, weft_sweep_result *result) {
  const weft_sweep_options options = {.size = sizeof options,
                                      .store = store_of(j),
                                      .jobs = j->jobs,
                                      .any_version = j->arguments->any_version,
                                      .extend = j->arguments->extend,
                                      .ranks = j->ranks};
  j->line = cli_line_begin(j->common, 0, NOTE_SECONDS);
  cli_interrupt_cancels(j->session);  // before the store is there: who sees it may interrupt
  weft_session_watch(j->session, show, j);
  const weft_status status = weft_plan_run(j->session, j->plan, &options, result);
  cli_interrupt_ends();
  weft_session_watch(j->session, NULL, NULL);
  cli_line_end(&j->line, true);
  cli_sweep_messages(j->session);
  return status;
}

static cli_exit sweep(job *j) {
  weft_sweep_result result = {.size = sizeof result};
  const weft_status status = measure(j, &result);
  if (!result.opened) return CLI_BAD_INPUT;
  const cli_exit code = cli_put_json(j->common, j->common->json == NULL ? NULL : json_of(j, &result));
  if (result.finished && cli_prints(j->common)) print_end(j, &result);
  return result.finished ? code : status == WEFT_CANCELLED ? CLI_LIMIT : CLI_BAD_INPUT;
}

// ---- the verb

// A rank other than the first works until rank 0 has nothing more.
static cli_exit serve(const job *j) {
  signal(SIGINT, SIG_IGN);
  weft_ranks_serve(j->session, j->ranks, j->plan);
  return cli_messages(j->session) ? CLI_OK : CLI_BAD_INPUT;
}

static cli_exit load_and_run(job *j, const char *specification, bool serves) {
  j->plan = weft_plan_load(j->session, specification, j->arguments->fidelity);
  if (!cli_messages(j->session)) return CLI_BAD_INPUT;
  if (serves) return serve(j);
  j->facts = (weft_plan_facts){.size = sizeof j->facts};
  weft_plan_describe(j->plan, &j->facts);
  if (!j->arguments->plan) return sweep(j);
  plan(&j->facts);
  return CLI_OK;
}

static cli_exit join_and_run(job *j, const char *specification) {
  weft_ranks_facts ranks = {.size = sizeof ranks};
  j->ranks = weft_ranks_join(j->session);
  if (!cli_messages(j->session)) return CLI_BAD_INPUT;
  weft_ranks_describe(j->ranks, &ranks);
  const uint64_t jobs = j->arguments->jobs;
  if (jobs != UINT64_MAX && (jobs > JOBS_MAX || (jobs == 0 && !ranks.launched))) {
    fprintf(stderr, "weft: error: --jobs must be from 1 to %d\n", JOBS_MAX);
    return CLI_USAGE;
  }
  j->jobs = jobs != UINT64_MAX ? (uint32_t)jobs : ranks.launched ? 1 : 0;
  return load_and_run(j, specification, ranks.launched && ranks.rank != 0);
}

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
  job j = {.common = &common, .arguments = &arguments, .session = weft_session_create()};
  code = join_and_run(&j, argv[0]);
  weft_plan_destroy(j.plan);
  weft_ranks_leave(j.ranks);
  weft_session_destroy(j.session);
  return code;
}
