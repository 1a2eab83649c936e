// See bench_simulated.h.
#include "cli/bench_simulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hw/base/alloc.h"

typedef struct entry {
  unsigned row;
  design design;  // of entries to be simulated
  bool good;
  paper_cost cost;
  paper_cost prediction;  // cycles 0: none
  double own;
  hw_array array;
  char reason[WORK_REASON];
} entry;

struct simulated {
  descent_goal goal;
  const hw_array *base;
  runs *runs;
  entry *entries;
  size_t count, room;
};

simulated *simulated_create(const descent_goal *goal, const hw_array *base, runs *shared) {
  simulated *s = WF_NEW(simulated);
  *s = (simulated){.goal = *goal, .base = base, .runs = shared};
  return s;
}

void simulated_destroy(simulated *s) {
  for (size_t i = 0; i < s->count; i++) design_release(&s->entries[i].design);
  wf_free(s->entries);
  wf_free(s);
}

static entry *add(simulated *s, unsigned row) {
  if (s->count == s->room) {
    s->room = s->room == 0 ? 64 : 2 * s->room;
    s->entries = wf_realloc(s->entries, s->room, sizeof *s->entries);
  }
  entry *e = &s->entries[s->count++];
  *e = (entry){.row = row};
  return e;
}

void simulated_add(simulated *s, unsigned row, const baseline_result *found, bool keeps_array) {
  enum { MAPPINGS_TRIED = 16 };
  entry *e = add(s, row);
  if (found->mappings == NULL)
    snprintf(e->reason, sizeof e->reason, "nothing was found");
  else if (!design_create(&s->goal, s->base, keeps_array ? NULL : &found->hardware, found->mappings, MAPPINGS_TRIED,
                          &e->design))
    snprintf(e->reason, sizeof e->reason, "the array cannot be built");
  e->array = e->design.array;
  e->prediction = e->design.predicted ? e->design.prediction : (paper_cost){0};
  e->own = (double)e->design.own / (double)s->goal.network->count;
}

static void take(entry *e, const runs_network *run) {
  e->good = run->good;
  e->cost = run->cost;
  if (!run->good) snprintf(e->reason, sizeof e->reason, "%s: %.400s", run->failed, run->reason);
}

void simulated_run(simulated *s) {
  const size_t layers = s->goal.network->count;
  runs_network *list = WF_NEW_ARRAY(s->count + 1, runs_network);
  work_result *results = wf_calloc(s->count * layers + 1, sizeof *results);
  entry **of = WF_NEW_ARRAY(s->count + 1, entry *);
  size_t count = 0;
  for (size_t i = 0; i < s->count; i++) {
    entry *e = &s->entries[i];
    if (e->design.mappings == NULL) continue;
    list[count] = (runs_network){.array = e->array,
                                 .mappings = e->design.mappings,
                                 .mapped = e->design.mapped,
                                 .layers = &results[count * layers]};
    of[count++] = e;
  }
  runs_measure(s->runs, s->goal.network, 0, list, count);
  for (size_t i = 0; i < count; i++) {
    take(of[i], &list[i]);
    design_release(&of[i]->design);
  }
  wf_free(list);
  wf_free(results);
  wf_free(of);
}

void simulated_tune(simulated *s, unsigned row, unsigned tune) {
  entry *e = add(s, row);
  e->array = *s->base;
  runs_network run = {.array = *s->base, .layers = wf_calloc(s->goal.network->count, sizeof *run.layers)};
  runs_measure(s->runs, s->goal.network, tune, &run, 1);
  take(e, &run);
  wf_free(run.layers);
}

static void take_candidate(simulated *s, unsigned row, const truth_candidate *c) {
  entry *e = add(s, row);
  e->array = c->array;
  e->good = c->good;
  e->cost = (paper_cost){.cycles = c->cycles, .energy_uj = c->energy_uj};
  snprintf(e->reason, sizeof e->reason, "%s", c->reason);
}

void simulated_search(simulated *s, unsigned first_row, unsigned best_row, unsigned candidates, uint64_t seed) {
  wf_diag silent = wf_diag_to(NULL);
  const truth_options options = {
      .goal = s->goal, .base = s->base, .machine = true, .seed = seed, .candidates = candidates, .runs = s->runs};
  truth_result found;
  if (truth_search(&options, &found, &silent) && found.count > 1) {
    take_candidate(s, first_row, &found.candidates[1]);
    take_candidate(s, best_row, &found.candidates[found.best]);
  } else {
    snprintf(add(s, first_row)->reason, WORK_REASON, "the first array cannot run all layers");
    snprintf(add(s, best_row)->reason, WORK_REASON, "the first array cannot run all layers");
  }
  truth_release(&found);
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

simulated_row simulated_row_of(const simulated *s, unsigned row) {
  simulated_row r = {.least = INFINITY, .median = NAN, .most = NAN};
  double *values = WF_NEW_ARRAY(s->count + 1, double);
  size_t all = 0, predicted = 0;
  for (size_t i = 0; i < s->count; i++) {
    const entry *e = &s->entries[i];
    if (e->row != row) continue;
    all++;
    r.own += e->own;
    if (!e->good) {
      if (r.reason[0] == '\0') snprintf(r.reason, sizeof r.reason, "%s", e->reason);
      continue;
    }
    const double value = paper_edp(e->cost);
    values[r.count++] = value;
    if (e->prediction.cycles > 0) r.error += fabs(paper_edp(e->prediction) / value - 1), predicted++;
    if (value >= r.least) continue;
    r.least = value;
    r.hardware = (paper_hardware){.side = hw_derive(&e->array).dim,
                                  .scratchpad_kib = e->array.scratchpad.capacity_kib,
                                  .accumulator_kib = e->array.accumulator.capacity_kib};
  }
  qsort(values, r.count, sizeof *values, by_size);
  if (r.count > 0) {
    r.median = (values[r.count / 2] + values[(r.count - 1) / 2]) / 2;
    r.most = values[r.count - 1];
  }
  if (all > 0) r.own /= (double)all;
  if (predicted > 0) r.error /= (double)predicted;
  wf_free(values);
  return r;
}
