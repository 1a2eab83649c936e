// SPDX-License-Identifier: Apache-2.0
// A genetic search: an individual is one mapping for each layer with the minimal hardware for all of them. Parents win
// small tournaments; a child takes each layer from one of its two parents and some layers mutate by random moves.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "search/baselines/internal.h"
#include "search/descent/moves.h"

enum { POPULATION = 48, TOURNAMENT = 3, MUTATIONS = 2 };

typedef struct population {
  const baseline_options *options;
  descent_state *individuals[POPULATION];
  uint64_t rng;
} population;

static const descent_state *winner(population *p) {
  const descent_state *best = NULL;
  for (int n = 0; n < TOURNAMENT; n++) {
    const descent_state *one = p->individuals[wf_random_below(&p->rng, POPULATION)];
    if (!best || one->value < best->value) best = one;
  }
  return best;
}

static void mutate(population *p, size_t layer, paper_mapping *m) {
  descent_moves_move moves[MOVES_MAX];
  const size_t count = descent_moves_of(&p->options->goal.network->layers[layer], moves);
  for (int n = 0; n < MUTATIONS && count > 0; n++) {
    const descent_moves_move *move = &moves[wf_random_below(&p->rng, count)];
    if (descent_moves_allowed(m, move)) descent_moves_apply(m, move);
  }
  if (wf_random_below(&p->rng, 3) == 0) paper_set_order(m, (paper_order)wf_random_below(&p->rng, PAPER_ORDERS));
}

static void breed(population *p, descent_state *child) {
  const descent_state *parents[2] = {winner(p), winner(p)};
  const size_t count = p->options->goal.network->count;
  const double rate = fmax(0.1, 1.5 / (double)count);
  for (size_t i = 0; i < count; i++) {
    child->layers[i].mapping = parents[wf_random_below(&p->rng, 2)]->layers[i].mapping;
    if (wf_random_unit(&p->rng) < rate) mutate(p, i, &child->layers[i].mapping);
  }
  descent_state_refresh(child);
}

static size_t worst_of(const population *p) {
  size_t worst = 0;
  for (size_t n = 1; n < POPULATION; n++)
    if (!(p->individuals[n]->value <= p->individuals[worst]->value)) worst = n;
  return worst;
}

static void found(population *p) {
  const descent_goal *goal = &p->options->goal;
  for (size_t n = 0; n < POPULATION; n++) {
    descent_state *s = p->individuals[n] = descent_state_create(goal);
    const paper_hardware hardware = baseline_random_hardware(goal, &p->rng);
    for (size_t i = 0; i < goal->network->count; i++)
      baseline_random_mapping(&goal->network->layers[i], &hardware, &p->rng, &s->layers[i].mapping);
    descent_state_refresh(s);
  }
}

void baseline_genetic_search(const baseline_options *o, baseline_result *result) {
  const size_t count = o->goal.network->count;
  population p = {.options = o, .rng = o->seed};
  found(&p);
  result->evaluations = POPULATION * count;
  descent_state *child = descent_state_create(&o->goal);
  while (result->evaluations + count <= o->max_evaluations) {
    breed(&p, child);
    result->evaluations += count;
    descent_state *worst = p.individuals[worst_of(&p)];
    if (child->value < worst->value) descent_state_copy(worst, child);
  }
  paper_mapping *mappings = WF_NEW_ARRAY(count, paper_mapping);
  for (size_t n = 0; n < POPULATION; n++) {
    const descent_state *s = p.individuals[n];
    for (size_t i = 0; i < count; i++) mappings[i] = s->layers[i].mapping;
    if (isfinite(s->value)) baseline_offer(&o->goal, mappings, &s->hardware, result);
    descent_state_destroy(p.individuals[n]);
  }
  descent_state_destroy(child);
  wf_free(mappings);
}
