// SPDX-License-Identifier: Apache-2.0
// The table of methods, and the short methods themselves.
#include "search/baselines/baselines.h"

#include <math.h>

#include "base/alloc.h"
#include "search/baselines/internal.h"
#include "search/descent/polish.h"

#define METHOD(identifier, name, text) [BASELINE_##identifier] = name,
const char *const baseline_names[BASELINES] = {BASELINE_METHODS(METHOD)};
#undef METHOD
#define METHOD(identifier, name, text) [BASELINE_##identifier] = text,
const char *const baseline_texts[BASELINES] = {BASELINE_METHODS(METHOD)};
#undef METHOD

static void take_state(const descent_state *s, baseline_result *result) {
  const size_t count = s->goal.network->count;
  paper_mapping *mappings = WF_NEW_ARRAY(count, paper_mapping);
  for (size_t i = 0; i < count; i++) mappings[i] = s->layers[i].mapping;
  if (isfinite(s->value)) baseline_offer(&s->goal, mappings, &s->hardware, result);
  wf_free(mappings);
}

// Improves the greedy mappings and, until the evaluations are spent, random ones; a layer takes the best of all.
static void tune(const baseline_options *o, descent_state *s) {
  enum { RESTARTS = 100 };
  const paper_hardware hardware = s->hardware;
  descent_polish_pool *pool = descent_polish_pool_create(s->goal.network);
  descent_polish_effort effort = {.pairs = true, .importance = true, .max_evaluations = o->max_evaluations};
  descent_state *again = descent_state_create(&s->goal);
  uint64_t rng = o->seed;
  descent_polish_layers(s, &effort);
  for (int n = 0; n < RESTARTS && s->evaluations < o->max_evaluations * 9 / 10; n++) {
    for (size_t i = 0; i < s->goal.network->count; i++)
      baseline_random_mapping(&s->goal.network->layers[i], &hardware, &rng, &again->layers[i].mapping);
    again->evaluations = s->evaluations;
    descent_state_refresh(again);
    descent_polish_layers(again, &effort);
    s->evaluations = again->evaluations;
    descent_polish_pool_add(pool, again);
  }
  effort.pool = pool;
  descent_polish_layers(s, &effort);
  descent_polish_pool_destroy(pool);
  descent_state_destroy(again);
}

static void default_array(const baseline_options *o, bool tuned, baseline_result *result) {
  const paper_hardware hardware = BASELINE_DEFAULT_HARDWARE;
  descent_goal goal = o->goal;
  goal.limits = (descent_plain_limits){.side_fixed = hardware.side,
                                       .scratchpad_kib_fixed = hardware.scratchpad_kib,
                                       .accumulator_kib_fixed = hardware.accumulator_kib};
  descent_state *s = descent_state_create(&goal);
  s->evaluations = 0;
  for (size_t i = 0; i < goal.network->count; i++)
    descent_greedy_mapping(&goal.network->layers[i], &hardware, &s->layers[i].mapping);
  descent_state_refresh(s);
  if (tuned) tune(o, s);
  result->evaluations = s->evaluations;
  take_state(s, result);
  descent_state_destroy(s);
}

static void by_descent(const baseline_options *o, descent_options with, baseline_result *result) {
  with.goal = o->goal;
  with.seed = o->seed;
  with.max_evaluations = o->max_evaluations;
  descent_result r;
  if (descent_search(&with, &r)) baseline_offer(&o->goal, r.mappings, &r.hardware, result);
  result->evaluations = r.gradients + r.evaluations;
  descent_release(&r);
}

void baseline_run(baseline_method method, const baseline_options *o, baseline_result *result) {
  *result = (baseline_result){.value = INFINITY};
  switch (method) {
    case BASELINE_default_heuristic:
      return default_array(o, false, result);
    case BASELINE_default_tuned:
      return default_array(o, true, result);
    case BASELINE_random:
      return baseline_random_search(o, result);
    case BASELINE_bayes:
      return baseline_bayes_search(o, result);
    case BASELINE_genetic:
      return baseline_genetic_search(o, result);
    case BASELINE_published:
      return baseline_published_search(o, result);
    case BASELINE_descent:
      return by_descent(o, (descent_options){0}, result);
    case BASELINE_descent_all_layers:
      return by_descent(o, (descent_options){.no_importance = true}, result);
    case BASELINE_descent_kept_hardware:
      return by_descent(o, (descent_options){.keep_hardware = true}, result);
    case BASELINE_descent_kept_partition:
      return by_descent(o, (descent_options){.keep_partition = true}, result);
    case BASELINE_descent_no_gradient:
      return by_descent(o, (descent_options){.no_gradient = true}, result);
    case BASELINE_descent_no_polish:
      return by_descent(o, (descent_options){.no_polish = true}, result);
    case BASELINES:
      break;
  }
}

void baseline_release(baseline_result *result) {
  wf_free(result->mappings);
  result->mappings = NULL;
}
