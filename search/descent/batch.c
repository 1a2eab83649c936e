// SPDX-License-Identifier: Apache-2.0
// See batch.h. The lanes' numbers lie in the tapes' workspaces; Adam's moments lie beside them, one row of lanes for
// each variable.
#include "search/descent/batch.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "search/descent/importance.h"
#include "search/descent/moves.h"

const descent_batch_options descent_batch_defaults = {.rate_first = 0.12,
                                                      .rate_last = 0.01,
                                                      .temperature_first = 0.3,
                                                      .temperature_last = 0.01,
                                                      .order_temperature = 0.05,
                                                      .penalty = 10,
                                                      .steps = 240,
                                                      .active = 0.5,
                                                      .round_steps = 10};

enum { VARIABLES = PLAIN_SLOTS + PAPER_ORDERS };

typedef struct layer_batch {
  const descent_plain_layer *plain;
  tape_workspace *workspace;
  bool active;
  unsigned steps;  // of Adam, for its bias
  double (*mean)[TAPE_LANES], (*square)[TAPE_LANES];
} layer_batch;

struct descent_batch {
  const descent_batch_programs *programs;
  descent_batch_options options;
  size_t layer_count;
  layer_batch *layers;
  tape_workspace *network;
  size_t lanes;  // in use; the others are not counted
  descent_plain_limits limits[TAPE_LANES];
  descent_importance *importance;
  unsigned step;
};

descent_batch_programs descent_batch_programs_create(const descent_goal *goal, const bool fixed[PLAIN_SIZES]) {
  descent_batch_programs p = {.goal = goal};
  p.layers = WF_NEW_ARRAY(goal->network->count, descent_plain_layer);
  for (size_t i = 0; i < goal->network->count; i++) p.layers[i] = descent_plain_layer_create(&goal->network->layers[i]);
  p.network = descent_plain_network_create(goal, fixed);
  return p;
}

void descent_batch_programs_release(descent_batch_programs *p) {
  for (size_t i = 0; i < p->goal->network->count; i++) descent_plain_layer_release(&p->layers[i]);
  wf_free(p->layers);
  descent_plain_network_release(&p->network);
}

descent_batch *descent_batch_create(const descent_batch_programs *programs, const descent_batch_options *options) {
  descent_batch *b = WF_NEW(descent_batch);
  b->programs = programs;
  b->options = *options;
  b->layer_count = programs->goal->network->count;
  b->layers = WF_NEW_ARRAY(b->layer_count, layer_batch);
  for (size_t i = 0; i < b->layer_count; i++) {
    layer_batch *l = &b->layers[i];
    l->plain = &programs->layers[i];
    l->workspace = tape_workspace_create(l->plain->program);
    l->mean = wf_calloc(VARIABLES, sizeof *l->mean);
    l->square = wf_calloc(VARIABLES, sizeof *l->square);
    l->active = true;
  }
  b->network = tape_workspace_create(programs->network.program);
  descent_importance_options patience = IMPORTANCE_DEFAULTS;
  patience.patience = 8;
  b->importance = descent_importance_create(programs->goal->network, patience);
  return b;
}

void descent_batch_destroy(descent_batch *b) {
  if (!b) return;
  for (size_t i = 0; i < b->layer_count; i++) {
    tape_workspace_destroy(b->layers[i].workspace);
    wf_free(b->layers[i].mean);
    wf_free(b->layers[i].square);
  }
  wf_free(b->layers);
  tape_workspace_destroy(b->network);
  descent_importance_destroy(b->importance);
  wf_free(b);
}

const descent_plain_limits *descent_batch_limits(const descent_batch *b, size_t lane) { return &b->limits[lane]; }
double descent_batch_loss(const descent_batch *b, size_t lane) { return tape_output(b->network, PLAIN_LOSS)[lane]; }

static size_t variables_of(const layer_batch *l) { return l->plain->slot_count + PAPER_ORDERS; }
static double *variable(const layer_batch *l, size_t n) { return tape_input(l->workspace, n); }

static void fill(double *lanes, double value) {
  for (int n = 0; n < TAPE_LANES; n++) lanes[n] = value;
}

// ---- starts

static double random_size(uint64_t *rng, double fixed, double limit, unsigned low, unsigned high) {
  const double size = ldexp(1, (int)(low + wf_random_below(rng, high - low + 1)));
  if (fixed > 0) return fixed;
  return limit > 0 ? fmin(size, limit) : size;
}

static descent_plain_limits random_hardware(const descent_plain_limits *goal, uint64_t *rng) {
  descent_plain_limits h = *goal;
  h.side_fixed = fmax(2, random_size(rng, goal->side_fixed, goal->side_max, 1, 7));
  h.scratchpad_kib_fixed = random_size(rng, goal->scratchpad_kib_fixed, goal->scratchpad_kib_max, 0, 11);
  h.accumulator_kib_fixed = random_size(rng, goal->accumulator_kib_fixed, goal->accumulator_kib_max, 0, 11);
  return h;
}

static bool holds(const layer_batch *l, const descent_plain_limits *hardware, const paper_mapping *m) {
  const paper_need need = paper_need_of(l->plain->layer, m);
  paper_hardware ignored;
  return descent_size(hardware, &need, &ignored);
}

// Factors at the accumulator as powers of random shares, scaled to fill the memories.
static void random_mapping(const layer_batch *l, const descent_plain_limits *hardware, uint64_t *rng,
                           paper_mapping *m) {
  const layers_layer *layer = l->plain->layer;
  double room[BLOCK_DIMS], low = 0, high = 1;
  *m = paper_mapping_start(layer);
  m->rows = fmin((double)layer->size[BLOCK_DIM_C], hardware->side_fixed);
  m->columns = fmin((double)layer->size[BLOCK_DIM_K], hardware->side_fixed);
  for (int d = 0; d < BLOCK_DIMS; d++) {
    const double taken = d == BLOCK_DIM_C ? m->rows : d == BLOCK_DIM_K ? m->columns : 1;
    room[d] = wf_random_unit(rng) * log((double)layer->size[d] / taken);
  }
  for (int round = 0; round < 24; round++) {
    const double scale = round == 0 ? high : (low + high) / 2;
    for (int d = 0; d < BLOCK_DIMS; d++) m->temporal[PAPER_ACCUMULATOR][d] = exp(scale * room[d]);
    if (holds(l, hardware, m))
      low = scale;
    else
      high = scale;
  }
  for (int d = 0; d < BLOCK_DIMS; d++) m->temporal[PAPER_ACCUMULATOR][d] = exp(low * room[d]);
}

void descent_batch_set(descent_batch *b, size_t layer, size_t lane, const paper_mapping *m, paper_order order) {
  const layer_batch *l = &b->layers[layer];
  for (size_t n = 0; n < l->plain->slot_count; n++) {
    const descent_moves_place place = l->plain->slots[n].spatial ? MOVE_SPATIAL : MOVE_INSIDE;
    variable(l, n)[lane] = log(*descent_moves_factor((paper_mapping *)m, l->plain->slots[n].dim, place));
  }
  for (size_t o = 0; o < PAPER_ORDERS; o++)
    variable(l, descent_plain_order_input(l->plain) + o)[lane] = o == order ? 0.5 : 0;
}

static double bound_of(double fixed, double limit) { return log(fixed > 0 ? fixed : limit > 0 ? limit : 1e12); }

static void set_bounds(descent_batch *b, size_t lane) {
  const descent_plain_limits *l = &b->limits[lane];
  const descent_plain_network *n = &b->programs->network;
  tape_input(b->network, descent_plain_network_bound(n, PLAIN_SIDE_SIZE))[lane] = bound_of(l->side_fixed, l->side_max);
  tape_input(b->network, descent_plain_network_bound(n, PLAIN_SCRATCHPAD_SIZE))[lane] =
      bound_of(l->scratchpad_kib_fixed, l->scratchpad_kib_max);
  tape_input(b->network, descent_plain_network_bound(n, PLAIN_ACCUMULATOR_SIZE))[lane] =
      bound_of(l->accumulator_kib_fixed, l->accumulator_kib_max);
}

void descent_batch_start(descent_batch *b, uint64_t seed, size_t lanes, bool keep_hardware) {
  b->lanes = lanes;
  for (size_t lane = 0; lane < TAPE_LANES; lane++) {
    uint64_t rng = seed * TAPE_LANES + lane;
    wf_random_next(&rng);
    const descent_plain_limits hardware = random_hardware(&b->programs->goal->limits, &rng);
    b->limits[lane] = keep_hardware ? hardware : b->programs->goal->limits;
    set_bounds(b, lane);
    for (size_t i = 0; i < b->layer_count; i++) {
      paper_mapping m;
      random_mapping(&b->layers[i], &hardware, &rng, &m);
      descent_batch_set(b, i, lane, &m, (paper_order)wf_random_below(&rng, PAPER_ORDERS));
    }
  }
}

// ---- steps

static double schedule(double first, double last, double progress) { return first * pow(last / first, progress); }
static double progress_of(const descent_batch *b) { return (double)b->step / (double)b->options.steps; }

static void forward_layer(descent_batch *b, size_t i) {
  layer_batch *l = &b->layers[i];
  fill(tape_input(l->workspace, descent_plain_temperature_input(l->plain)),
       schedule(1, b->options.order_temperature, progress_of(b)));
  tape_forward(l->workspace);
  for (size_t o = 0; o < PLAIN_OUTPUTS; o++)
    memcpy(tape_input(b->network, descent_plain_network_input(i, (descent_plain_output)o)),
           tape_output(l->workspace, o), TAPE_LANES * sizeof(double));
}

static void backward_layer(descent_batch *b, size_t i) {
  layer_batch *l = &b->layers[i];
  for (size_t o = 0; o < PLAIN_OUTPUTS; o++)
    memcpy(tape_seed(l->workspace, o),
           tape_gradient(b->network, descent_plain_network_input(i, (descent_plain_output)o)),
           TAPE_LANES * sizeof(double));
  tape_backward(l->workspace);
}

static void evaluate_network(descent_batch *b) {
  const descent_batch_options *o = &b->options;
  fill(tape_input(b->network, descent_plain_network_temperature(&b->programs->network)),
       schedule(o->temperature_first, o->temperature_last, progress_of(b)));
  fill(tape_input(b->network, descent_plain_network_penalty(&b->programs->network)), o->penalty);
  tape_forward(b->network);
  for (size_t n = 0; n < PLAIN_NETWORK_OUTPUTS + 2 * b->layer_count; n++) fill(tape_seed(b->network, n), 0);
  fill(tape_seed(b->network, PLAIN_LOSS), 1);
  tape_backward(b->network);
}

// Largest factors that count as a step's unit in the published method.
static double scale_of(const descent_plain_slot *slot) {
  static const double inside[BLOCK_DIMS] = {
      [BLOCK_DIM_N] = 1,  [BLOCK_DIM_P] = 14, [BLOCK_DIM_Q] = 14, [BLOCK_DIM_K] = 128,
      [BLOCK_DIM_C] = 64, [BLOCK_DIM_R] = 3,  [BLOCK_DIM_S] = 3};
  if (slot->spatial) return slot->dim == BLOCK_DIM_C ? 16 : 8;
  return inside[slot->dim];
}

// Gradient x f' -> the move of the logarithm. In the factor f = e^x with unit u: dL/d(f/u) = dL/dx u/f.
typedef struct adam {
  double rate, unit;  // unit 0: logarithms
  double mean_bias, square_bias;
} adam;

static void adam_move(const adam *a, double *x, const double *gradient, double *mean, double *square) {
  for (int n = 0; n < TAPE_LANES; n++) {
    const double factor = a->unit > 0 ? exp(x[n]) : 0;
    const double g = a->unit > 0 ? gradient[n] * a->unit / factor : gradient[n];
    mean[n] = 0.9 * mean[n] + 0.1 * g;
    square[n] = 0.99 * square[n] + 0.01 * g * g;
    const double move = a->rate * (mean[n] / a->mean_bias) / (sqrt(square[n] / a->square_bias) + 1e-8);
    x[n] = a->unit > 0 ? log(fmax(1, factor - move * a->unit)) : x[n] - move;
  }
}

// Factors of a dimension back to the nearest legal ones: 0 <= x, spatial <= side, sum <= room.
static void project(double *inside, double *spatial, double room, double side) {
  *inside = fmax(0, *inside);
  if (spatial) *spatial = fmin(fmax(0, *spatial), side);
  const double over = *inside + (spatial ? *spatial : 0) - room;
  if (over <= 0) return;
  if (!spatial) {
    *inside = room;
    return;
  }
  *inside -= over / 2;
  *spatial -= over / 2;
  if (*inside < 0) {
    *spatial += *inside;
    *inside = 0;
  } else if (*spatial < 0) {
    *inside += *spatial;
    *spatial = 0;
  }
}

static double side_bound(const descent_plain_limits *l) {
  return l->side_fixed > 0 ? log(l->side_fixed) : l->side_max > 0 ? log(l->side_max) : INFINITY;
}

static void project_layer(descent_batch *b, layer_batch *l) {
  const descent_plain_layer *p = l->plain;
  for (size_t n = 0; n < p->slot_count; n++) {
    if (p->slots[n].spatial) continue;
    const bool pair = n + 1 < p->slot_count && p->slots[n + 1].spatial;
    const double room = log((double)p->layer->size[p->slots[n].dim]);
    double *inside = variable(l, n), *spatial = pair ? variable(l, n + 1) : NULL;
    for (int lane = 0; lane < TAPE_LANES; lane++)
      project(&inside[lane], spatial ? &spatial[lane] : NULL, room, side_bound(&b->limits[lane]));
  }
}

static void move_layer(descent_batch *b, layer_batch *l) {
  const descent_batch_options *o = &b->options;
  l->steps++;
  adam a = {.rate = schedule(o->rate_first, o->rate_last, progress_of(b)),
            .mean_bias = 1 - pow(0.9, l->steps),
            .square_bias = 1 - pow(0.99, l->steps)};
  for (size_t n = 0; n < variables_of(l); n++) {
    if (o->linear && n >= l->plain->slot_count) break;  // orders have no gradient there
    a.unit = o->linear ? scale_of(&l->plain->slots[n]) : 0;
    adam_move(&a, variable(l, n), tape_gradient(l->workspace, n), l->mean[n], l->square[n]);
  }
  project_layer(b, l);
}

// ---- importance

// A layer's share of the objective, per occurrence, over all lanes.
static double share(const descent_batch *b, size_t i) {
  const double *cycles = tape_output(b->network, descent_plain_layer_cycles(i));
  const double *energy = tape_output(b->network, descent_plain_layer_energy(i));
  const double *all_cycles = tape_output(b->network, PLAIN_CYCLES);
  const double *all_energy = tape_output(b->network, PLAIN_ENERGY_UJ);
  const descent_plain_objective objective = b->programs->goal->objective;
  double sum = 0;
  for (size_t n = 0; n < b->lanes; n++) {
    if (objective != PLAIN_ENERGY) sum += cycles[n] / all_cycles[n];
    if (objective == PLAIN_ENERGY || objective == PLAIN_EDP) sum += energy[n] / all_energy[n];
  }
  return sum / (double)b->lanes;
}

// Tells the estimator what the last round won and chooses the layers of the next one.
static void choose_layers(descent_batch *b) {
  if (b->options.active >= 1) return;
  for (size_t i = 0; i < b->layer_count; i++) {
    if (b->step > 0 && b->layers[i].active)
      descent_importance_spent(b->importance, i, share(b, i));
    else
      descent_importance_set(b->importance, i, share(b, i));
    b->layers[i].active = false;
  }
  const size_t wanted = (size_t)ceil(b->options.active * (double)b->layer_count);
  for (size_t n = 0; n < wanted; n++) {
    size_t best = b->layer_count;
    double most = 0;
    for (size_t i = 0; i < b->layer_count; i++) {
      const double value = b->layers[i].active ? 0 : descent_importance_of(b->importance, i);
      if (!(value > most)) continue;
      most = value;
      best = i;
    }
    if (best == b->layer_count) break;
    b->layers[best].active = true;
  }
}

uint64_t descent_batch_descend(descent_batch *b, unsigned steps) {
  uint64_t evaluations = 0;
  if (b->step == 0) {
    for (size_t i = 0; i < b->layer_count; i++) forward_layer(b, i);
    evaluate_network(b);
  }
  for (unsigned end = b->step + steps; b->step < end && b->step < b->options.steps; b->step++) {
    if (b->step % b->options.round_steps == 0) choose_layers(b);
    for (size_t i = 0; i < b->layer_count; i++)
      if (b->layers[i].active) forward_layer(b, i);
    evaluate_network(b);
    for (size_t i = 0; i < b->layer_count; i++) {
      if (!b->layers[i].active) continue;
      backward_layer(b, i);
      move_layer(b, &b->layers[i]);
      evaluations += b->lanes;
    }
  }
  return evaluations;
}

void descent_batch_round(const descent_batch *b, size_t layer, size_t lane, paper_mapping *m) {
  const layer_batch *l = &b->layers[layer];
  double inside[BLOCK_DIMS] = {0}, spatial[BLOCK_DIMS] = {0};
  for (size_t n = 0; n < l->plain->slot_count; n++)
    (l->plain->slots[n].spatial ? spatial : inside)[l->plain->slots[n].dim] = variable(l, n)[lane];
  *m = paper_mapping_start(l->plain->layer);
  descent_moves_round(l->plain->layer, inside, spatial, exp(side_bound(&b->limits[lane])) * (1 + 1e-9), m);
  int best = 0;
  for (int o = 1; o < PAPER_ORDERS; o++)
    if (variable(l, descent_plain_order_input(l->plain) + (size_t)o)[lane] >
        variable(l, descent_plain_order_input(l->plain) + (size_t)best)[lane])
      best = o;
  paper_set_order(m, (paper_order)best);
}
