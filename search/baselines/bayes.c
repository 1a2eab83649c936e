// SPDX-License-Identifier: Apache-2.0
// Bayesian optimisation in two loops. Outside, a Gaussian process over the logarithms of the hardware proposes the next
// array: the least mean minus spread of many random ones. Inside, each layer evaluates random mappings on it, fits a
// process to the logarithms of their factors, and evaluates the most promising of further random ones.
#include <math.h>

#include "base/alloc.h"
#include "base/random.h"
#include "search/baselines/gauss.h"
#include "search/baselines/internal.h"
#include "search/descent/moves.h"

enum {
  TRAINED = 60,  // mappings of a layer on an array, at random
  RANKED = 300,  // further ones that the process ranks
  CHOSEN = 10,   // the best of these, which are evaluated
  ARRAYS_MAX = 100,
  ARRAYS_FIRST = 8,  // at random before the outer process is asked
  ARRAYS_RANKED = 1000,
  ARRAY_INPUTS = 3,
  MAPPING_INPUTS = BLOCK_DIMS + 2 + PAPER_ORDERS,
};

static void describe_array(const paper_hardware *h, double *x) {
  x[0] = log(h->side);
  x[1] = log(h->scratchpad_kib);
  x[2] = log(h->accumulator_kib);
}

static void describe_mapping(const paper_mapping *m, double *x) {
  for (int d = 0; d < BLOCK_DIMS; d++) x[d] = log(m->temporal[PAPER_ACCUMULATOR][d]);
  x[BLOCK_DIMS] = log(m->rows);
  x[BLOCK_DIMS + 1] = log(m->columns);
  for (int o = 0; o < PAPER_ORDERS; o++)
    x[BLOCK_DIMS + 2 + o] = m->order[PAPER_DRAM][0] == paper_dram_orders[o][0] ? 1 : 0;
}

// ---- inside: one layer on one array

typedef struct ranked {
  paper_mapping mapping;
  double promise;
} ranked;

typedef struct inner {
  const baseline_options *options;
  const paper_hardware *hardware;
  size_t layer;
  uint64_t *rng;
  double best;
  paper_mapping mapping;
  double points[TRAINED * MAPPING_INPUTS], values[TRAINED];
  ranked candidates[RANKED];
} inner;

static double evaluate(inner *s, const paper_mapping *m, baseline_result *result) {
  const double value = baseline_layer_value(&s->options->goal, s->layer, m, s->hardware);
  result->evaluations++;
  if (value < s->best) {
    s->best = value;
    s->mapping = *m;
  }
  return value;
}

static void draw(inner *s, paper_mapping *m) {
  baseline_random_mapping(&s->options->goal.network->layers[s->layer], s->hardware, s->rng, m);
}

static void rank_candidates(inner *s) {
  baseline_gauss *g = baseline_gauss_fit(s->points, s->values, TRAINED, MAPPING_INPUTS);
  for (int n = 0; n < RANKED; n++) {
    double x[MAPPING_INPUTS], mean, spread;
    draw(s, &s->candidates[n].mapping);
    describe_mapping(&s->candidates[n].mapping, x);
    baseline_gauss_predict(g, x, &mean, &spread);
    s->candidates[n].promise = mean - spread;
  }
  baseline_gauss_destroy(g);
}

static void search_layer(inner *s, baseline_result *result) {
  s->best = INFINITY;
  for (int n = 0; n < TRAINED; n++) {
    paper_mapping m;
    draw(s, &m);
    s->values[n] = log(evaluate(s, &m, result));
    describe_mapping(&m, &s->points[n * MAPPING_INPUTS]);
  }
  rank_candidates(s);
  for (int n = 0; n < CHOSEN; n++) {
    ranked *top = &s->candidates[0];
    for (int k = 1; k < RANKED; k++)
      if (s->candidates[k].promise < top->promise) top = &s->candidates[k];
    evaluate(s, &top->mapping, result);
    top->promise = INFINITY;
  }
}

// ---- outside: arrays

typedef struct outer {
  size_t count;
  double points[ARRAYS_MAX * ARRAY_INPUTS], values[ARRAYS_MAX];
} outer;

static paper_hardware next_array(const outer *s, const descent_goal *goal, uint64_t *rng) {
  paper_hardware best = baseline_random_hardware(goal, rng);
  if (s->count < ARRAYS_FIRST) return best;
  baseline_gauss *g = baseline_gauss_fit(s->points, s->values, s->count, ARRAY_INPUTS);
  double least = INFINITY;
  for (int n = 0; n < ARRAYS_RANKED; n++) {
    const paper_hardware h = baseline_random_hardware(goal, rng);
    double x[ARRAY_INPUTS], mean, spread;
    describe_array(&h, x);
    baseline_gauss_predict(g, x, &mean, &spread);
    if (!(mean - spread < least)) continue;
    least = mean - spread;
    best = h;
  }
  baseline_gauss_destroy(g);
  return best;
}

void baseline_bayes_search(const baseline_options *o, baseline_result *result) {
  const size_t layers = o->goal.network->count;
  const uint64_t each = layers * (TRAINED + CHOSEN);
  outer *arrays = WF_NEW(outer);
  inner *mappings = WF_NEW(inner);
  paper_mapping *best = WF_NEW_ARRAY(layers, paper_mapping);
  uint64_t rng = o->seed;
  do {
    const paper_hardware hardware = next_array(arrays, &o->goal, &rng);
    for (size_t i = 0; i < layers; i++) {
      mappings->options = o;
      mappings->hardware = &hardware;
      mappings->layer = i;
      mappings->rng = &rng;
      search_layer(mappings, result);
      best[i] = mappings->mapping;
    }
    baseline_offer(&o->goal, best, &hardware, result);
    const paper_cost cost = paper_network(o->goal.network, best, &hardware, o->goal.constants);
    describe_array(&hardware, &arrays->points[arrays->count * ARRAY_INPUTS]);
    arrays->values[arrays->count++] = log(descent_goal_value(&o->goal, &hardware, cost));
  } while (arrays->count < ARRAYS_MAX && result->evaluations + each <= o->max_evaluations);
  wf_free(arrays);
  wf_free(mappings);
  wf_free(best);
}
