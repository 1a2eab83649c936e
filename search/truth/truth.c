// Proposals, simulation, and steps around the best: see truth.h.
#include "search/truth/truth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hw/base/alloc.h"
#include "hw/base/clock.h"
#include "search/truth/predict.h"
#include "search/truth/realise.h"

enum { CANDIDATES = 16, SIDE_MIN = 4, SIDES = 16 };
enum { PREDICTED = 400 };      // arrays that the model of the machine is asked about, at most
enum { MAPPINGS_TRIED = 16 };  // of the mapper's best, of which it chooses

// Either loop: candidates are simulated, or predicted.
typedef struct loop {
  const truth_options *options;
  truth_result *result;
  runs *runs;
  bool predicts;
  size_t limit;            // of candidates
  paper_mapping **wanted;  // the plain model's mappings for a side of 2^n; NULL: none
  double start;
  size_t room;
} loop;

static const layers_network *network_of(const loop *l) { return l->options->goal.network; }

// ---- arrays

static bool builds(const hw_array *array) {
  wf_diag silent = wf_diag_to(NULL);
  return hw_array_check(array, NULL, &silent);
}

static uint32_t power_of_two(double least) {
  uint32_t value = 1;
  while (value < least) value *= 2;
  return value;
}

// The least power of two, from `least` on, with which the array can be built: memories have no others.
static bool fit(hw_array *array, uint32_t *capacity, double least) {
  enum { KIB_MAX = 65536 };
  for (*capacity = power_of_two(least); *capacity <= KIB_MAX; *capacity *= 2)
    if (builds(array)) return true;
  return false;
}

// Partial sums of a side's products must not wrap in the mesh: 16 bits and one for each doubling.
static void widen_sums(hw_array *array) {
  uint32_t bits = 16;
  for (uint32_t side = array->mesh.rows; side > 1; side /= 2) bits++;
  if (array->types.output_bits < bits) array->types.output_bits = bits;
}

bool truth_array(const hw_array *base, const paper_hardware *hardware, hw_array *array) {
  *array = *base;
  array->mesh.rows = array->mesh.columns = power_of_two(hardware->side);
  array->mesh.tile_rows = array->mesh.tile_columns = 1;
  widen_sums(array);
  snprintf(array->name, sizeof array->name, "found");
  array->description[0] = '\0';
  array->accumulator.capacity_kib = 1024;  // large enough for any side while the scratchpad is looked for
  return fit(array, &array->scratchpad.capacity_kib, hardware->scratchpad_kib) &&
         fit(array, &array->accumulator.capacity_kib, hardware->accumulator_kib);
}

static bool is_known(const loop *l, const hw_array *array) {
  const uint64_t hash = hw_array_hash(array);
  for (size_t i = 0; i < l->result->count; i++)
    if (hw_array_hash(&l->result->candidates[i].array) == hash) return true;
  return false;
}

static bool is_full(const loop *l) { return l->result->count >= l->limit; }

static paper_hardware hardware_of(const hw_array *array) {
  return (paper_hardware){.side = hw_derive(array).dim,
                          .scratchpad_kib = array->scratchpad.capacity_kib,
                          .accumulator_kib = array->accumulator.capacity_kib};
}

static bool is_within(double size, double fixed, double most) {
  return fixed > 0 ? size == fixed : most <= 0 || size <= most;
}

// Whether an array has the sizes that are fixed, and no larger ones than may be; its area is no more than a bound.
static bool is_allowed(const loop *l, const hw_array *array) {
  const plain_limits *limits = &l->options->goal.limits;
  const paper_hardware h = hardware_of(array);
  const plain_silicon silicon = plain_silicon_of(&l->options->goal);
  const double area = l->options->goal.area_mm2_max;
  return is_within(h.side, limits->side_fixed, limits->side_max) &&
         is_within(h.scratchpad_kib, limits->scratchpad_kib_fixed, limits->scratchpad_kib_max) &&
         is_within(h.accumulator_kib, limits->accumulator_kib_fixed, limits->accumulator_kib_max) &&
         (area <= 0 || plain_area_mm2(&silicon, &h) <= area);
}

// NULL: it is known already, or there are enough.
static truth_candidate *propose(loop *l, const hw_array *array) {
  if (is_full(l) || is_known(l, array)) return NULL;
  truth_result *r = l->result;
  if (r->count == l->room) {
    l->room = l->room == 0 ? CANDIDATES : 2 * l->room;
    r->candidates = wf_realloc(r->candidates, l->room, sizeof *r->candidates);
  }
  truth_candidate *c = &r->candidates[r->count++];
  *c = (truth_candidate){.array = *array, .value = INFINITY};
  c->layers = wf_calloc(network_of(l)->count, sizeof *c->layers);
  return c;
}

// ---- measuring

static void take(const loop *l, const runs_network *run, truth_candidate *c) {
  c->seconds = wf_seconds() - l->start;
  c->good = run->good;
  c->cycles = run->cost.cycles;
  c->energy_uj = run->cost.energy_uj;
  if (!c->good) {
    snprintf(c->reason, sizeof c->reason, "layer %s: %s", run->failed, run->reason);
    return;
  }
  const paper_hardware hardware = hardware_of(&c->array);
  c->within = descent_within_bounds(&l->options->goal, &hardware, run->cost);
  c->value = descent_goal_value(&l->options->goal, &hardware, run->cost);
}

double truth_objective(const descent_goal *goal, const hw_array *array, paper_cost cost) {
  descent_goal free = *goal;
  free.area_mm2_max = free.power_mw_max = 0;
  const paper_hardware hardware = hardware_of(array);
  return descent_goal_value(&free, &hardware, cost);
}

static void say(const loop *l, const truth_candidate *c) {
  if (l->options->progress == NULL || l->predicts) return;
  char text[1024];
  if (c->good) {
    snprintf(text, sizeof text, "%s: side %u, %u + %u KiB: %.4g cycles, %.4g uJ, %.4g uJ x cycles%s", c->origin,
             hw_derive(&c->array).dim, c->array.scratchpad.capacity_kib, c->array.accumulator.capacity_kib, c->cycles,
             c->energy_uj, c->cycles * c->energy_uj, c->within ? "" : ", beyond the bounds");
  } else {
    snprintf(text, sizeof text, "%s: %s", c->origin, c->reason);
  }
  l->options->progress(l->options->context, text);
}

static unsigned place_of(unsigned side) {
  unsigned place = 0;
  while (side >> place > 1 && place < SIDES - 1) place++;
  return place;
}

// The mappings that the model of the machine prefers, of the mapper's and those that the plain model wants for an array
// of this side; the mapper's where it does not know better.
static void choose_mappings(const loop *l, const hw_array *array, map_mapping *mappings, bool *mapped) {
  const paper_mapping *wanted = l->wanted[place_of(hw_derive(array).dim)];
  for (size_t i = 0; i < network_of(l)->count; i++) {
    const map_layer layer = layers_to_map(&network_of(l)->layers[i]);
    map_mapping given[REALISE_MAX];
    const size_t count = wanted == NULL ? 0 : realise_mappings(&network_of(l)->layers[i], &wanted[i], array, given);
    const predict_result p = predict_layer(&layer, array, given, count, MAPPINGS_TRIED, l->options->goal.objective);
    mapped[i] = p.good && p.takes_mappings;
    mappings[i] = p.mapping;
  }
}

// All candidates from `first` on.
static void measure(loop *l, size_t first) {
  truth_result *r = l->result;
  const size_t count = r->count - first, layers = network_of(l)->count;
  const bool chooses = l->options->machine && !l->predicts && l->options->tune < 2;
  runs_network *list = WF_NEW_ARRAY(count + 1, runs_network);
  map_mapping *mappings = WF_NEW_ARRAY(count * layers + 1, map_mapping);
  bool *mapped = WF_NEW_ARRAY(count * layers + 1, bool);
  for (size_t c = 0; c < count; c++) {
    list[c] = (runs_network){.array = r->candidates[first + c].array, .layers = r->candidates[first + c].layers};
    if (!chooses) continue;
    choose_mappings(l, &list[c].array, &mappings[c * layers], &mapped[c * layers]);
    list[c].mappings = &mappings[c * layers];
    list[c].mapped = &mapped[c * layers];
  }
  runs_measure(l->runs, network_of(l), l->predicts ? MAPPINGS_TRIED : l->options->tune, list, count);
  for (size_t c = 0; c < count; c++) {
    truth_candidate *candidate = &r->candidates[first + c];
    take(l, &list[c], candidate);
    say(l, candidate);
    if (candidate->value < r->candidates[r->best].value) r->best = first + c;  // far more beyond the bounds
  }
  wf_free(list);
  wf_free(mappings);
  wf_free(mapped);
}

// ---- proposals

typedef struct proposal {
  hw_array array;
  unsigned side;
  paper_cost cost;
  double value;  // INFINITY: none
} proposal;

// Memories grow to powers of two; half of the larger one goes again where the area would be too large.
static bool shrink(const loop *l, hw_array *array) {
  while (!is_allowed(l, array)) {
    uint32_t *larger = array->scratchpad.capacity_kib > array->accumulator.capacity_kib
                           ? &array->scratchpad.capacity_kib
                           : &array->accumulator.capacity_kib;
    *larger /= 2;
    if (*larger == 0 || !builds(array)) return false;
  }
  return true;
}

// What the plain model wants of an array of this side.
static proposal ask_model(const loop *l, unsigned side) {
  const truth_options *o = l->options;
  descent_options descent = {.goal = o->goal, .seed = o->seed, .threads = o->jobs, .max_seconds = o->model_seconds};
  descent.goal.limits.side_fixed = side;
  descent_result found;
  proposal p = {.side = side, .value = INFINITY};
  if (!descent_search(&descent, &found)) return p;
  if (truth_array(o->base, &found.hardware, &p.array) && shrink(l, &p.array)) {
    p.cost = found.cost;
    p.value = found.value;
  }
  paper_mapping **kept = &l->wanted[place_of(side)];
  wf_free(*kept);
  *kept = found.mappings;
  return p;
}

// The model is asked for every side that is a power of two; sides that it thinks far worse than the best are not tried.
static void propose_by_model(loop *l) {
  enum { FAR_WORSE = 8 };
  proposal proposals[SIDES];
  size_t count = 0;
  double best = INFINITY;
  const plain_limits *limits = &l->options->goal.limits;
  for (unsigned side = SIDE_MIN; side <= limits->side_max && count < SIDES; side *= 2) {
    if (!is_within(side, limits->side_fixed, limits->side_max)) continue;
    proposals[count] = ask_model(l, side);
    best = fmin(best, proposals[count++].value);
  }
  for (size_t i = count; i-- > 0;) {
    if (!(proposals[i].value <= FAR_WORSE * best)) continue;
    truth_candidate *c = propose(l, &proposals[i].array);
    if (c == NULL) continue;
    snprintf(c->origin, sizeof c->origin, "model at side %u", proposals[i].side);
    c->model = proposals[i].cost;
  }
}

// A step from a measured candidate: one size times `factor`.
typedef enum { STEP_SIDE, STEP_SCRATCHPAD, STEP_ACCUMULATOR, STEPS } step_kind;

static void propose_step(loop *l, size_t from, step_kind kind, double factor) {
  static const char *const names[STEPS] = {"side", "scratchpad", "accumulator"};
  paper_hardware hardware = hardware_of(&l->result->candidates[from].array);
  double *const sizes[STEPS] = {&hardware.side, &hardware.scratchpad_kib, &hardware.accumulator_kib};
  *sizes[kind] *= factor;
  hw_array array;
  if (hardware.side < SIDE_MIN || !truth_array(l->options->base, &hardware, &array) || !is_allowed(l, &array)) return;
  truth_candidate *c = propose(l, &array);
  if (c != NULL)
    snprintf(c->origin, sizeof c->origin, "%s the %s of %zu", factor > 1 ? "twice" : "half", names[kind], from);
}

static void step_around(loop *l, size_t from) {
  const size_t first = l->result->count;
  for (step_kind kind = 0; kind < STEPS; kind++) {
    propose_step(l, from, kind, 2);
    propose_step(l, from, kind, 0.5);
  }
  measure(l, first);
}

// Steps around the best, until none is better.
static void improve(loop *l) {
  size_t around;
  do {
    around = l->result->best;
    step_around(l, around);
  } while (l->result->best != around && !is_full(l));
}

// ---- the model of the machine

// Steps around each candidate, the best first, that is not far worse than the best of all.
static void explore(loop *l) {
  static const double far_worse = 1.25;
  truth_result *r = l->result;
  bool *done = WF_NEW_ARRAY(PREDICTED, bool);
  for (size_t next = 0; next < r->count && !is_full(l);) {
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

static truth_candidate *best_predicted(truth_result *predicted, bool of_plain_model) {
  truth_candidate *best = NULL;
  for (size_t i = 0; i < predicted->count; i++) {
    truth_candidate *c = &predicted->candidates[i];
    if (c->within && (!of_plain_model || c->model.cycles > 0) && (best == NULL || c->value < best->value)) best = c;
  }
  return best;
}

// The best of the predicted arrays become candidates: half of those that may be simulated, the last of them one of the
// plain model's own. The other half are steps.
static void propose_predicted(loop *l, truth_result *predicted) {
  const size_t most = l->limit / 2 > 1 ? l->limit / 2 : 1;
  for (size_t n = 0; n < most; n++) {
    truth_candidate *best = best_predicted(predicted, n > 0 && n == most - 1);
    if (best == NULL) return;
    truth_candidate *c = propose(l, &best->array);
    if (c != NULL) {
      c->model = best->model;
      c->predicted = best->cycles * best->energy_uj;
      snprintf(c->origin, sizeof c->origin, "machine model: %.*s", (int)sizeof c->origin - 20, best->origin);
    }
    best->within = false;
  }
}

static void predict(loop *l) {
  truth_result predicted = {0};
  loop p = {.options = l->options,
            .result = &predicted,
            .predicts = true,
            .limit = PREDICTED,
            .wanted = l->wanted,
            .start = l->start};
  p.runs = runs_create(l->options->jobs, 0, predict_work_for(l->options->goal.objective));
  truth_candidate *base = propose(&p, l->options->base);
  snprintf(base->origin, sizeof base->origin, "base");
  propose_by_model(&p);
  measure(&p, 0);
  explore(&p);
  runs_destroy(p.runs);
  l->result->predicted = predicted.count;
  propose_predicted(l, &predicted);
  truth_release(&predicted);
}

bool truth_search(const truth_options *options, truth_result *result, wf_diag *diag) {
  *result = (truth_result){0};
  paper_mapping *wanted[SIDES] = {NULL};
  loop l = {.options = options, .result = result, .runs = options->runs, .wanted = wanted, .start = wf_seconds()};
  l.limit = options->candidates == 0 ? CANDIDATES : options->candidates;
  if (l.runs == NULL) l.runs = runs_create(options->jobs, options->timeout, work_measure);
  truth_candidate *base = propose(&l, options->base);
  snprintf(base->origin, sizeof base->origin, "base: %s", options->base->name);
  measure(&l, 0);
  const bool good = result->candidates[0].good;
  if (!good) {
    wf_error(diag, wf_in_file(options->goal.network->name), "array %s: %s", options->base->name,
             result->candidates[0].reason);
  } else {
    if (options->machine)
      predict(&l);
    else
      propose_by_model(&l);
    measure(&l, 1);
    improve(&l);
  }
  if (options->runs == NULL) runs_destroy(l.runs);
  for (int n = 0; n < SIDES; n++) wf_free(wanted[n]);
  result->seconds = wf_seconds() - l.start;
  return good;
}

void truth_release(truth_result *result) {
  for (size_t i = 0; i < result->count; i++) wf_free(result->candidates[i].layers);
  wf_free(result->candidates);
  *result = (truth_result){0};
}
