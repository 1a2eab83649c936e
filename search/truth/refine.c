// What is left of the simulations after the first arrays: see loop.h. Each array that was simulated is refined by
// itself: a round runs every layer with the next of its mappings, and what is better stays. What is most promising goes
// on, an array with more rounds or one that was only predicted. Arrays that had none yet are expected to gain as much
// as the one that gained most.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hw/base/alloc.h"
#include "search/truth/loop.h"

enum { STALE = 4 };  // rounds without gain, after which an array is left

// What is known of the mappings of a layer on an array.
typedef struct knowledge {
  uint64_t tried;  // a bit for each
  // How much more than predicted those of a source came to, as logarithms: the model errs alike on them.
  double excess[PREDICT_SOURCES];
  unsigned runs[PREDICT_SOURCES];
} knowledge;
static_assert(PREDICT_KEPT_MAX <= 64, "a bit for each mapping");

typedef struct family {
  size_t first, best;  // candidates
  knowledge *layers;
  unsigned stale;
} family;

typedef struct refinement {
  loop *loop;
  family *families;  // of each array that was simulated
  size_t count;
} refinement;

static truth_candidate *candidate_of(const refinement *r, size_t index) { return &r->loop->result->candidates[index]; }

static size_t layers_of(const loop *l) { return l->options->goal.network->count; }

// ---- which mapping comes next

static void learn(const loop *l, const predict_result *answer, size_t rank, const work_result *result, knowledge *k) {
  if (rank >= answer->count) return;
  const predict_choice *choice = &answer->choices[rank];
  k->tried |= UINT64_C(1) << rank;
  k->runs[choice->source]++;
  if (result->status != WORK_GOOD) return;
  const plain_objective objective = l->options->goal.objective;
  const double value = predict_value(objective, (double)result->cycles, result->has_energy, result->energy_pj);
  k->excess[choice->source] += log(value / choice->value);
}

// Of a source that had no run the best; then what the runs so far say is best. `count`: none is left.
static size_t next_rank(const predict_result *answer, const knowledge *k) {
  size_t best = answer->count;
  double least = INFINITY;
  for (size_t n = 0; n < answer->count && answer->takes_mappings; n++) {
    const predict_choice *choice = &answer->choices[n];
    if ((k->tried >> n & 1) != 0) continue;
    if (k->runs[choice->source] == 0) return n;
    const double value = choice->value * exp(k->excess[choice->source] / k->runs[choice->source]);
    if (!(value < least)) continue;
    best = n;
    least = value;
  }
  return best;
}

static void add_family(refinement *r, size_t candidate) {
  const truth_candidate *c = candidate_of(r, candidate);
  if (!c->good || c->answers == NULL) return;
  const size_t layers = layers_of(r->loop);
  family *f = &r->families[r->count++];
  *f = (family){.first = candidate, .best = candidate, .layers = WF_NEW_ARRAY(layers, knowledge)};
  for (size_t i = 0; i < layers; i++) learn(r->loop, c->answers[i], c->chosen[i], &c->layers[i], &f->layers[i]);
}

// ---- a round

static truth_candidate *again(loop *l, size_t from) {
  const size_t layers = layers_of(l);
  const hw_array array = l->result->candidates[from].array;
  truth_candidate *c = loop_append(l, &array);
  const truth_candidate *best = &l->result->candidates[from];
  c->answers = WF_NEW_ARRAY(layers, const predict_result *);
  c->chosen = WF_NEW_ARRAY(layers, size_t);
  memcpy(c->answers, best->answers, layers * sizeof *c->answers);
  memcpy(c->chosen, best->chosen, layers * sizeof *c->chosen);
  memcpy(c->layers, best->layers, layers * sizeof *c->layers);
  c->model = best->model;
  loop_set_value(l, c, (paper_cost){.cycles = best->cycles, .energy_uj = best->energy_uj});
  snprintf(c->origin, sizeof c->origin, "other mappings on %zu", from);
  return c;
}

// A layer with another mapping, if the network is better with it.
static void replace(const loop *l, truth_candidate *c, size_t layer, size_t rank, const work_result *result) {
  const work_result *old = &c->layers[layer];
  if (result->status != WORK_GOOD || !result->has_energy) return;
  const double times = (double)l->options->goal.network->layers[layer].count;
  const paper_cost cost = {.cycles = c->cycles + times * ((double)result->cycles - (double)old->cycles),
                           .energy_uj = c->energy_uj + times * 1e-6 * (result->energy_pj - old->energy_pj)};
  truth_candidate with = *c;
  loop_set_value(l, &with, cost);
  if (!(with.value < c->value)) return;
  *c = with;
  c->layers[layer] = *result;
  c->chosen[layer] = rank;
}

// Every layer with the next of its mappings; one without such keeps what it has, which is known. False: no layer has
// one.
static bool run_next(loop *l, family *f) {
  const size_t layers = layers_of(l);
  const truth_candidate *best = &l->result->candidates[f->best];
  map_mapping *mappings = WF_NEW_ARRAY(layers + 1, map_mapping);
  bool *mapped = WF_NEW_ARRAY(layers + 1, bool);
  size_t *ranks = WF_NEW_ARRAY(layers + 1, size_t);
  bool any = false;
  for (size_t i = 0; i < layers; i++) {
    ranks[i] = next_rank(best->answers[i], &f->layers[i]);
    any |= mapped[i] = loop_mapping_of(best->answers[i], ranks[i], &mappings[i]);
    if (!mapped[i]) mapped[i] = loop_mapping_of(best->answers[i], best->chosen[i], &mappings[i]);
  }
  if (any) {
    runs_network run = {.array = best->array, .mappings = mappings, .mapped = mapped};
    run.layers = wf_calloc(layers, sizeof *run.layers);
    runs_measure(l->runs, l->options->goal.network, l->options->tune, &run, 1);
    truth_candidate *c = again(l, f->best);
    for (size_t i = 0; i < layers; i++) {
      replace(l, c, i, ranks[i], &run.layers[i]);
      learn(l, c->answers[i], ranks[i], &run.layers[i], &f->layers[i]);
    }
    loop_say(l, c);
    loop_take_best(l, l->result->count - 1);
    wf_free(run.layers);
  }
  wf_free(ranks);
  wf_free(mappings);
  wf_free(mapped);
  return any;
}

static void refine(refinement *r, family *f) {
  static const double gain = 0.999;
  if (!run_next(r->loop, f)) {
    f->stale = STALE;
    return;
  }
  const size_t last = r->loop->result->count - 1;
  const bool better = candidate_of(r, last)->value < gain * candidate_of(r, f->best)->value;
  f->stale = better ? 0 : f->stale + 1;
  f->best = last;
}

// ---- what comes next

// The most that rounds gained on any array.
static double most_gained(const refinement *r) {
  double least = 1;
  for (size_t n = 0; n < r->count; n++)
    least = fmin(least, candidate_of(r, r->families[n].best)->value / candidate_of(r, r->families[n].first)->value);
  return least;
}

static family *next_family(const refinement *r, double hope, double *least) {
  family *best = NULL;
  for (size_t n = 0; n < r->count; n++) {
    family *f = &r->families[n];
    const double value = candidate_of(r, f->best)->value * (f->best == f->first ? hope : 1);
    if (f->stale >= STALE || !(value < *least)) continue;
    best = f;
    *least = value;
  }
  return best;
}

void loop_refine(loop *l, truth_result *list) {
  refinement r = {.loop = l, .families = WF_NEW_ARRAY(l->limit + l->result->count + 1, family)};
  for (size_t n = 0; n < l->result->count; n++) add_family(&r, n);
  while (!loop_is_full(l)) {
    double least = INFINITY;
    const double hope = most_gained(&r);
    family *next = next_family(&r, hope, &least);
    truth_candidate *predicted = list == NULL ? NULL : loop_next_predicted(l, list, least / hope);
    if (predicted != NULL) {
      const size_t first = l->result->count;
      loop_simulate_predicted(l, predicted);
      if (l->result->count > first) add_family(&r, first);
    } else if (next != NULL) {
      refine(&r, next);
    } else {
      break;
    }
  }
  for (size_t n = 0; n < r.count; n++) wf_free(r.families[n].layers);
  wf_free(r.families);
}
