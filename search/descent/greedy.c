// SPDX-License-Identifier: Apache-2.0
// Starts by a rule: see greedy.h.
#include "search/descent/greedy.h"

#include <math.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/random.h"
#include "search/descent/moves.h"

// ---- a mapping

static bool grow(const layers_layer *layer, const paper_hardware *hardware, const descent_moves_move *move,
                 paper_mapping *m) {
  if (!descent_moves_allowed(m, move)) return false;
  paper_mapping larger = *m;
  descent_moves_apply(&larger, move);
  const paper_need need = paper_need_of(layer, &larger);
  if (!paper_fits(&need, hardware)) return false;
  *m = larger;
  return true;
}

// The largest number of rows or columns that divides the dimension and fits.
static void spread(const layers_layer *layer, const paper_hardware *hardware, unsigned dim, paper_mapping *m) {
  descent_moves_split splits[MOVES_SPLITS_MAX];
  const size_t count = descent_moves_splits(layer, dim, hardware->side, splits);
  double best = 0;
  for (size_t n = 0; n < count; n++) {
    paper_mapping wider = *m;
    descent_moves_set(layer, dim, &splits[n], &wider);
    const paper_need need = paper_need_of(layer, &wider);
    if (splits[n].inside != 1 || splits[n].spatial <= best || !paper_fits(&need, hardware)) continue;
    best = splits[n].spatial;
    *m = wider;
  }
}

static bool grow_dim(const layers_layer *layer, const paper_hardware *hardware, unsigned dim,
                     const descent_moves_move *moves, size_t count, paper_mapping *m) {
  for (size_t n = 0; n < count; n++)
    if (moves[n].dim == dim && moves[n].from == MOVE_OUTSIDE && moves[n].to == MOVE_INSIDE &&
        grow(layer, hardware, &moves[n], m))
      return true;
  return false;
}

void descent_greedy_mapping(const layers_layer *layer, const paper_hardware *hardware, paper_mapping *m) {
  static const unsigned turns[] = {BLOCK_DIM_Q, BLOCK_DIM_P, BLOCK_DIM_C, BLOCK_DIM_K};
  descent_moves_move moves[MOVES_MAX];
  const size_t count = descent_moves_of(layer, moves);
  *m = paper_mapping_start(layer);
  spread(layer, hardware, BLOCK_DIM_C, m);
  spread(layer, hardware, BLOCK_DIM_K, m);
  while (grow_dim(layer, hardware, BLOCK_DIM_R, moves, count, m)) continue;
  while (grow_dim(layer, hardware, BLOCK_DIM_S, moves, count, m)) continue;
  for (bool any = true; any;) {
    any = false;
    for (size_t t = 0; t < sizeof turns / sizeof *turns; t++)
      any |= grow_dim(layer, hardware, turns[t], moves, count, m);
  }
}

// ---- hardware

enum { AXES = 3, STEPS = 2 * AXES };  // a step doubles or halves one size

// As powers of two.
typedef struct point {
  int exponent[AXES];
} point;

typedef struct climb {
  const descent_goal *goal;
  int least[AXES], most[AXES];
  descent_state *scratch;
  point *tried;
  size_t tried_count, tried_room;
  descent_state **best;  // best first
  size_t count, wanted;
} climb;

// From the smallest size to the largest that is allowed; what is fixed has no room.
static void set_range(int *least, int *most, double fixed, double limit, int low, int high) {
  *most = fixed > 0 ? (int)ceil(log2(fixed)) : limit > 0 ? (int)floor(log2(limit)) : high;
  *least = fixed > 0 ? *most : wf_min(low, *most);
}

static void set_ranges(climb *c) {
  const descent_plain_limits *l = &c->goal->limits;
  set_range(&c->least[0], &c->most[0], l->side_fixed, l->side_max, 1, 7);
  set_range(&c->least[1], &c->most[1], l->scratchpad_kib_fixed, l->scratchpad_kib_max, 0, 11);
  set_range(&c->least[2], &c->most[2], l->accumulator_kib_fixed, l->accumulator_kib_max, 0, 11);
}

static paper_hardware hardware_of(const climb *c, const point *p) {
  const descent_plain_limits *l = &c->goal->limits;
  return (paper_hardware){
      .side = l->side_fixed > 0 ? l->side_fixed : ldexp(1, p->exponent[0]),
      .scratchpad_kib = l->scratchpad_kib_fixed > 0 ? l->scratchpad_kib_fixed : ldexp(1, p->exponent[1]),
      .accumulator_kib = l->accumulator_kib_fixed > 0 ? l->accumulator_kib_fixed : ldexp(1, p->exponent[2])};
}

static bool is_new(climb *c, const point *p) {
  for (int axis = 0; axis < AXES; axis++)
    if (p->exponent[axis] < c->least[axis] || p->exponent[axis] > c->most[axis]) return false;
  for (size_t n = 0; n < c->tried_count; n++) {
    int equal = 0;
    for (int axis = 0; axis < AXES; axis++) equal += c->tried[n].exponent[axis] == p->exponent[axis];
    if (equal == AXES) return false;
  }
  return true;
}

static void remember(climb *c, const point *p) {
  if (c->tried_count == c->tried_room) {
    c->tried_room = c->tried_room > 0 ? 2 * c->tried_room : 32;
    c->tried = wf_realloc(c->tried, c->tried_room, sizeof *c->tried);
  }
  c->tried[c->tried_count++] = *p;
}

// Into its place among the best; the worst leaves.
static void keep(climb *c) {
  size_t place = c->count;
  while (place > 0 && c->scratch->value < c->best[place - 1]->value) place--;
  if (place == c->wanted) return;
  descent_state *moved = c->count < c->wanted ? descent_state_create(c->goal) : c->best[--c->count];
  for (size_t n = c->count++; n > place; n--) c->best[n] = c->best[n - 1];
  descent_state_copy(moved, c->scratch);
  c->best[place] = moved;
}

static double try_point(climb *c, const point *p) {
  const paper_hardware hardware = hardware_of(c, p);
  for (size_t i = 0; i < c->goal->network->count; i++)
    descent_greedy_mapping(&c->goal->network->layers[i], &hardware, &c->scratch->layers[i].mapping);
  descent_state_refresh(c->scratch);
  remember(c, p);
  if (isfinite(c->scratch->value)) keep(c);
  return c->scratch->value;
}

static bool exhausted(const climb *c, uint64_t evaluations) { return c->scratch->evaluations >= evaluations; }

// Steps as long as one of them gains; the one that gained is tried again first.
static void climb_from(climb *c, point at, uint64_t evaluations) {
  double value = try_point(c, &at);
  for (int failed = 0, step = 0; failed < STEPS && !exhausted(c, evaluations);) {
    point next = at;
    next.exponent[step / 2] += step % 2 == 0 ? 1 : -1;
    const double found = is_new(c, &next) ? try_point(c, &next) : INFINITY;
    if (found < value) {
      at = next;
      value = found;
      failed = 0;
    } else {
      step = (step + 1) % STEPS;
      failed++;
    }
  }
}

size_t descent_greedy_starts(const descent_goal *goal, uint64_t seed, uint64_t evaluations, size_t wanted,
                             descent_state **best, uint64_t *spent) {
  climb c = {.goal = goal, .scratch = descent_state_create(goal), .best = best, .wanted = wanted};
  c.scratch->evaluations = 0;
  set_ranges(&c);
  point at;
  for (int axis = 0; axis < AXES; axis++) at.exponent[axis] = (c.least[axis] + 2 * c.most[axis] + 1) / 3;
  climb_from(&c, at, evaluations);
  // Other peaks. Points that were tried are not worth a draw, so draws are limited.
  enum { DRAWS = 1000 };
  for (int draw = 0; draw < DRAWS && !exhausted(&c, evaluations); draw++) {
    for (int axis = 0; axis < AXES; axis++)
      at.exponent[axis] = c.least[axis] + (int)wf_random_below(&seed, (uint64_t)(c.most[axis] - c.least[axis] + 1));
    if (is_new(&c, &at)) climb_from(&c, at, evaluations);
  }
  *spent = c.scratch->evaluations;
  descent_state_destroy(c.scratch);
  wf_free(c.tried);
  return c.count;
}
