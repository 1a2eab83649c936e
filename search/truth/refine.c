// SPDX-License-Identifier: Apache-2.0
// What is left of the simulations after the first arrays: see loop.h. Each array that was simulated is refined by
// itself: a round runs layers with other mappings, those layers that promise most for what they take of a simulation of
// the network, and what is better stays. What is most promising goes on, an array with more rounds or one that was only
// predicted. Arrays that had none yet are expected to gain as much as the one that gained most.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "search/truth/loop.h"

enum { STALE = 4 };  // simulations of the network without gain, after which an array is left

// What is known of the mappings of a layer on an array.
typedef struct knowledge {
  uint64_t tried;  // a bit for each
  // How many more cycles than predicted those of a source came to, as logarithms: the model errs alike on them.
  double excess[PREDICT_SOURCES];
  unsigned runs[PREDICT_SOURCES];
} knowledge;
static_assert(PREDICT_KEPT_MAX <= 64, "a bit for each mapping");

typedef struct family {
  size_t first, best;  // candidates
  knowledge *layers;
  double run;    // what of the network ran for the last of them: rounds go on in it until that is all
  double value;  // when a round last gained
  double stale;  // what of the network ran since
} family;

typedef struct refinement {
  truth_loop *loop;
  family *families;  // of each array that was simulated
  size_t count;
} refinement;

static truth_candidate *candidate_of(const refinement *r, size_t index) { return &r->loop->result->candidates[index]; }

static size_t layers_of(const truth_loop *l) { return l->options->goal.network->count; }

static void learn(const predict_result *answer, size_t rank, const sweep_work_result *result, knowledge *k) {
  if (rank >= answer->count) return;
  const predict_choice *choice = &answer->choices[rank];
  k->tried |= UINT64_C(1) << rank;
  k->runs[choice->source]++;
  if (result->status == WORK_GOOD) k->excess[choice->source] += log((double)result->cycles / choice->cycles);
}

static void add_family(refinement *r, size_t candidate) {
  const truth_candidate *c = candidate_of(r, candidate);
  if (!c->good || c->answers == NULL) return;
  const size_t layers = layers_of(r->loop);
  family *f = &r->families[r->count++];
  *f = (family){
      .first = candidate, .best = candidate, .run = 1, .layers = WF_NEW_ARRAY(layers, knowledge), .value = c->value};
  for (size_t i = 0; i < layers; i++) learn(c->answers[i], c->chosen[i], &c->layers[i], &f->layers[i]);
}

// ---- which mappings come next

// A layer with a mapping that was not run: what of the network's objective it may gain.
typedef struct promise {
  size_t rank;
  double gain;
  double share;  // of a simulation of the network: half by products, half as one layer among others
} promise;

// The network if a layer took other figures.
static double value_with(const truth_loop *l, const truth_candidate *c, size_t layer, double cycles, double energy_pj) {
  const double times = (double)l->options->goal.network->layers[layer].count;
  const sweep_work_result *old = &c->layers[layer];
  truth_candidate with = *c;
  truth_set_value(l, &with,
                  (paper_cost){.cycles = c->cycles + times * (cycles - (double)old->cycles),
                               .energy_uj = c->energy_uj + times * 1e-6 * (energy_pj - old->energy_pj)});
  return with.value;
}

// The model knows what the array takes: the rest of the layer's energy stays as it was measured, but that of time.
static double energy_with(const truth_loop *l, const sweep_work_result *old, const predict_choice *choice,
                          double cycles) {
  if (!choice->has_energy) return old->energy_pj;
  const double standing = old->part_pj[SIM_PART_CLOCK] + old->part_pj[SIM_PART_LEAKAGE];
  const double longer = l->options->whole_energy ? cycles / (double)old->cycles - 1 : 0;
  return fmax(0, old->energy_pj + choice->energy_pj - old->array_pj + standing * longer);
}

// The expected gain if the cycles are as predicted but for a normal error, wider for a source that had no run. No layer
// takes fewer cycles than its products take of the array.
static double gain_of(const truth_loop *l, const truth_candidate *c, size_t layer, const predict_choice *choice,
                      const knowledge *k) {
  static const double pi = 3.14159265358979323846;
  const unsigned seen = k->runs[choice->source];
  const double error = seen == 0 ? 0.2 : 0.1, side = hw_derive(&c->array).dim;
  const double floor = (double)c->layers[layer].macs / (side * side);
  const double mean = fmax(floor, choice->cycles * (seen == 0 ? 1 : exp(k->excess[choice->source] / seen)));
  const double energy = energy_with(l, &c->layers[layer], choice, mean);
  const double expected = 1 - value_with(l, c, layer, mean, energy) / c->value;
  const double wide = 1 - value_with(l, c, layer, fmax(floor, mean * (1 - error)), energy) / c->value - expected;
  if (!(wide > 0)) return fmax(0, expected);
  const double z = expected / wide;
  return expected * 0.5 * erfc(-z / sqrt(2)) + wide * exp(-z * z / 2) / sqrt(2 * pi);
}

// Engine flow is so near that what it says needs no error.
static double gain_by_flow(const truth_loop *l, const truth_candidate *c, size_t layer, const truth_flow *flow) {
  return fmax(0, 1 - value_with(l, c, layer, flow->cycles, flow->energy_pj) / c->value);
}

static promise promise_of(const truth_loop *l, const truth_candidate *c, size_t layer, const knowledge *k) {
  const layers_network *network = l->options->goal.network;
  const predict_result *answer = c->answers[layer];
  double macs = 0;
  for (size_t i = 0; i < network->count; i++) macs += (double)c->layers[i].macs;
  promise h = {.rank = answer->count,
               .share = 0.5 * (double)c->layers[layer].macs / macs + 0.5 / (double)network->count};
  for (size_t n = 0; n < answer->count && answer->takes_mappings; n++) {
    if ((k->tried >> n & 1) != 0) continue;
    const truth_flow *flow = c->flow == NULL ? NULL : &c->flow[layer * PREDICT_KEPT_MAX + n];
    const bool ran = flow != NULL && flow->cycles > 0;
    const double gain = ran ? gain_by_flow(l, c, layer, flow) : gain_of(l, c, layer, &answer->choices[n], k);
    if (gain > h.gain) h.rank = n, h.gain = gain;
  }
  return h;
}

// The layers of a round: layers whose gain for their cost is nearly that of the best one. Returns
// their cost, as a share of a simulation; 0: no layer promises a gain, or there is no room.
static double choose_layers(const truth_loop *l, promise *promises, size_t layers) {
  static const double nearly = 0.3, least_gain = 1e-5;
  double best = 0, share = 0;
  for (size_t i = 0; i < layers; i++)
    if (promises[i].gain >= least_gain) best = fmax(best, promises[i].gain / promises[i].share);
  for (size_t i = 0; i < layers; i++) {
    if (best > 0 && promises[i].gain >= nearly * best * promises[i].share &&
        truth_has_room(l, share + promises[i].share))
      share += promises[i].share;
    else
      promises[i].rank = SIZE_MAX;
  }
  return share;
}

// ---- a round

static void again(truth_loop *l, size_t from) {
  const size_t layers = layers_of(l);
  const hw_array array = l->result->candidates[from].array;
  truth_candidate *c = truth_append(l, &array);
  l->spent--;  // as nothing of it ran yet
  const truth_candidate *best = &l->result->candidates[from];
  c->answers = WF_NEW_ARRAY(layers, const predict_result *);
  c->chosen = WF_NEW_ARRAY(layers, size_t);
  memcpy(c->answers, best->answers, layers * sizeof *c->answers);
  memcpy(c->chosen, best->chosen, layers * sizeof *c->chosen);
  memcpy(c->layers, best->layers, layers * sizeof *c->layers);
  if (best->flow != NULL) {
    c->flow = WF_NEW_ARRAY(layers * PREDICT_KEPT_MAX + 1, truth_flow);
    memcpy(c->flow, best->flow, layers * PREDICT_KEPT_MAX * sizeof *c->flow);
  }
  c->model = best->model;
  c->rest = best->rest;
  truth_set_value(l, c, (paper_cost){.cycles = best->cycles, .energy_uj = best->energy_uj});
  snprintf(c->origin, sizeof c->origin, "other mappings on %zu", from);
}

// A layer with another mapping, if the network is better with it.
static void replace(const truth_loop *l, truth_candidate *c, size_t layer, size_t rank,
                    const sweep_work_result *result) {
  const sweep_work_result *old = &c->layers[layer];
  if (result->status != WORK_GOOD || !result->has_energy) return;
  const double times = (double)l->options->goal.network->layers[layer].count;
  const paper_cost cost = {.cycles = c->cycles + times * ((double)result->cycles - (double)old->cycles),
                           .energy_uj = c->energy_uj + times * 1e-6 * (result->energy_pj - old->energy_pj)};
  truth_candidate with = *c;
  truth_set_value(l, &with, cost);
  if (!(with.value < c->value)) return;
  *c = with;
  c->layers[layer] = *result;
  c->chosen[layer] = rank;
}

// The layers with these mappings; the others keep what they have, which is known.
static void run_round(truth_loop *l, family *f, const promise *promises, double share) {
  const size_t layers = layers_of(l);
  const truth_candidate *best = &l->result->candidates[f->best];
  map_mapping *mappings = WF_NEW_ARRAY(layers + 1, map_mapping);
  bool *mapped = WF_NEW_ARRAY(layers + 1, bool);
  for (size_t i = 0; i < layers; i++)
    mapped[i] = truth_mapping_of(best->answers[i], promises[i].rank, &mappings[i]) ||
                truth_mapping_of(best->answers[i], best->chosen[i], &mappings[i]);
  truth_runs_network run = {
      .array = best->array, .mappings = mappings, .mapped = mapped, .whole_energy = l->options->whole_energy};
  run.layers = wf_calloc(layers, sizeof *run.layers);
  truth_runs_measure(l->runs, l->options->goal.network, l->options->tune, &run, 1);
  if (f->run >= 1) {
    again(l, f->best);
    f->best = l->result->count - 1;
    f->run = 0;
  }
  l->spent += share;
  f->run += share;
  truth_candidate *c = &l->result->candidates[f->best];
  const double before = c->value;
  for (size_t i = 0; i < layers; i++) {
    if (promises[i].rank == SIZE_MAX) continue;
    replace(l, c, i, promises[i].rank, &run.layers[i]);
    learn(c->answers[i], promises[i].rank, &run.layers[i], &f->layers[i]);
  }
  if (c->value < before) truth_say(l, c);
  truth_take_best(l, f->best);
  wf_free(run.layers);
  wf_free(mappings);
  wf_free(mapped);
}

static void refine(refinement *r, family *f) {
  static const double gain = 0.999;
  truth_loop *l = r->loop;
  const size_t layers = layers_of(l);
  promise *promises = WF_NEW_ARRAY(layers, promise);
  for (size_t i = 0; i < layers; i++) promises[i] = promise_of(l, candidate_of(r, f->best), i, &f->layers[i]);
  const double share = choose_layers(l, promises, layers);
  f->stale += share > 0 ? share : STALE;
  if (share > 0) {
    run_round(l, f, promises, share);
    const double value = candidate_of(r, f->best)->value;
    if (value < gain * f->value) f->stale = 0, f->value = value;
  }
  wf_free(promises);
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

void truth_refine(truth_loop *l, truth_result *list) {
  refinement r = {.loop = l, .families = WF_NEW_ARRAY(l->limit + l->result->count + 1, family)};
  for (size_t n = 0; n < l->result->count; n++) add_family(&r, n);
  for (;;) {
    double least = INFINITY;
    const double hope = most_gained(&r);
    family *next = next_family(&r, hope, &least);
    truth_candidate *predicted = list == NULL || truth_is_full(l) ? NULL : truth_next_predicted(l, list, least / hope);
    if (predicted != NULL) {
      const size_t first = l->result->count;
      truth_simulate_predicted(l, predicted);
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
