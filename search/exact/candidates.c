// SPDX-License-Identifier: Apache-2.0
// The mappings of a layer that can be part of an optimum on an array of a given side.
//
// A mapping is its tile in the scratchpad, the split of the tile's C and K between array and loops, the split of P and
// Q between registers and accumulator, and the order at main memory. Only the tile and the order need enumeration:
// - P and Q of the registers lie inside of all loops that change weights, as those of the accumulator do: moving a
//   factor between the two changes nothing.
// - Of two splits of the tile's C the one with more rows has no more traffic at any level and computes faster; so has
//   that of K with more columns, which needs less accumulator, too. The largest divisor that the side allows is best.
//
// A candidate a beats b if it needs no more memory, takes no more cycles, and no more energy on any hardware that b
// fits: energy is linear in the sizes of the memories, so the corner at which the difference is largest decides.
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "search/exact/private.h"

enum { DIVISORS_MAX = 512 };

typedef struct divisors {
  int32_t of[DIVISORS_MAX];
  size_t count;
} divisors;

static divisors divisors_of(int64_t size) {
  divisors d = {0};
  for (int64_t i = 1; i <= size && d.count < DIVISORS_MAX; i++)
    if (size % i == 0) d.of[d.count++] = (int32_t)i;
  return d;
}

static double largest_divisor(int32_t of, double limit) {
  int32_t best = 1;
  for (int32_t i = 2; i <= of && i <= limit; i++)
    if (of % i == 0) best = i;
  return best;
}

paper_mapping exact_mapping_of(const layers_layer *layer, const exact_candidate *candidate, double side) {
  paper_mapping m = paper_mapping_start(layer);
  for (int d = 0; d < BLOCK_DIMS; d++) {
    const bool registers = d == BLOCK_DIM_P || d == BLOCK_DIM_Q;
    m.temporal[registers ? PAPER_REGISTERS : PAPER_ACCUMULATOR][d] = candidate->tile[d];
    m.temporal[PAPER_DRAM][d] = (double)(layer->size[d] / candidate->tile[d]);
  }
  m.rows = largest_divisor(candidate->tile[BLOCK_DIM_C], side);
  m.columns = largest_divisor(candidate->tile[BLOCK_DIM_K], side);
  m.temporal[PAPER_ACCUMULATOR][BLOCK_DIM_C] /= m.rows;
  m.temporal[PAPER_ACCUMULATOR][BLOCK_DIM_K] /= m.columns;
  paper_set_order(&m, (paper_order)candidate->order);
  return m;
}

typedef struct gatherer {
  const exact_space *space;
  const layers_layer *layer;
  divisors divisors[BLOCK_DIMS];
  exact_candidate *found;
  size_t count, room;
  uint64_t evaluations;
} gatherer;

static void add(gatherer *g, const exact_candidate *candidate) {
  if (g->count == g->room)
    g->found = wf_realloc(g->found, g->room = g->room == 0 ? 1024 : 2 * g->room, sizeof *g->found);
  g->found[g->count++] = *candidate;
}

// Energy is linear in the sizes: three points give it.
static void cost(const gatherer *g, const paper_mapping *m, exact_candidate *c) {
  const paper_constants *constants = g->space->constants;
  const paper_traffic traffic = paper_traffic_of(g->layer, m);
  const paper_hardware none = {.side = g->space->side};
  paper_hardware scratchpad = none, accumulator = none;
  scratchpad.scratchpad_kib = 1;
  accumulator.accumulator_kib = 1;
  const paper_cost base = paper_cost_of(&traffic, &none, constants);
  c->cycles = base.cycles;
  c->base = base.energy_uj;
  c->per_scratchpad = paper_cost_of(&traffic, &scratchpad, constants).energy_uj - base.energy_uj;
  c->per_accumulator = paper_cost_of(&traffic, &accumulator, constants).energy_uj - base.energy_uj;
}

static void evaluate(gatherer *g, exact_candidate *c) {
  const exact_space *space = g->space;
  c->order = PAPER_WS;
  paper_mapping m = exact_mapping_of(g->layer, c, space->side);
  const paper_need need = paper_need_of(g->layer, &m);
  c->scratchpad_kib = ceil(need.scratchpad_words / 1024);
  c->accumulator_kib = need.column_words * 4 * space->side / 1024;
  if (c->scratchpad_kib > space->scratchpad_max || c->accumulator_kib > space->accumulator_max) return;
  for (int order = 0; order < PAPER_ORDERS; order++) {
    c->order = (uint8_t)order;
    paper_set_order(&m, (paper_order)order);
    cost(g, &m, c);
    g->evaluations++;
    add(g, c);
  }
}

static void enumerate(gatherer *g, exact_candidate *c, int dim) {
  if (dim == BLOCK_DIMS) {
    evaluate(g, c);
    return;
  }
  for (size_t i = 0; i < g->divisors[dim].count; i++) {
    c->tile[dim] = g->divisors[dim].of[i];
    enumerate(g, c, dim + 1);
  }
}

// ---- dominance

static int by_cycles(const void *a, const void *b) {
  const exact_candidate *x = a, *y = b;
  if (x->cycles != y->cycles) return x->cycles < y->cycles ? -1 : 1;
  const double ex = x->base + x->per_scratchpad * x->scratchpad_kib + x->per_accumulator * x->accumulator_kib;
  const double ey = y->base + y->per_scratchpad * y->scratchpad_kib + y->per_accumulator * y->accumulator_kib;
  return ex < ey ? -1 : ex > ey;
}

// a takes no more cycles than b.
static bool beats(const exact_space *space, const exact_candidate *a, const exact_candidate *b) {
  if (a->scratchpad_kib > b->scratchpad_kib || a->accumulator_kib > b->accumulator_kib) return false;
  const double scratchpad = a->per_scratchpad - b->per_scratchpad;
  const double accumulator = a->per_accumulator - b->per_accumulator;
  return a->base - b->base + scratchpad * (scratchpad > 0 ? space->scratchpad_max : b->scratchpad_kib) +
             accumulator * (accumulator > 0 ? space->accumulator_max : b->accumulator_kib) <=
         0;
}

// The one that beat the last candidate likely beats the next, too: it moves to the front of those asked.
static bool beaten(const exact_space *space, const exact_candidate *sorted, uint32_t *asked, size_t kept,
                   const exact_candidate *b) {
  for (size_t i = 0; i < kept; i++) {
    const uint32_t at = asked[i];
    if (!beats(space, &sorted[at], b)) continue;
    asked[i] = asked[i / 2];
    asked[i / 2] = at;
    return true;
  }
  return false;
}

static size_t keep_best(const exact_space *space, exact_candidate *sorted, size_t count) {
  uint32_t *asked = WF_NEW_ARRAY(count + 1, uint32_t);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (beaten(space, sorted, asked, kept, &sorted[i])) continue;
    sorted[kept] = sorted[i];
    asked[kept] = (uint32_t)kept;
    kept++;
  }
  wf_free(asked);
  return kept;
}

exact_set exact_candidates(const exact_space *space, const layers_layer *layer, uint64_t *evaluations) {
  gatherer g = {.space = space, .layer = layer};
  for (int d = 0; d < BLOCK_DIMS; d++) g.divisors[d] = divisors_of(layer->size[d]);
  exact_candidate c = {0};
  enumerate(&g, &c, 0);
  if (g.count > 0) qsort(g.found, g.count, sizeof *g.found, by_cycles);
  *evaluations += g.evaluations;
  return (exact_set){.candidates = g.found, .count = keep_best(space, g.found, g.count)};
}
