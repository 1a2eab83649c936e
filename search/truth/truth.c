// Proposals, simulation, and steps around the best: see truth.h.
#include "search/truth/truth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hw/base/alloc.h"
#include "hw/base/clock.h"
#include "search/sweep/pool.h"

enum { CANDIDATES = 16, SIDE_MIN = 4, WAIT_MILLISECONDS = 1000 };

typedef struct loop {
  const truth_options *options;
  truth_result *result;
  pool *pool;
  double start;
  size_t room;
} loop;

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

static bool is_full(const loop *l) {
  const unsigned most = l->options->candidates == 0 ? CANDIDATES : l->options->candidates;
  return l->result->count >= most;
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
  c->layers = wf_calloc(l->options->network->count, sizeof *c->layers);
  return c;
}

// ---- measuring

static void take(void *context, const work_request *request, const work_result *result) {
  loop *l = context;
  const size_t layers = l->options->network->count;
  l->result->candidates[request->id / layers].layers[request->id % layers] = *result;
}

// Layers that are alike are measured once.
static size_t first_alike(const layers_network *network, size_t layer) {
  const map_layer self = layers_to_map(&network->layers[layer]);
  for (size_t i = 0; i < layer; i++) {
    const map_layer other = layers_to_map(&network->layers[i]);
    if (map_layer_hash(&other) == map_layer_hash(&self)) return i;
  }
  return layer;
}

static void measure_layer_of(loop *l, size_t candidate, size_t layer) {
  const layers_network *network = l->options->network;
  const work_request request = {.id = candidate * network->count + layer,
                                .array = l->result->candidates[candidate].array,
                                .layer = layers_to_map(&network->layers[layer]),
                                .tune = l->options->tune};
  while (!pool_has_free(l->pool)) pool_wait(l->pool, WAIT_MILLISECONDS, -1, take, l);
  pool_give(l->pool, &request);
}

static void add_up(loop *l, truth_candidate *c) {
  const layers_network *network = l->options->network;
  c->good = true;
  for (size_t i = 0; i < network->count; i++) {
    c->layers[i] = c->layers[first_alike(network, i)];
    const work_result *m = &c->layers[i];
    c->good = c->good && m->status == WORK_GOOD && m->has_energy;
    c->cycles += (double)network->layers[i].count * (double)m->cycles;
    c->energy_uj += (double)network->layers[i].count * m->energy_pj * 1e-6;
  }
  c->seconds = wf_seconds() - l->start;
  if (c->good)
    c->value = descent_value(l->options->objective, (paper_cost){.cycles = c->cycles, .energy_uj = c->energy_uj});
}

static void say(const loop *l, const truth_candidate *c) {
  if (l->options->progress == NULL) return;
  char text[1024];
  if (c->good) {
    snprintf(text, sizeof text, "%s: side %u, %u + %u KiB: %.4g cycles, %.4g uJ, %.4g uJ x cycles", c->origin,
             hw_derive(&c->array).dim, c->array.scratchpad.capacity_kib, c->array.accumulator.capacity_kib, c->cycles,
             c->energy_uj, c->cycles * c->energy_uj);
  } else {
    size_t i = 0;
    while (c->layers[i].status == WORK_GOOD && i + 1 < l->options->network->count) i++;
    snprintf(text, sizeof text, "%s: %s: %s", c->origin, work_status_names[c->layers[i].status], c->layers[i].reason);
  }
  l->options->progress(l->options->context, text);
}

// All candidates from `first` on.
static void measure(loop *l, size_t first) {
  truth_result *r = l->result;
  const layers_network *network = l->options->network;
  for (size_t c = first; c < r->count; c++)
    for (size_t i = 0; i < network->count; i++)
      if (first_alike(network, i) == i) measure_layer_of(l, c, i);
  while (pool_busy(l->pool) > 0) pool_wait(l->pool, WAIT_MILLISECONDS, -1, take, l);
  for (size_t c = first; c < r->count; c++) {
    add_up(l, &r->candidates[c]);
    say(l, &r->candidates[c]);
    if (r->candidates[c].value < r->candidates[r->best].value) r->best = c;
  }
}

// ---- proposals

typedef struct proposal {
  hw_array array;
  unsigned side;
  paper_cost cost;
  double value;  // INFINITY: none
} proposal;

// What the model wants of an array of this side.
static proposal ask_model(const loop *l, unsigned side) {
  const truth_options *o = l->options;
  const descent_options descent = {.goal = {.network = o->network,
                                            .constants = o->constants,
                                            .objective = o->objective,
                                            .limits = {.side_fixed = side,
                                                       .side_max = side,
                                                       .scratchpad_kib_max = o->kib_max,
                                                       .accumulator_kib_max = o->kib_max}},
                                   .seed = o->seed,
                                   .threads = o->jobs,
                                   .max_seconds = o->model_seconds};
  descent_result found;
  proposal p = {.side = side, .value = INFINITY};
  if (!descent_search(&descent, &found)) return p;
  if (truth_array(o->base, &found.hardware, &p.array)) {
    p.cost = found.cost;
    p.value = found.value;
  }
  descent_release(&found);
  return p;
}

// The model is asked for every side that is a power of two; sides that it thinks far worse than the best are not tried.
static void propose_by_model(loop *l) {
  enum { SIDES = 16, FAR_WORSE = 8 };
  proposal proposals[SIDES];
  size_t count = 0;
  double best = INFINITY;
  for (unsigned side = SIDE_MIN; side <= l->options->side_max && count < SIDES; side *= 2) {
    proposals[count] = ask_model(l, side);
    best = fmin(best, proposals[count++].value);
  }
  for (size_t i = count; i-- > 0;) {
    if (!(proposals[i].value <= FAR_WORSE * best)) continue;
    truth_candidate *c = propose(l, &proposals[i].array);
    if (c == NULL) continue;
    snprintf(c->origin, sizeof c->origin, "model, side %u", proposals[i].side);
    c->model = proposals[i].cost;
  }
}

// A step from a measured candidate: one size times `factor`.
typedef enum { STEP_SIDE, STEP_SCRATCHPAD, STEP_ACCUMULATOR, STEPS } step_kind;

static void propose_step(loop *l, size_t from, step_kind kind, double factor) {
  static const char *const names[STEPS] = {"side", "scratchpad", "accumulator"};
  const truth_options *o = l->options;
  const hw_array *old = &l->result->candidates[from].array;
  paper_hardware hardware = {.side = hw_derive(old).dim,
                             .scratchpad_kib = old->scratchpad.capacity_kib,
                             .accumulator_kib = old->accumulator.capacity_kib};
  double *const sizes[STEPS] = {&hardware.side, &hardware.scratchpad_kib, &hardware.accumulator_kib};
  *sizes[kind] *= factor;
  hw_array array;
  if (hardware.side < SIDE_MIN || hardware.side > o->side_max || hardware.scratchpad_kib > o->kib_max ||
      hardware.accumulator_kib > o->kib_max || !truth_array(o->base, &hardware, &array))
    return;
  truth_candidate *c = propose(l, &array);
  if (c != NULL)
    snprintf(c->origin, sizeof c->origin, "%s the %s of %zu", factor > 1 ? "twice" : "half", names[kind], from);
}

// Steps around the best, until none is better.
static void improve(loop *l) {
  size_t around;
  do {
    around = l->result->best;
    const size_t first = l->result->count;
    for (step_kind kind = 0; kind < STEPS; kind++) {
      propose_step(l, around, kind, 2);
      propose_step(l, around, kind, 0.5);
    }
    measure(l, first);
  } while (l->result->best != around && !is_full(l));
}

static unsigned jobs_of(const truth_options *options) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return options->jobs != 0 ? options->jobs : processors > 0 ? (unsigned)processors : 1;
}

bool truth_search(const truth_options *options, truth_result *result, wf_diag *diag) {
  *result = (truth_result){0};
  loop l = {.options = options, .result = result, .start = wf_seconds()};
  l.pool = pool_create(jobs_of(options), options->timeout, work_measure);
  truth_candidate *base = propose(&l, options->base);
  snprintf(base->origin, sizeof base->origin, "base: %s", options->base->name);
  measure(&l, 0);
  const bool good = result->candidates[0].good;
  if (!good) {
    size_t i = 0;
    while (result->candidates[0].layers[i].status == WORK_GOOD && i + 1 < options->network->count) i++;
    wf_error(diag, wf_in_file(options->network->name), "layer %s on array %s: %s", options->network->layers[i].name,
             options->base->name, result->candidates[0].layers[i].reason);
  } else {
    propose_by_model(&l);
    measure(&l, 1);
    improve(&l);
  }
  pool_destroy(l.pool);
  result->seconds = wf_seconds() - l.start;
  return good;
}

void truth_release(truth_result *result) {
  for (size_t i = 0; i < result->count; i++) wf_free(result->candidates[i].layers);
  wf_free(result->candidates);
  *result = (truth_result){0};
}
