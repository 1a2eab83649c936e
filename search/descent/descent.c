// SPDX-License-Identifier: Apache-2.0
// See descent.h. Work is a list of tasks that threads take in order: first one for each batch of starts, then one for
// each start to be polished. Every task leaves its result in its own place; places are compared in order at the end.
#include "search/descent/descent.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/tasks.h"
#include "search/descent/greedy.h"
#include "search/descent/polish.h"

typedef struct candidate {
  descent_state *state;  // NULL: nothing legal
  double value;
  size_t number;
  bool greedy;  // it is a greedy start, or began at one
} candidate;

enum { GREEDY = 4 };

typedef struct search {
  const descent_options *options;
  descent_batch_options batch;
  descent_batch_programs programs;
  unsigned starts;
  descent_polish_pool *pool;
  uint64_t polish_evaluations;  // for each start that is polished; 0: no limit
  candidate *candidates;        // one for each lane of each batch, and behind them the greedy ones
  size_t candidate_count;
  descent_state *greedy[GREEDY];  // greedy starts, best first: also those of the first lanes
  size_t greedy_count;
  double begin;  // wf_seconds
  void (*task)(struct search *search, unsigned number);
  atomic_ullong gradients, evaluations;
} search;

static bool out_of_time(void *context) {
  const search *s = context;
  if (wf_stop_wanted(s->options->stop)) return true;
  return s->options->max_seconds > 0 && wf_seconds() - s->begin > s->options->max_seconds;
}

// ---- threads

static void run_task(void *context, size_t number) {
  search *s = context;
  s->task(s, (unsigned)number);
}

static void run_tasks(search *s, unsigned count, void (*task)(search *, unsigned)) {
  s->task = task;
  wf_run_tasks(count, s->options->threads, run_task, s);
}

// ---- descent

// Rounds a lane, chooses orders, and keeps the result if it is better than what the lane had.
static void judge_lane(search *s, const descent_batch *b, size_t lane, descent_state *scratch, candidate *kept) {
  static const descent_polish_effort orders_only = {.orders_only = true};
  const size_t layers = s->options->goal.network->count;
  scratch->goal.limits = *descent_batch_limits(b, lane);
  for (size_t i = 0; i < layers; i++) descent_batch_round(b, i, lane, &scratch->layers[i].mapping);
  descent_state_refresh(scratch);
  if (!isfinite(scratch->value) && !descent_polish_fit(scratch)) return;
  descent_polish_layers(scratch, &orders_only);
  if (kept->state && !(scratch->value < kept->value)) return;
  if (!kept->state) kept->state = descent_state_create(&s->options->goal);
  descent_state_copy(kept->state, scratch);
  kept->value = scratch->value;
}

static size_t lanes_of(const search *s, unsigned number) {
  const size_t left = s->starts - (size_t)number * TAPE_LANES;
  return left < TAPE_LANES ? left : TAPE_LANES;
}

static void judge_batch(search *s, unsigned number, const descent_batch *b, descent_state *scratch) {
  for (size_t lane = 0; lane < lanes_of(s, number); lane++)
    judge_lane(s, b, lane, scratch, &s->candidates[number * TAPE_LANES + lane]);
}

static bool descends(const search *s) { return !s->options->no_gradient && !s->options->keep_partition; }

// At most half of the lanes of the first batch.
static void start_greedy(const search *s, descent_batch *b, size_t lanes) {
  for (size_t n = 0; n < s->greedy_count && 2 * n < lanes; n++)
    for (size_t i = 0; i < s->options->goal.network->count; i++) {
      const paper_mapping *m = &s->greedy[n]->layers[i].mapping;
      descent_batch_set(b, i, n, m, paper_order_of(m));
    }
}

// Steps between looks at the clock.
enum { STRIDE = 10 };

static void descend_to(search *s, descent_batch *b, unsigned *done, unsigned end) {
  while (*done < end && !out_of_time(s)) {
    const unsigned steps = end - *done < STRIDE ? end - *done : STRIDE;
    atomic_fetch_add(&s->gradients, descent_batch_descend(b, steps));
    *done += steps;
  }
}

// Roundings at half of the steps and at the end; without steps, of the starts.
static void descend(search *s, unsigned number) {
  if (wf_stop_wanted(s->options->stop)) return;  // when the time is over, the starts themselves are still judged
  descent_batch *b = descent_batch_create(&s->programs, &s->batch);
  descent_batch_start(b, s->options->seed * 1000003 + number, lanes_of(s, number), s->options->keep_hardware);
  if (number == 0) start_greedy(s, b, lanes_of(s, number));
  descent_state *scratch = descent_state_create(&s->options->goal);
  if (descends(s)) {
    unsigned done = 0;
    descend_to(s, b, &done, s->batch.steps / 2);
    judge_batch(s, number, b, scratch);
    descend_to(s, b, &done, s->batch.steps);
  }
  judge_batch(s, number, b, scratch);
  atomic_fetch_add(&s->evaluations, scratch->evaluations);
  descent_state_destroy(scratch);
  descent_batch_destroy(b);
}

// ---- polish

static int by_value(const void *x, const void *y) {
  const candidate *a = x, *b = y;
  if (a->value != b->value) return a->value < b->value ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

static void polish(search *s, unsigned number) {
  candidate *c = &s->candidates[number];
  const descent_polish_effort effort = {.pool = s->pool,
                                        .pairs = true,
                                        .hardware = !s->options->keep_hardware,
                                        .kicks = 12,
                                        .seed = s->options->seed + c->number,
                                        .importance = !s->options->no_importance,
                                        .max_evaluations = s->polish_evaluations,
                                        .stop = out_of_time,
                                        .context = s};
  c->state->evaluations = 0;
  descent_polish_state(c->state, &effort);
  c->value = c->state->value;
  atomic_fetch_add(&s->evaluations, c->state->evaluations);
}

// Starts of both kinds are polished: a greedy one that is ahead may stay on a peak of its own.
static void mix(search *s) {
  size_t other = 1;
  while (other < s->candidate_count && s->candidates[other].greedy == s->candidates[0].greedy) other++;
  if (other == s->candidate_count || !s->candidates[other].state) return;
  const candidate moved = s->candidates[other];
  for (size_t n = other; n > 1; n--) s->candidates[n] = s->candidates[n - 1];
  s->candidates[1] = moved;
}

// What is left of the budget goes to the best starts in equal parts.
static void polish_best(search *s, double part) {
  unsigned count = (unsigned)ceil(part * (s->options->polished > 0 ? s->options->polished : 2));
  while (count > 0 && (count > s->candidate_count || !s->candidates[count - 1].state)) count--;
  const uint64_t budget = s->options->max_evaluations, spent = s->gradients + s->evaluations;
  if (budget > 0) {
    if (spent >= budget) return;
    const uint64_t least = 8000 * s->options->goal.network->count;  // a few steps of the hardware
    if ((budget - spent) / least < count) count = (unsigned)((budget - spent) / least) + 1;
    s->polish_evaluations = (budget - spent) / count;
  }
  for (size_t n = 0; n < s->candidate_count && s->candidates[n].state; n++)
    descent_polish_pool_add(s->pool, s->candidates[n].state);
  mix(s);
  if (count > 0) run_tasks(s, count, polish);
}

// ---- the search

static void report(const search *s, const char *stage) {
  if (!s->options->progress || !s->candidates[0].state) return;
  const paper_hardware *h = &s->candidates[0].state->hardware;
  char text[160];
  snprintf(text, sizeof text, "%s: %.4g at side %g, %g + %g KiB after %.1f s", stage, s->candidates[0].value, h->side,
           h->scratchpad_kib, h->accumulator_kib, wf_seconds() - s->begin);
  s->options->progress(s->options->context, text);
}

static void sort_candidates(search *s) { qsort(s->candidates, s->candidate_count, sizeof *s->candidates, by_value); }

// A search with a small budget has greedy starts, and spends a part of it on finding them.
static bool wants_greedy(const descent_options *o) {
  enum { SMALL = 4000 };  // evaluations for each layer
  return o->max_evaluations > 0 && o->max_evaluations <= SMALL * o->goal.network->count && !o->keep_hardware &&
         !o->keep_partition && o->starts == 0;
}

static void find_greedy(search *s) {
  const double part = 1.0 / 3;
  uint64_t spent;
  if (!wants_greedy(s->options)) return;
  const uint64_t budget = (uint64_t)(part * (double)s->options->max_evaluations);
  s->greedy_count = descent_greedy_starts(&s->options->goal, s->options->seed, budget, GREEDY, s->greedy, &spent);
  atomic_fetch_add(&s->evaluations, spent);
}

static void add_greedy(search *s) {
  for (size_t n = 0; n < s->greedy_count; n++) {
    candidate *c = &s->candidates[s->starts + n];
    c->state = s->greedy[n];
    c->value = c->state->value;
    c->greedy = true;
  }
  for (size_t n = 0; n < s->greedy_count && 2 * n < s->starts; n++) s->candidates[n].greedy = true;
}

// Half of a budget goes to the descent: first fewer steps, then fewer starts.
static void plan(search *s) {
  const descent_options *o = s->options;
  s->starts = o->starts > 0 ? o->starts : o->max_evaluations > 0 ? TAPE_LANES : 2 * TAPE_LANES;
  s->batch = descent_batch_defaults;
  if (o->steps > 0) s->batch.steps = o->steps;
  if (o->no_importance) s->batch.active = 1;
  if (o->max_evaluations == 0) return;
  enum { FEW_STEPS = 60, FEW_STARTS = 4, LEAST_STEPS = 8 };
  const double layers = (double)o->goal.network->count,
               budget = 0.5 * (double)o->max_evaluations - (double)s->evaluations;
  if (s->greedy_count > 0 && budget < layers * FEW_STARTS * LEAST_STEPS) {
    s->starts = 0;
    return;
  }
  double steps = budget / (layers * s->batch.active * s->starts);
  if (steps < FEW_STEPS) {
    s->starts = (unsigned)fmax(FEW_STARTS, budget / (layers * s->batch.active * FEW_STEPS));
    steps = budget / (layers * s->batch.active * s->starts);
  }
  s->batch.steps = (unsigned)fmax(LEAST_STEPS, fmin(steps, s->batch.steps));
}

static const candidate *best_within_bounds(const search *s) {
  for (size_t n = 0; n < s->candidate_count && s->candidates[n].state; n++) {
    const descent_state *state = s->candidates[n].state;
    if (descent_within_bounds(&s->options->goal, &state->hardware, state->total)) return &s->candidates[n];
  }
  return NULL;
}

static void take_mappings(const search *s, const candidate *c, descent_result *result) {
  const size_t count = s->options->goal.network->count, first = count * result->sets++;
  for (size_t i = 0; i < count; i++) result->mappings[first + i] = c->state->layers[i].mapping;
}

static void take_result(const search *s, const candidate *best, descent_result *result) {
  const size_t count = s->options->goal.network->count;
  result->mappings = WF_NEW_ARRAY(DESCENT_SETS * count, paper_mapping);
  take_mappings(s, best, result);
  for (size_t n = 0; n < s->candidate_count && s->candidates[n].state && result->sets < DESCENT_SETS; n++)
    if (&s->candidates[n] != best) take_mappings(s, &s->candidates[n], result);
  result->hardware = best->state->hardware;
  result->cost = best->state->total;
  result->value = best->value;
}

static void create_programs(search *s) {
  const descent_plain_limits *l = &s->options->goal.limits;
  const bool all = s->options->keep_hardware;
  const bool fixed[PLAIN_SIZES] = {[PLAIN_SIDE_SIZE] = all || l->side_fixed > 0,
                                   [PLAIN_SCRATCHPAD_SIZE] = all || l->scratchpad_kib_fixed > 0,
                                   [PLAIN_ACCUMULATOR_SIZE] = all || l->accumulator_kib_fixed > 0};
  s->programs = descent_batch_programs_create(&s->options->goal, fixed);
}

bool descent_search(const descent_options *options, descent_result *result) {
  search s = {.options = options};
  *result = (descent_result){0};
  s.begin = wf_seconds();
  find_greedy(&s);
  plan(&s);
  create_programs(&s);
  s.candidate_count = s.starts + s.greedy_count;
  s.candidates = WF_NEW_ARRAY(s.candidate_count, candidate);
  for (size_t n = 0; n < s.candidate_count; n++) s.candidates[n] = (candidate){.value = INFINITY, .number = n};
  run_tasks(&s, (s.starts + TAPE_LANES - 1) / TAPE_LANES, descend);
  add_greedy(&s);
  sort_candidates(&s);
  result->rounded = s.candidates[0].value;
  report(&s, "rounded");
  if (!options->no_polish && !options->keep_partition) {
    s.pool = descent_polish_pool_create(options->goal.network);
    for (int pass = 0; pass < 2; pass++) {
      polish_best(&s, pass == 0 ? 1 : 0.25);
      sort_candidates(&s);
    }
    descent_polish_pool_destroy(s.pool);
    report(&s, "polished");
  }
  const candidate *best = best_within_bounds(&s);
  if (best) take_result(&s, best, result);
  result->gradients = s.gradients;
  result->evaluations = s.evaluations;
  result->seconds = wf_seconds() - s.begin;
  for (size_t n = 0; n < s.candidate_count; n++) descent_state_destroy(s.candidates[n].state);
  wf_free(s.candidates);
  descent_batch_programs_release(&s.programs);
  return result->mappings != NULL;
}

void descent_release(descent_result *result) {
  wf_free(result->mappings);
  result->mappings = NULL;
}
