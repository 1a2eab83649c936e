// SPDX-License-Identifier: Apache-2.0
// The one-loop gradient search as published with DOSA (MICRO 2023), on our tape: seven starts from random hardware,
// whose layers a rule maps (there a solver, here the greedy one); Adam on the factors themselves, each in units of the
// largest value that it takes in a sample of mappings, with the published rates; rounding after a third and two thirds
// of the steps and at the end, each going on from the rounded mappings; orders tried layer by layer at each rounding.
// Only the layer with the largest need feels the hardware, and all layers move in every step. A larger budget buys more
// starts, a smaller one fewer steps. What differs: factors are kept legal by projection rather than by a penalty.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "search/baselines/internal.h"
#include "search/descent/polish.h"

enum { STARTS = 7, STEPS = 1490, ROUNDINGS = 3 };

static double published_rate(const char *network) {
  static const struct {
    const char *network;
    double rate;
  } rates[] = {{"resnet50", 7.5e-5}, {"retinanet", 7.5e-5}, {"unet", 5e-5}, {"rnnt", 5e-5}};
  for (size_t n = 0; n < sizeof rates / sizeof *rates; n++)
    if (strcmp(rates[n].network, network) == 0) return rates[n].rate;
  return 1e-5;
}

typedef struct run {
  const baseline_options *options;
  descent_batch *batch;
  descent_state *scratch;
  baseline_result *result;
} run;

// Judges a lane's mappings in scratch, and puts them, with the best orders, back into the lane.
static void judge(run *r, size_t lane) {
  static const descent_polish_effort orders_only = {.orders_only = true};
  const descent_goal *goal = &r->options->goal;
  const size_t count = goal->network->count;
  paper_mapping *mappings = WF_NEW_ARRAY(count, paper_mapping);
  descent_state_refresh(r->scratch);
  if (isfinite(r->scratch->value)) descent_polish_layers(r->scratch, &orders_only);
  for (size_t i = 0; i < count; i++) {
    mappings[i] = r->scratch->layers[i].mapping;
    descent_batch_set(r->batch, i, lane, &mappings[i], paper_order_of(&mappings[i]));
  }
  if (isfinite(r->scratch->value)) baseline_offer(goal, mappings, &r->scratch->hardware, r->result);
  wf_free(mappings);
}

static void start(run *r, uint64_t seed, size_t lanes) {
  const descent_goal *goal = &r->options->goal;
  descent_batch_start(r->batch, seed, lanes, false);
  uint64_t rng = seed;
  for (size_t lane = 0; lane < TAPE_LANES; lane++) {
    const paper_hardware hardware = baseline_random_hardware(goal, &rng);
    for (size_t i = 0; i < goal->network->count; i++)
      descent_greedy_mapping(&goal->network->layers[i], &hardware, &r->scratch->layers[i].mapping);
    if (lane < lanes) judge(r, lane);
    // Lanes that are not in use must have numbers, too.
    for (size_t i = 0; lane >= lanes && i < goal->network->count; i++)
      descent_batch_set(r->batch, i, lane, &r->scratch->layers[i].mapping, PAPER_WS);
  }
}

static void descend(run *r, const descent_batch_programs *programs, const descent_batch_options *o, uint64_t seed,
                    size_t lanes) {
  r->batch = descent_batch_create(programs, o);
  start(r, seed, lanes);
  for (unsigned n = 0; n < ROUNDINGS; n++) {
    r->result->evaluations += descent_batch_descend(r->batch, (o->steps + ROUNDINGS - 1) / ROUNDINGS);
    for (size_t lane = 0; lane < lanes; lane++) {
      for (size_t i = 0; i < r->options->goal.network->count; i++)
        descent_batch_round(r->batch, i, lane, &r->scratch->layers[i].mapping);
      judge(r, lane);
    }
  }
  descent_batch_destroy(r->batch);
}

void baseline_published_search(const baseline_options *o, baseline_result *result) {
  static const bool none_fixed[PLAIN_SIZES] = {false};
  const uint64_t layers = o->goal.network->count;
  const double rate = published_rate(o->goal.network->name);
  uint64_t starts = o->max_evaluations / (layers * STEPS), steps = STEPS;
  if (starts < STARTS) {
    starts = STARTS;
    steps = o->max_evaluations / (layers * STARTS);
  }
  const descent_batch_options b = {.rate_first = rate,
                                   .rate_last = rate,
                                   .temperature_first = 1e-6,
                                   .temperature_last = 1e-6,
                                   .order_temperature = 0.01,
                                   .penalty = 10,
                                   .steps = steps > STEPS       ? STEPS
                                            : steps < ROUNDINGS ? ROUNDINGS
                                                                : (unsigned)steps,
                                   .active = 1,
                                   .round_steps = 10,
                                   .linear = true};
  descent_batch_programs programs = descent_batch_programs_create(&o->goal, none_fixed);
  run r = {.options = o, .scratch = descent_state_create(&o->goal), .result = result};
  for (uint64_t first = 0; first < starts; first += TAPE_LANES) {
    const uint64_t left = starts - first;
    descend(&r, &programs, &b, o->seed * 7919 + first, left < TAPE_LANES ? left : TAPE_LANES);
  }
  result->evaluations += r.scratch->evaluations;
  descent_state_destroy(r.scratch);
  descent_batch_programs_release(&programs);
}
