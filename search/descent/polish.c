// SPDX-License-Identifier: Apache-2.0
// See polish.h. Improvements below one part in 10^9 do not count, so that equal mappings do not take turns.
#include "search/descent/polish.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "search/descent/importance.h"
#include "search/descent/moves.h"

static const double gain = 1 - 1e-9;

static bool exhausted(const descent_state *s, const descent_polish_effort *e) {
  return (e->max_evaluations > 0 && s->evaluations >= e->max_evaluations) || (e->stop && e->stop(e->context));
}

static double bound_of(double fixed, double limit) { return fixed > 0 ? fixed : limit > 0 ? limit : INFINITY; }

// ---- the pool

typedef struct pool_layer {
  paper_mapping *mappings;
  size_t count, room;
} pool_layer;

struct descent_polish_pool {
  size_t layer_count;
  pool_layer *layers;
};

descent_polish_pool *descent_polish_pool_create(const layers_network *network) {
  descent_polish_pool *p = WF_NEW(descent_polish_pool);
  p->layer_count = network->count;
  p->layers = WF_NEW_ARRAY(network->count, pool_layer);
  return p;
}

void descent_polish_pool_destroy(descent_polish_pool *p) {
  if (!p) return;
  for (size_t i = 0; i < p->layer_count; i++) wf_free(p->layers[i].mappings);
  wf_free(p->layers);
  wf_free(p);
}

static bool same_mapping(const paper_mapping *a, const paper_mapping *b) {
  return a->rows == b->rows && a->columns == b->columns && memcmp(a->temporal, b->temporal, sizeof a->temporal) == 0 &&
         memcmp(a->order, b->order, sizeof a->order) == 0;
}

void descent_polish_pool_add(descent_polish_pool *p, const descent_state *s) {
  for (size_t i = 0; i < p->layer_count; i++) {
    pool_layer *l = &p->layers[i];
    const paper_mapping *m = &s->layers[i].mapping;
    size_t n = 0;
    while (n < l->count && !same_mapping(&l->mappings[n], m)) n++;
    if (n < l->count) continue;
    if (l->count == l->room) {
      l->room = l->room > 0 ? 2 * l->room : 16;
      l->mappings = wf_realloc(l->mappings, l->room, sizeof *l->mappings);
    }
    l->mappings[l->count++] = *m;
  }
}

// ---- one layer

// A layer being improved: the best candidate that was tried.
typedef struct attempt {
  descent_state *state;
  descent_others others;
  size_t move_count;
  descent_moves_move moves[MOVES_MAX];
  double value;
  descent_layer best;
  bool found;
} attempt;

// False: the hardware does not hold it, whatever the order.
static bool try_mapping(attempt *a, const paper_mapping *mapping) {
  descent_layer candidate;
  const double value = descent_try(a->state, &a->others, mapping, &candidate);
  if (value < a->value * gain) {
    a->value = value;
    a->best = candidate;
    a->found = true;
  }
  return isfinite(value);
}

static void try_orders(attempt *a, paper_mapping *mapping) {
  for (int o = 0; o < PAPER_ORDERS; o++) {
    paper_set_order(mapping, (paper_order)o);
    if (!try_mapping(a, mapping)) return;
  }
}

static void try_pool(attempt *a, const descent_polish_pool *pool) {
  const pool_layer *l = &pool->layers[a->others.layer];
  for (size_t n = 0; n < l->count; n++) try_mapping(a, &l->mappings[n]);
}

static void try_single_moves(attempt *a, const descent_polish_effort *effort) {
  const paper_mapping start = a->state->layers[a->others.layer].mapping;
  paper_mapping mapping = start;
  try_orders(a, &mapping);
  for (size_t n = 0; n < a->move_count && !effort->orders_only; n++) {
    if (!descent_moves_allowed(&start, &a->moves[n])) continue;
    mapping = start;
    descent_moves_apply(&mapping, &a->moves[n]);
    try_orders(a, &mapping);
  }
}

// Other splits of one dimension, for what single primes do not reach: 12 rows to 16.
static void try_splits(attempt *a, const descent_polish_effort *effort) {
  const layers_layer *layer = &a->state->goal.network->layers[a->others.layer];
  const paper_mapping start = a->state->layers[a->others.layer].mapping;
  const descent_plain_limits *limits = &a->state->goal.limits;
  descent_moves_split splits[MOVES_SPLITS_MAX];
  for (unsigned d = 0; d < BLOCK_DIMS; d++) {
    if (layer->size[d] == 1 || exhausted(a->state, effort)) continue;
    const size_t count = descent_moves_splits(layer, d, bound_of(limits->side_fixed, limits->side_max), splits);
    for (size_t n = 0; n < count; n++) {
      paper_mapping mapping = start;
      descent_moves_set(layer, d, &splits[n], &mapping);
      try_orders(a, &mapping);
    }
  }
}

// Pairs, until one that gains is found.
static void try_pairs(attempt *a, const descent_polish_effort *effort) {
  const paper_mapping start = a->state->layers[a->others.layer].mapping;
  for (size_t n = 0; n < a->move_count && !a->found; n++) {
    if (!descent_moves_allowed(&start, &a->moves[n])) continue;
    if (exhausted(a->state, effort)) return;
    paper_mapping half = start;
    descent_moves_apply(&half, &a->moves[n]);
    for (size_t k = n; k < a->move_count; k++) {
      if (!descent_moves_allowed(&half, &a->moves[k])) continue;
      paper_mapping mapping = half;
      descent_moves_apply(&mapping, &a->moves[k]);
      try_orders(a, &mapping);
    }
  }
}

static bool improve_once(attempt *a, const descent_polish_effort *effort, bool first) {
  a->found = false;
  a->value = a->state->value;
  if (first && effort->pool) try_pool(a, effort->pool);
  if (!a->found) try_single_moves(a, effort);
  if (!a->found && effort->pairs) try_splits(a, effort);
  if (!a->found && effort->pairs) try_pairs(a, effort);
  if (a->found) {
    descent_accept(a->state, &a->others, &a->best);
    a->others = descent_others_of(a->state, a->others.layer);
  }
  return a->found;
}

// Improves a layer until no move does. True if one did.
static bool improve_layer(descent_state *s, size_t layer, const descent_polish_effort *effort) {
  attempt a = {.state = s, .others = descent_others_of(s, layer)};
  a.move_count = descent_moves_of(&s->goal.network->layers[layer], a.moves);
  bool any = false;
  while (!exhausted(s, effort) && improve_once(&a, effort, !any)) any = true;
  return any;
}

// ---- all layers

// A layer's share of the objective's logarithm, per occurrence.
static double share(const descent_state *s, size_t i) {
  const paper_cost c = s->layers[i].cost;
  const double cycles = c.cycles / s->total.cycles, energy = c.energy_uj / s->total.energy_uj;
  const descent_plain_objective objective = s->goal.objective;
  return objective == PLAIN_EDP ? cycles + energy : objective == PLAIN_ENERGY ? energy : cycles;
}

static void by_importance(descent_state *s, const descent_polish_effort *effort) {
  const size_t count = s->goal.network->count;
  descent_importance_options options = IMPORTANCE_DEFAULTS;
  options.patience = 1;  // an effort goes to the end
  descent_importance *m = descent_importance_create(s->goal.network, options);
  for (size_t i = 0; i < count; i++) descent_importance_set(m, i, share(s, i));
  bool any = false;
  while (!exhausted(s, effort)) {
    const size_t layer = descent_importance_pick(m);
    if (layer == count) {
      if (!any) break;
      descent_importance_revive(m);  // the hardware may have changed for layers that were given up
      any = false;
      continue;
    }
    const bool gained = improve_layer(s, layer, effort);
    descent_importance_spent(m, layer, share(s, layer));
    any |= gained;
    for (size_t i = 0; gained && i < count; i++)
      if (i != layer) descent_importance_set(m, i, share(s, i));
  }
  descent_importance_destroy(m);
}

static void in_turn(descent_state *s, const descent_polish_effort *effort) {
  bool any = true;
  while (any && !exhausted(s, effort)) {
    any = false;
    for (size_t i = 0; i < s->goal.network->count; i++) any |= improve_layer(s, i, effort);
  }
}

void descent_polish_layers(descent_state *s, const descent_polish_effort *effort) {
  (effort->importance ? by_importance : in_turn)(s, effort);
}

// ---- hardware

// By how much a mapping exceeds what it may need, in logarithms; columns of an array of the given side. Rows and
// columns count apart: else no single move would help where both exceed.
static double excess(const descent_plain_limits *l, double side, const paper_mapping *m, const paper_need *need) {
  const double columns_kib = need->column_words * side * 4 / 1024, side_bound = bound_of(l->side_fixed, l->side_max);
  return fmax(0, log(m->rows / side_bound)) + fmax(0, log(m->columns / side_bound)) +
         fmax(0, log(need->scratchpad_words / 1024 / bound_of(l->scratchpad_kib_fixed, l->scratchpad_kib_max))) +
         fmax(0, log(columns_kib / bound_of(l->accumulator_kib_fixed, l->accumulator_kib_max)));
}

// One layer, by the move that takes most of the excess away until there is none. Better moves come later: those that
// improve the layer.
static bool fit_layer(descent_state *s, size_t layer, double side) {
  descent_layer *l = &s->layers[layer];
  const layers_layer *shape = &s->goal.network->layers[layer];
  descent_moves_move moves[MOVES_MAX];
  const size_t count = descent_moves_of(shape, moves);
  for (;;) {
    const double over = excess(&s->goal.limits, side, &l->mapping, &l->need);
    if (over <= 0) return true;
    double best = over;
    paper_mapping next = l->mapping;
    for (size_t n = 0; n < count; n++) {
      if (moves[n].to != MOVE_OUTSIDE || !descent_moves_allowed(&l->mapping, &moves[n])) continue;
      paper_mapping mapping = l->mapping;
      descent_moves_apply(&mapping, &moves[n]);
      const paper_need need = paper_need_of(shape, &mapping);
      const double left = excess(&s->goal.limits, side, &mapping, &need);
      if (!(left < best)) continue;
      best = left;
      next = mapping;
    }
    if (best == over) return false;
    l->mapping = next;
    l->need = paper_need_of(shape, &next);
  }
}

bool descent_polish_fit(descent_state *s) {
  const double side = s->goal.limits.side_fixed > 0 ? s->goal.limits.side_fixed : fmax(2, s->most.side);
  for (size_t i = 0; i < s->goal.network->count; i++)
    if (!fit_layer(s, i, side)) return false;
  descent_state_refresh(s);
  return isfinite(s->value);
}

typedef struct step {
  double side, scratchpad, accumulator;  // factors
} step;

static const step steps[] = {
    {1, 0.5, 1},  {1, 2, 1},     {1, 1, 0.5},     {1, 1, 2},     {0.5, 1, 1},  {2, 1, 1},    {2, 1, 2},
    {0.5, 1, .5}, {1, 0.75, 1},  {1, 1.3, 1},     {1, 1, 0.75},  {1, 1, 1.3},  {1, 0.5, 2},  {1, 2, 0.5},
    {1, 2, 2},    {1, 0.5, 0.5}, {0.75, 1, 0.75}, {1.3, 1, 1.3}, {1, 0.88, 1}, {1, 1.13, 1}, {1, 1, 0.88},
    {1, 1, 1.13}, {1, 0.94, 1},  {1, 1.06, 1},    {1, 1, 0.94},  {1, 1, 1.06},
};
enum { STEPS = sizeof steps / sizeof *steps };

static double stepped(double size, double factor, double fixed, double limit) {
  if (fixed > 0) return fixed;
  double to = factor < 1 ? floor(size * factor) : ceil(size * factor);
  if (factor == 1) to = size;
  if (limit > 0) to = fmin(to, limit);
  return fmax(1, to);
}

// The hardware a step leads to; false if it is where it was.
static bool step_hardware(const descent_state *s, const step *by, descent_plain_limits *to) {
  const descent_plain_limits *l = &s->goal.limits;
  const paper_hardware *h = &s->hardware;
  *to = *l;
  to->side_fixed = fmax(2, stepped(h->side, by->side, l->side_fixed, l->side_max));
  to->scratchpad_kib_fixed = stepped(h->scratchpad_kib, by->scratchpad, l->scratchpad_kib_fixed, l->scratchpad_kib_max);
  to->accumulator_kib_fixed =
      stepped(h->accumulator_kib, by->accumulator, l->accumulator_kib_fixed, l->accumulator_kib_max);
  return to->side_fixed != h->side || to->scratchpad_kib_fixed != h->scratchpad_kib ||
         to->accumulator_kib_fixed != h->accumulator_kib;
}

// Fits the trial to the hardware that its limits fix and improves it there, then lets the hardware follow the mappings
// again. Pairs are only tried where single moves come close to the value to beat.
static void adapt(descent_state *trial, const descent_plain_limits *limits, double beat,
                  const descent_polish_effort *effort) {
  if (!descent_polish_fit(trial)) {
    trial->value = INFINITY;
    return;
  }
  descent_polish_effort quick = *effort;
  quick.pairs = false;
  descent_polish_layers(trial, &quick);
  if (effort->pairs && trial->value < beat * 1.3) descent_polish_layers(trial, effort);
  trial->goal.limits = *limits;
  descent_state_resize(trial);
}

// True if the step leads to a better network, which *s then is.
static bool take_step(descent_state *s, descent_state *trial, const step *by, const descent_polish_effort *effort) {
  descent_plain_limits to;
  if (!step_hardware(s, by, &to)) return false;
  const descent_plain_limits limits = s->goal.limits;
  descent_state_copy(trial, s);
  trial->evaluations = s->evaluations;
  trial->goal.limits = to;
  adapt(trial, &limits, s->value, effort);
  s->evaluations = trial->evaluations;
  if (!(trial->value < s->value * gain)) return false;
  descent_state_copy(s, trial);
  return true;
}

static bool improve_hardware(descent_state *s, descent_state *trial, const descent_polish_effort *effort) {
  for (size_t n = 0; n < STEPS && !exhausted(s, effort); n++)
    if (take_step(s, trial, &steps[n], effort)) return true;
  return false;
}

// Random steps reach what the table's do not: both memories by different factors, far away.
static bool kick_hardware(descent_state *s, descent_state *trial, const descent_polish_effort *effort, uint64_t *rng) {
  static const double sides[] = {1, 1, 1, 1, 1, 1, 0.5, 2};
  for (unsigned n = 0; n < effort->kicks && !exhausted(s, effort); n++) {
    const step by = {.side = sides[wf_random_below(rng, sizeof sides / sizeof *sides)],
                     .scratchpad = exp(2 * wf_random_unit(rng) - 1),
                     .accumulator = exp(2 * wf_random_unit(rng) - 1)};
    if (take_step(s, trial, &by, effort)) return true;
  }
  return false;
}

static void scramble(descent_state *s, size_t layer, uint64_t *rng) {
  paper_mapping *m = &s->layers[layer].mapping;
  descent_moves_move moves[MOVES_MAX];
  const size_t count = descent_moves_of(&s->goal.network->layers[layer], moves);
  for (uint64_t n = 2 + wf_random_below(rng, 6); count > 0 && n > 0; n--) {
    const descent_moves_move *move = &moves[wf_random_below(rng, count)];
    if (descent_moves_allowed(m, move)) descent_moves_apply(m, move);
  }
}

// Random moves of one layer, then the way down again by single moves: out of places that pairs do not leave.
static bool kick_layers(descent_state *s, descent_state *trial, const descent_polish_effort *effort, uint64_t *rng) {
  descent_polish_effort quick = *effort;
  quick.pairs = false;
  quick.pool = NULL;
  bool any = false;
  for (size_t i = 0; i < s->goal.network->count; i++)
    for (unsigned n = 0; n < effort->kicks && !exhausted(s, effort); n++) {
      descent_state_copy(trial, s);
      trial->evaluations = s->evaluations;
      scramble(trial, i, rng);
      descent_state_refresh(trial);
      if (isfinite(trial->value) || descent_polish_fit(trial)) improve_layer(trial, i, &quick);
      s->evaluations = trial->evaluations;
      if (!(trial->value < s->value * gain)) continue;
      descent_state_copy(s, trial);
      any = true;
    }
  return any;
}

void descent_polish_state(descent_state *s, const descent_polish_effort *effort) {
  descent_polish_layers(s, effort);
  uint64_t rng = effort->seed;
  descent_state *trial = descent_state_create(&s->goal);
  do {
    while (effort->hardware && !exhausted(s, effort) && improve_hardware(s, trial, effort))
      descent_polish_layers(s, effort);
  } while ((effort->hardware && kick_hardware(s, trial, effort, &rng)) || kick_layers(s, trial, effort, &rng));
  descent_state_destroy(trial);
}
