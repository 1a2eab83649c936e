// SPDX-License-Identifier: Apache-2.0
// Proposals, simulation, and steps around the best: see truth.h.
#include "search/truth/truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "search/truth/loop.h"

enum { CANDIDATES = 16 };
enum { PREDICTED = 400 };  // arrays that the model of the machine is asked about, at most

// ---- proposals

typedef struct proposal {
  hw_array array;
  unsigned side;
  paper_cost cost;
  double value;  // INFINITY: none
} proposal;

// Memories grow to powers of two; half of the larger one goes again where the area would be too large.
static bool shrink(const truth_loop *l, hw_array *array) {
  while (!truth_allows(l, array)) {
    uint32_t *larger = array->scratchpad.capacity_kib > array->accumulator.capacity_kib
                           ? &array->scratchpad.capacity_kib
                           : &array->accumulator.capacity_kib;
    *larger /= 2;
    if (*larger == 0 || !truth_builds(array)) return false;
  }
  return true;
}

// What the plain model wants of an array of this side; 0: of any side.
static proposal ask_model(truth_loop *l, unsigned side, uint64_t evaluations) {
  const truth_options *o = l->options;
  descent_options descent = {.goal = o->goal,
                             .seed = o->seed,
                             .threads = o->jobs,
                             .max_seconds = o->model_seconds,
                             .stop = o->stop,
                             .max_evaluations = evaluations};
  descent.goal.rest = l->rest;
  if (side > 0) descent.goal.limits.side_fixed = side;
  descent_result found;
  proposal p = {.side = side, .value = INFINITY};
  if (!descent_search(&descent, &found)) return p;
  if (truth_array(o->base, &found.hardware, &p.array) && shrink(l, &p.array)) {
    p.side = hw_derive(&p.array).dim;
    p.cost = found.cost;
    p.value = found.value;
  }
  const unsigned place = truth_place_of(p.side);
  wf_free(l->own[place]);
  l->wanted[place] = l->own[place] = found.mappings;
  l->sets[place] = found.sets;
  return p;
}

// Every side that is a power of two. A limit of evaluations goes to one search of all sides.
static size_t ask_for_sides(truth_loop *l, proposal proposals[TRUTH_SIDES]) {
  const descent_plain_limits *limits = &l->options->goal.limits;
  const uint64_t evaluations = l->options->model_evaluations;
  size_t count = 0;
  if (evaluations > 0 && limits->side_fixed == 0) {
    proposals[count++] = ask_model(l, 0, evaluations);
    return count;
  }
  for (unsigned side = TRUTH_SIDE_MIN; side <= limits->side_max && count < TRUTH_SIDES; side *= 2)
    if (limits->side_fixed == 0 || side == limits->side_fixed) proposals[count++] = ask_model(l, side, evaluations);
  return count;
}

// Sides that the model thinks far worse than the best are not tried.
static void propose_by_model(truth_loop *l) {
  enum { FAR_WORSE = 8 };
  proposal proposals[TRUTH_SIDES];
  const size_t count = ask_for_sides(l, proposals);
  double best = INFINITY;
  for (size_t i = 0; i < count; i++) best = fmin(best, proposals[i].value);
  for (size_t i = count; i-- > 0;) {
    if (!(proposals[i].value <= FAR_WORSE * best)) continue;
    truth_candidate *c = truth_propose(l, &proposals[i].array);
    if (c == NULL) continue;
    snprintf(c->origin, sizeof c->origin, "model at side %u", proposals[i].side);
    c->model = proposals[i].cost;
  }
}

// A step from a measured candidate: one size times `factor`.
typedef enum { STEP_SIDE, STEP_SCRATCHPAD, STEP_ACCUMULATOR, STEPS } step_kind;

static void propose_step(truth_loop *l, size_t from, step_kind kind, double factor) {
  static const char *const names[STEPS] = {"side", "scratchpad", "accumulator"};
  paper_hardware hardware = truth_hardware_of(&l->result->candidates[from].array);
  double *const sizes[STEPS] = {&hardware.side, &hardware.scratchpad_kib, &hardware.accumulator_kib};
  *sizes[kind] *= factor;
  hw_array array;
  if (hardware.side < TRUTH_SIDE_MIN || !truth_array(l->options->base, &hardware, &array) || !truth_allows(l, &array))
    return;
  truth_candidate *c = truth_propose(l, &array);
  if (c != NULL)
    snprintf(c->origin, sizeof c->origin, "%s the %s of %zu", factor > 1 ? "twice" : "half", names[kind], from);
}

static void step_around(truth_loop *l, size_t from) {
  const size_t first = l->result->count;
  for (step_kind kind = 0; kind < STEPS; kind++) {
    propose_step(l, from, kind, 2);
    propose_step(l, from, kind, 0.5);
  }
  truth_measure(l, first);
}

// Steps around the best, until none is better.
static void improve(truth_loop *l) {
  size_t around;
  do {
    around = l->result->best;
    step_around(l, around);
  } while (l->result->best != around && !truth_is_full(l));
}

// ---- the model of the machine

// Steps around each candidate, the best first, that is not far worse than the best of all.
static void explore(truth_loop *l) {
  static const double far_worse = 1.25;
  truth_result *r = l->result;
  bool *done = WF_NEW_ARRAY(PREDICTED, bool);
  for (size_t next = 0; next < r->count && !truth_is_full(l);) {
    step_around(l, next);
    done[next] = true;
    next = r->count;
    for (size_t i = 0; i < r->count; i++)
      if (!done[i] && r->candidates[i].value <= far_worse * r->candidates[r->best].value &&
          (next == r->count || r->candidates[i].value < r->candidates[next].value))
        next = i;
  }
  wf_free(done);
}

// A loop that predicts, with what another one knows.
static truth_loop predicting(const truth_loop *l, bool thorough, truth_result *predicted) {
  truth_loop p = *l;
  p.result = predicted;
  p.predicts = true;
  p.limit = PREDICTED;
  p.thorough = thorough;
  p.room = 0;
  p.spent = 0;
  return p;
}

// The best candidate that is left on arrays of a side (0: any).
static truth_candidate *take_predicted(truth_result *predicted, unsigned side) {
  truth_candidate *best = NULL;
  for (size_t i = 0; i < predicted->count; i++) {
    truth_candidate *c = &predicted->candidates[i];
    if (c->within && (side == 0 || hw_derive(&c->array).dim == side) && (best == NULL || c->value < best->value))
      best = c;
  }
  if (best != NULL) best->within = false;
  return best;
}

static truth_candidate *propose_again(truth_loop *l, const truth_candidate *from) {
  truth_candidate *c = truth_propose(l, &from->array);
  if (c == NULL) return NULL;
  c->model = from->model;
  snprintf(c->origin, sizeof c->origin, "%s", from->origin);
  return c;
}

// The best of the predicted arrays of each side, and what the plain model wants for it, are predicted once more with
// all effort.
static void shorten(truth_loop *l, truth_result *predicted) {
  enum { OF_EACH_SIDE = 6 };
  static const double far_worse = 1.5;
  double best = INFINITY;
  for (size_t i = 0; i < predicted->count; i++) {
    const truth_candidate *c = &predicted->candidates[i];
    best = fmin(best, c->value);
    if (c->model.cycles > 0) propose_again(l, c);
  }
  for (unsigned place = 0; place < TRUTH_SIDES; place++)
    for (int n = 0; n < OF_EACH_SIDE; n++) {
      const truth_candidate *c = take_predicted(predicted, 1U << place);
      if (c != NULL && c->value <= far_worse * best) propose_again(l, c);
    }
  if (l->result->count > 0) truth_measure(l, 0);
}

// How much more than predicted the arrays of a side came to in the simulation: the model errs alike on those. 1: none
// was simulated.
static double correction(const truth_loop *l, unsigned side) {
  double sum = 0;
  unsigned count = 0;
  for (size_t i = 0; i < l->result->count; i++) {
    const truth_candidate *c = &l->result->candidates[i];
    if (!c->good || c->predicted <= 0 || hw_derive(&c->array).dim != side) continue;
    sum += log(c->cycles * c->energy_uj / c->predicted);
    count++;
  }
  return count == 0 ? 1 : exp(sum / count);
}

truth_candidate *truth_next_predicted(const truth_loop *l, truth_result *list, double below) {
  truth_candidate *best = NULL;
  for (size_t i = 0; i < list->count; i++) {
    truth_candidate *c = &list->candidates[i];
    const double value = c->value * correction(l, hw_derive(&c->array).dim);
    if (!c->within || !(value < below)) continue;
    best = c;
    below = value;
  }
  if (best != NULL) best->within = false;
  return best;
}

void truth_simulate_predicted(truth_loop *l, const truth_candidate *predicted) {
  const size_t first = l->result->count;
  truth_candidate *c = propose_again(l, predicted);
  if (c == NULL) return;
  snprintf(c->origin, sizeof c->origin, "machine model: %.*s", TRUTH_ORIGIN - 20, predicted->origin);
  truth_measure(l, first);
}

// Candidates one after the other, as each corrects what is thought of the others: while they are not much worse than
// what was simulated, three of eight that may be simulated. What is left goes to other mappings on them.
static void simulate_list(truth_loop *l, truth_result *list) {
  static const double hopeless = 1.06;
  const size_t most = 3 * l->limit / 8 > 2 ? 3 * l->limit / 8 : 2;
  const truth_result *r = l->result;
  for (truth_candidate *c; !truth_is_full(l) && r->count < most &&
                           (c = truth_next_predicted(l, list, hopeless * r->candidates[r->best].value)) != NULL;)
    truth_simulate_predicted(l, c);
  truth_refine(l, list);
}

static void predict(truth_loop *l) {
  truth_result predicted = {0};
  truth_loop p = predicting(l, false, &predicted);
  truth_candidate *base = truth_append(&p, l->options->base);
  snprintf(base->origin, sizeof base->origin, "base");
  propose_by_model(&p);
  truth_measure(&p, 0);
  explore(&p);
  for (int n = 0; n < TRUTH_SIDES; n++) {
    l->wanted[n] = l->own[n] = p.own[n];
    l->sets[n] = p.sets[n];
  }
  l->result->predicted = predicted.count;
  truth_result list = {0};
  truth_loop shortened = predicting(l, true, &list);
  shorten(&shortened, &predicted);
  if (list.count > 0) improve(&shortened);
  truth_release(&predicted);
  if (l->options->flow > 0) truth_rung_sort(l, &shortened);
  simulate_list(l, &list);
  truth_release(&list);
}

// ---- both loops

static truth_loop begin(const truth_options *options, truth_result *result) {
  *result = (truth_result){.table = options->table};
  truth_loop l = {.options = options, .result = result, .runs = options->runs, .thorough = true, .start = wf_seconds()};
  l.limit = options->candidates == 0 ? CANDIDATES : options->candidates;
  const sweep_work_context context = {.programs = options->program, .program_count = options->program != NULL};
  if (l.runs == NULL) l.runs = truth_runs_create(options->jobs, options->timeout, sweep_work_measure, &context);
  if (result->table == NULL) result->own_table = result->table = predict_table_create(options->jobs, false);
  l.table = result->table;
  return l;
}

static void end(truth_loop *l) {
  if (l->options->runs == NULL) truth_runs_destroy(l->runs);
  l->result->seconds = wf_seconds() - l->start;
}

bool truth_search(const truth_options *options, truth_result *result, wf_diag *diag) {
  truth_loop l = begin(options, result);
  truth_candidate *base = truth_append(&l, options->base);  // also when it is stopped at once
  snprintf(base->origin, sizeof base->origin, "base: %s", options->base->name);
  base->by_mapper = true;
  truth_measure(&l, 0);
  const bool good = result->candidates[0].good;
  l.rest = result->candidates[0].rest;
  if (!good) {
    wf_error(diag, wf_in_file(options->goal.network->name), "array %s: %s", options->base->name,
             result->candidates[0].reason);
  } else {
    if (options->machine) {
      predict(&l);
    } else {
      propose_by_model(&l);
      truth_measure(&l, 1);
      improve(&l);
    }
  }
  for (int n = 0; n < TRUTH_SIDES; n++) wf_free(l.own[n]);
  end(&l);
  return good;
}

// ---- what others propose

// Memories that hold what is proposed, and such twice the size: the plain model has no slots that take turns.
static void propose_sizes(truth_loop *l, const paper_hardware *hardware) {
  for (int twice = 0; twice < 4; twice++) {
    const paper_hardware larger = {.side = fmax(TRUTH_SIDE_MIN, hardware->side),
                                   .scratchpad_kib = hardware->scratchpad_kib * (1 + (twice & 1)),
                                   .accumulator_kib = hardware->accumulator_kib * (1 + (twice >> 1))};
    hw_array array;
    if (!truth_array(l->options->base, &larger, &array) || !truth_allows(l, &array)) continue;
    truth_candidate *c = truth_propose(l, &array);
    if (c != NULL) snprintf(c->origin, sizeof c->origin, "proposed, sizes %d", twice);
  }
}

// The same mappings for every side: they are of the one that is proposed.
static void want(truth_loop *l, const paper_mapping *mappings) {
  for (int n = 0; n < TRUTH_SIDES; n++) {
    l->wanted[n] = mappings;
    l->sets[n] = 1;
  }
}

static int by_prediction(const void *a, const void *b) {
  const truth_candidate *x = a, *y = b;
  return (x->value > y->value) - (x->value < y->value);
}

bool truth_judge(const truth_options *options, const paper_hardware *hardware, const paper_mapping *mappings,
                 truth_result *result) {
  truth_loop l = begin(options, result);
  truth_result predicted = {0};
  truth_loop p = predicting(&l, true, &predicted);
  want(&l, mappings);
  want(&p, mappings);
  if (hardware == NULL)
    truth_propose(&p, options->base);
  else
    propose_sizes(&p, hardware);
  if (predicted.count > 0) truth_measure(&p, 0);
  if (predicted.count > 0) qsort(predicted.candidates, predicted.count, sizeof *predicted.candidates, by_prediction);
  const size_t most = l.limit / 4 > 1 ? l.limit / 4 : 1;
  for (size_t n = 0; n < predicted.count && n < most; n++) {
    truth_candidate *c = truth_propose(&l, &predicted.candidates[n].array);
    if (c != NULL) snprintf(c->origin, sizeof c->origin, "%s", predicted.candidates[n].origin);
  }
  truth_release(&predicted);
  if (result->count > 0) truth_measure(&l, 0);
  if (result->count > 0) truth_refine(&l, NULL);
  end(&l);
  return result->count > 0;
}

size_t truth_own_layers(const truth_candidate *c, size_t layers) {
  size_t own = 0;
  for (size_t i = 0; i < layers && c->answers != NULL; i++) {
    const predict_result *answer = c->answers[i];
    own +=
        answer->takes_mappings && c->chosen[i] < answer->count && answer->choices[c->chosen[i]].source == PREDICT_GIVEN;
  }
  return own;
}

static void release_candidate(truth_candidate *c) {
  wf_free(c->layers);
  wf_free(c->answers);
  wf_free(c->chosen);
  wf_free(c->flow);
}

void truth_release(truth_result *result) {
  for (size_t i = 0; i < result->count; i++) release_candidate(&result->candidates[i]);
  wf_free(result->candidates);
  if (result->own_table != NULL) predict_table_destroy(result->own_table);
  *result = (truth_result){0};
}
