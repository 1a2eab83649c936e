// SPDX-License-Identifier: Apache-2.0
// What methods of search propose, simulated: see simulated.h.
#include "bench/simulated.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/statistics.h"

typedef struct entry {
  unsigned row;
  bool good;
  paper_cost cost;
  double first;      // uJ x cycles of the first simulation
  double predicted;  // ... as the model of the machine predicted them; 0: it did not
  double own;
  hw_array array;
  char reason[WORK_REASON];
} entry;

struct bench_simulated {
  descent_goal goal;
  bench_simulated_means means;
  entry *entries;
  size_t count, room;
};

bench_simulated *bench_simulated_create(const descent_goal *goal, const bench_simulated_means *means) {
  bench_simulated *s = WF_NEW(bench_simulated);
  *s = (bench_simulated){.goal = *goal, .means = *means};
  return s;
}

void bench_simulated_destroy(bench_simulated *s) {
  wf_free(s->entries);
  wf_free(s);
}

static entry *add(bench_simulated *s, unsigned row) {
  if (s->count == s->room) {
    s->room = s->room == 0 ? 64 : 2 * s->room;
    s->entries = wf_realloc(s->entries, s->room, sizeof *s->entries);
  }
  entry *e = &s->entries[s->count++];
  *e = (entry){.row = row};
  return e;
}

static void take(const bench_simulated *s, entry *e, const truth_candidate *c) {
  const size_t layers = s->goal.network->count;
  e->array = c->array;
  e->good = c->good;
  e->cost = (paper_cost){.cycles = c->cycles, .energy_uj = c->energy_uj};
  e->own = (double)truth_own_layers(c, layers) / (double)layers;
  snprintf(e->reason, sizeof e->reason, "%s", c->reason);
}

// What the first simulation came to, and what it should have.
static void take_first(entry *e, const truth_candidate *c) {
  if (c->good) e->first = c->cycles * c->energy_uj;
  e->predicted = c->predicted;
}

static truth_options options_of(const bench_simulated *s, uint64_t seed) {
  return (truth_options){.goal = s->goal,
                         .base = s->means.base,
                         .machine = true,
                         .seed = seed,
                         .jobs = s->means.jobs,
                         .model_evaluations = s->means.evaluations,
                         .candidates = s->means.simulations,
                         .runs = s->means.runs,
                         .table = s->means.table};
}

void bench_simulated_add(bench_simulated *s, unsigned row, const baseline_result *found, bool keeps_array) {
  const truth_options options = options_of(s, 0);
  entry *e = add(s, row);
  truth_result result = {0};
  if (found->mappings == NULL) {
    snprintf(e->reason, sizeof e->reason, "nothing was found");
  } else if (truth_judge(&options, keeps_array ? NULL : &found->hardware, found->mappings, &result)) {
    take(s, e, &result.candidates[result.best]);
    take_first(e, &result.candidates[0]);
  } else {
    snprintf(e->reason, sizeof e->reason, "the array cannot be built");
  }
  truth_release(&result);
}

void bench_simulated_search(bench_simulated *s, unsigned first_row, unsigned best_row, uint64_t seed) {
  wf_diag silent = wf_diag_to(NULL);
  truth_options options = options_of(s, seed);
  options.candidates++;  // the base, which no method proposed
  truth_result found;
  if (truth_search(&options, &found, &silent) && found.count > 1) {
    entry *first = add(s, first_row);
    take(s, first, &found.candidates[1]);
    take_first(first, &found.candidates[1]);
    take(s, add(s, best_row), &found.candidates[found.best]);
  } else {
    snprintf(add(s, first_row)->reason, WORK_REASON, "the first array cannot run all layers");
    snprintf(add(s, best_row)->reason, WORK_REASON, "the first array cannot run all layers");
  }
  truth_release(&found);
}

bench_simulated_row bench_simulated_row_of(const bench_simulated *s, unsigned row) {
  bench_simulated_row r = {.least = INFINITY, .median = NAN, .most = NAN};
  double *values = WF_NEW_ARRAY(s->count + 1, double);
  wf_summary own = {0}, error = {0};
  for (size_t i = 0; i < s->count; i++) {
    const entry *e = &s->entries[i];
    if (e->row != row) continue;
    wf_summary_add(&own, e->own);
    if (!e->good) {
      if (r.reason[0] == '\0') snprintf(r.reason, sizeof r.reason, "%s", e->reason);
      continue;
    }
    const double value = paper_edp(e->cost);
    values[r.count++] = value;
    if (e->predicted > 0 && e->first > 0) wf_summary_add(&error, fabs(e->predicted / e->first - 1));
    if (value >= r.least) continue;
    r.least = value;
    r.hardware = (paper_hardware){.side = hw_derive(&e->array).dim,
                                  .scratchpad_kib = e->array.scratchpad.capacity_kib,
                                  .accumulator_kib = e->array.accumulator.capacity_kib};
  }
  wf_sort(values, r.count);
  if (r.count > 0) {
    r.median = wf_median(values, r.count);
    r.most = values[r.count - 1];
  }
  r.own = wf_summary_mean(&own);
  r.error = wf_summary_mean(&error);
  wf_free(values);
  return r;
}
