// SPDX-License-Identifier: Apache-2.0
// See learn_samples.h. Each group has a seed of its own, so it does not matter which thread draws it.
#include "bench/learn_samples.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/tasks.h"
#include "runner/measure.h"

typedef struct collector {
  const bench_learn_request *request;
  const samples_source *source;
  learn_row *rows;          // by group, `mappings` places each
  size_t *counts, *failed;  // of each group
  pthread_mutex_t lock;
  size_t done;
  wf_progress progress;
} collector;

static bool simulate(const samples_sample *s, run_fidelity engine, double *cycles) {
  wf_diag silent = wf_diag_to(NULL);
  const run_measure_request request = {
      .layer = &s->layer, .array = &s->array, .policy = {.mapping = &s->mapping}, .fidelity = engine};
  const run_measured m = run_measure(&request, &silent);
  *cycles = (double)m.cycles;
  return m.status == RUN_MEASURE_GOOD;
}

static void collect_group(void *context, size_t group) {
  collector *c = context;
  const bench_learn_request *r = c->request;
  samples_source source = *c->source;
  source.seed = wf_random_mix(r->seed * UINT64_C(1000003) + group);
  samples_sample *family = WF_NEW_ARRAY(r->mappings, samples_sample);
  const size_t count = samples_draw_family(&source, family, r->mappings);
  learn_row *rows = &c->rows[group * r->mappings];
  for (size_t i = 0; i < count; i++) {
    const samples_sample *s = &family[i];
    double cycles;
    if (!simulate(s, r->engine, &cycles)) {
      c->failed[group]++;
      continue;
    }
    rows[c->counts[group]++] = learn_row_of(&s->layer, &s->mapping, &s->array, cycles, (uint32_t)group);
  }
  wf_free(family);
  pthread_mutex_lock(&c->lock);
  c->done++;
  if (wf_progress_due(&c->progress))
    wf_progress_line(&c->progress, "simulating, %zu of %zu groups", c->done, r->groups);
  pthread_mutex_unlock(&c->lock);
}

bool bench_learn_collect(const bench_learn_request *request, learn_set *set, size_t *failed, wf_diag *diag) {
  samples_source source;
  *set = (learn_set){0};
  if (!samples_open(&source, request->of, request->seed, diag)) {
    samples_close(&source);
    return false;
  }
  collector c = {.request = request,
                 .source = &source,
                 .rows = WF_NEW_ARRAY(request->groups * request->mappings + 1, learn_row),
                 .counts = WF_NEW_ARRAY(request->groups + 1, size_t),
                 .failed = WF_NEW_ARRAY(request->groups + 1, size_t),
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .progress = wf_progress_begin(request->quiet, 0.2, 20)};
  wf_run_tasks(request->groups, 0, collect_group, &c);
  wf_progress_end(&c.progress, false);
  for (size_t g = 0; g < request->groups; g++) {
    memmove(&c.rows[set->count], &c.rows[g * request->mappings], c.counts[g] * sizeof *c.rows);
    set->count += c.counts[g];
    *failed += c.failed[g];
  }
  set->rows = c.rows;
  wf_free(c.counts);
  wf_free(c.failed);
  pthread_mutex_destroy(&c.lock);
  samples_close(&source);
  return true;
}
