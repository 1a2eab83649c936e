// SPDX-License-Identifier: Apache-2.0
// Sweeps: what is to be measured, and who measures it. See weft.h.
#include <inttypes.h>
#include <stdio.h>

#include "api/private.h"
#include "base/alloc.h"
#include "base/name.h"
#include "base/tasks.h"
#include "search/sweep/remote.h"
#include "search/sweep/sweep.h"
#include "weft_version.h"

enum { JOBS_MAX = 1024 };

struct weft_plan {
  char *path;  // the specification points to it
  sweep_spec spec;
};

struct weft_ranks {
  sweep_remote_group group;
};

// ---- specifications

static bool load(weft_plan *plan, const char *path, const char *engine, wf_diag *diag) {
  plan->path = wf_strdup(path);
  return sweep_spec_load(&plan->spec, plan->path, diag) &&
         (engine == NULL || run_fidelity_named(engine, &plan->spec.fidelity, diag));
}

weft_plan *weft_plan_load(weft_session *s, const char *specification, const char *engine) {
  if (!api_begin(s, "sweep") || !api_given(s, specification, "the specification")) return NULL;
  weft_plan *plan = WF_NEW(weft_plan);
  if (api_end(s, load(plan, specification, engine, &s->diag), WEFT_BAD_INPUT) == WEFT_OK) return plan;
  weft_plan_destroy(plan);
  return NULL;
}

void weft_plan_destroy(weft_plan *plan) {
  if (plan == NULL) return;
  sweep_spec_release(&plan->spec);
  wf_free(plan->path);
  wf_free(plan);
}

static char *store_of(const sweep_spec *spec) {
  char *file = wf_name_file(spec->name), *store = wf_format("%s.sqlite", file);
  wf_free(file);
  return store;
}

weft_status weft_plan_describe(const weft_plan *plan, weft_plan_facts *facts) {
  if (plan == NULL) return WEFT_USAGE;
  const sweep_spec *spec = &plan->spec;
  weft_plan_facts full = {.engine = run_fidelity_names[spec->fidelity],
                          .points = sweep_point_count(spec),
                          .networks = spec->network_count + spec->program_count,
                          .layers = spec->program_count};
  for (size_t n = 0; n < spec->network_count; n++) full.layers += spec->networks[n].count;
  char *store = store_of(spec);
  wf_name_shown(spec->name, full.name);
  snprintf(full.store, sizeof full.store, "%s", store);
  wf_free(store);
  return api_give(&full, sizeof full, facts);
}

// ---- measuring

typedef struct measuring {
  weft_session *session;
  const sweep_remote_group *group;  // NULL: this process is alone
} measuring;

static void tell(void *context, const sweep_progress *p) {
  const measuring *m = context;
  char text[64];
  snprintf(text, sizeof text, "%" PRIu64 " failed, %u workers", p->failed, p->workers);
  const weft_progress progress = {.done = p->done,
                                  .total = p->total,
                                  .seconds = p->seconds,
                                  .text = text,
                                  .fresh = p->fresh,
                                  .failed = p->failed,
                                  .workers = p->workers};
  api_progress_of(m->session, &progress);
}

static int join(void *context) {
  const measuring *m = context;
  return sweep_remote_accept(m->group);
}

static unsigned jobs_of(const weft_sweep_options *o, bool launched) {
  return o->jobs == 0 && !launched ? wf_processors() : o->jobs;
}

static sweep_outcome measure(weft_session *s, const sweep_spec *spec, sweep_store *store, const weft_sweep_options *o,
                             sweep_progress *progress) {
  const bool launched = o->ranks != NULL && o->ranks->group.launched;
  measuring m = {s, launched ? &o->ranks->group : NULL};
  const sweep_options options = {.version = WEFT_GIT_VERSION,
                                 .fidelity = spec->fidelity,
                                 .jobs = jobs_of(o, launched),
                                 .stop = &s->stop,
                                 .progress = tell,
                                 .join_socket = launched ? m.group->socket : -1,
                                 .join = join,
                                 .context = &m};
  return sweep_run(spec, store, &options, progress, &s->diag);
}

static unsigned store_flags(const weft_sweep_options *o) {
  return (o->any_version ? SWEEP_STORE_ANY_VERSION : 0u) | (o->extend ? SWEEP_STORE_EXTEND : 0u);
}

// False of the result: it was not finished.
static bool run(weft_session *s, const sweep_spec *spec, const weft_sweep_options *o, weft_sweep_result *result) {
  char *path = o->store != NULL ? wf_strdup(o->store) : store_of(spec);
  sweep_store *store = sweep_store_open(path, spec, WEFT_GIT_VERSION, store_flags(o), &s->diag);
  wf_free(path);
  if (store == NULL) return false;
  sweep_progress p = {0};
  const sweep_outcome outcome = measure(s, spec, store, o, &p);
  sweep_store_close(store);
  *result = (weft_sweep_result){.measurements = p.total,
                                .done = p.done,
                                .fresh = p.fresh,
                                .failed = p.failed,
                                .seconds = p.seconds,
                                .finished = outcome == SWEEP_FINISHED,
                                .opened = true,
                                .without_run = p.spared,
                                .without_compiling = p.shared,
                                .compile_seconds = p.compile_seconds,
                                .simulate_seconds = p.simulate_seconds};
  return outcome == SWEEP_FINISHED;
}

// Hands the result over; a caller's that has no size is an error of its own.
static weft_status give(weft_session *s, weft_status status, const weft_sweep_result *full, weft_sweep_result *result) {
  if (result == NULL || api_give(full, sizeof *full, result) == WEFT_OK) return status;
  api_begin(s, "sweep");
  return api_refuse(s, "the result has no size: set it to sizeof");
}

static bool take(weft_session *s, const weft_sweep_options *options, weft_sweep_options *o) {
  if (!api_take(s, options, o, sizeof *o)) return false;
  if (o->jobs > JOBS_MAX) api_refuse(s, "jobs are at most %d", JOBS_MAX);
  return o->jobs <= JOBS_MAX;
}

weft_status weft_plan_run(weft_session *s, const weft_plan *plan, const weft_sweep_options *options,
                          weft_sweep_result *result) {
  weft_sweep_options o = {0};
  weft_sweep_result full = {0};
  if (!api_begin(s, "sweep") || !api_given(s, plan, "the plan") || !take(s, options, &o)) return WEFT_USAGE;
  const bool good = run(s, &plan->spec, &o, &full);
  return give(s, api_end(s, good, WEFT_BAD_INPUT), &full, result);
}

weft_status weft_sweep(weft_session *s, const char *specification, const weft_sweep_options *options,
                       weft_sweep_result *result) {
  weft_sweep_options o = {0};
  weft_sweep_result full = {0};
  weft_plan plan = {0};
  if (!api_begin(s, "sweep") || !api_given(s, specification, "the specification") || !take(s, options, &o))
    return WEFT_USAGE;
  const bool good = load(&plan, specification, o.engine, &s->diag) && run(s, &plan.spec, &o, &full);
  const weft_status status = api_end(s, good, WEFT_BAD_INPUT);
  sweep_spec_release(&plan.spec);
  wf_free(plan.path);
  return give(s, status, &full, result);
}

// ---- several processes

weft_ranks *weft_ranks_join(weft_session *s) {
  if (!api_begin(s, "ranks")) return NULL;
  weft_ranks *ranks = WF_NEW(weft_ranks);
  if (api_end(s, sweep_remote_join(&ranks->group, WEFT_GIT_VERSION, &s->diag), WEFT_BAD_INPUT) == WEFT_OK) return ranks;
  wf_free(ranks);
  return NULL;
}

void weft_ranks_leave(weft_ranks *ranks) {
  if (ranks == NULL) return;
  sweep_remote_leave(&ranks->group);
  wf_free(ranks);
}

weft_status weft_ranks_describe(const weft_ranks *ranks, weft_ranks_facts *facts) {
  if (ranks == NULL) return WEFT_USAGE;
  const weft_ranks_facts full = {
      .launched = ranks->group.launched, .rank = (uint32_t)ranks->group.rank, .ranks = (uint32_t)ranks->group.ranks};
  return api_give(&full, sizeof full, facts);
}

weft_status weft_ranks_serve(weft_session *s, const weft_ranks *ranks, const weft_plan *plan) {
  if (!api_begin(s, "ranks") || !api_given(s, ranks, "the ranks") || !api_given(s, plan, "the plan")) return WEFT_USAGE;
  if (!ranks->group.launched || ranks->group.rank == 0)
    return api_refuse(s, "rank 0 is the one that the other ranks serve");
  const sweep_spec *spec = &plan->spec;
  const sweep_work_context context = {spec->programs, spec->program_count, spec->tech};
  sweep_pool_serve(ranks->group.socket, spec->timeout, sweep_work_measure, &context);
  return api_end(s, true, WEFT_OK);
}
