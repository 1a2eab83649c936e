// SPDX-License-Identifier: Apache-2.0
// Every mapping of a small space, depth first: factors per dimension, then orders, residency and depth. A subtree ends
// where the results no longer fit the accumulator: factors only make them larger. See mapping.h.
#include <string.h>

#include "base/number.h"
#include "compiler/mapping/mapping.h"

typedef struct walk {
  const map_layer *layer;
  const hw_array *array;
  int64_t dim, acc_rows;
  map_mapping m;
  bool (*visit)(void *context, const map_mapping *mapping);
  void *context;
  uint64_t count;
  bool stopped;
} walk;

static bool is_reduction(int dim) { return !map_uses(MAP_CONV, MAP_RESULTS, (block_dim_id)dim); }

// ---- depth, residency, orders

static void give(walk *w) {
  if (!map_check(w->layer, &w->m, w->array, NULL)) return;
  w->count++;
  w->stopped = !w->visit(w->context, &w->m);
}

static void each_depth(walk *w) {
  for (int code = 0; code < 8 && !w->stopped; code++) {
    for (int o = 0; o < MAP_OPERANDS; o++) w->m.depth[o] = (uint8_t)(1 + (code >> o & 1));
    give(w);
  }
}

// Only the residencies that differ: outside of all loops, and inside each that exists.
static void each_residency(walk *w, map_operand operand) {
  if (operand == MAP_RESULTS) {
    each_depth(w);
    return;
  }
  for (int r = 0; r <= MAP_POSITIONS && !w->stopped; r++) {
    if (r > 0 && map_loop_trips(&w->m, r - 1) == 1) continue;
    w->m.residency[operand] = (uint8_t)r;
    each_residency(w, operand + 1);
  }
}

// Dimensions whose loop at this level has one trip stand in front, in their own order: permuting them changes nothing.
static void each_inner_order(walk *w, int place, unsigned used);
static void each_outer_order(walk *w, int place, unsigned used);

static void each_order(walk *w, const int64_t *trips, uint8_t *order, int place, unsigned used,
                       void (*again)(walk *w, int place, unsigned used)) {
  for (int reduction = 0; reduction < 2; reduction++) {
    bool any = false;
    for (int d = 0; d < BLOCK_DIMS && !w->stopped; d++) {
      if ((used & 1U << d) != 0 || trips[d] == 1 || is_reduction(d) != (reduction == 1)) continue;
      any = true;
      order[place] = (uint8_t)d;
      again(w, place + 1, used | 1U << d);
    }
    if (any) return;  // the reduction comes when the others are placed
  }
}

static int place_idle(const int64_t *trips, uint8_t *order, unsigned *used) {
  int place = 0;
  *used = 0;
  for (uint8_t d = 0; d < BLOCK_DIMS; d++) {
    if (trips[d] != 1) continue;
    order[place++] = d;
    *used |= 1U << d;
  }
  return place;
}

// The unrollers load both operands for every block, or inside of those loops that they do not go through themselves.
static void give_unrolled(walk *w) {
  for (int o = 0; o < MAP_OPERANDS; o++) w->m.depth[o] = 2;
  for (int p = MAP_POSITIONS; p >= map_unrolled(w->layer, &w->m) && !w->stopped; p--) {
    if (p < MAP_POSITIONS && map_loop_trips(&w->m, p) == 1) continue;
    w->m.residency[MAP_WEIGHTS] = w->m.residency[MAP_INPUTS] = (uint8_t)p;
    give(w);
  }
}

static void each_inner_order(walk *w, int place, unsigned used) {
  if (place == BLOCK_DIMS && w->m.style == BLOCK_STYLE_LOOP)
    give_unrolled(w);
  else if (place == BLOCK_DIMS)
    each_residency(w, MAP_WEIGHTS);
  else
    each_order(w, w->m.sp, w->m.inner, place, used, each_inner_order);
}

static void each_outer_order(walk *w, int place, unsigned used) {
  if (place < BLOCK_DIMS) {
    each_order(w, w->m.dram, w->m.outer, place, used, each_outer_order);
    return;
  }
  unsigned idle;
  const int first = place_idle(w->m.sp, w->m.inner, &idle);
  each_inner_order(w, first, idle);
}

// ---- factors

static bool results_fit(const walk *w, int dims) {
  int64_t rows = 1, columns = 1;
  for (int d = 0; d < dims; d++) {
    if (d == BLOCK_DIM_K)
      columns = wf_ceil_div(w->m.tile[d], w->dim);
    else if (!is_reduction(d))
      rows *= w->m.tile[d];
  }
  return wf_ceil_div(rows, w->dim) * w->dim * columns <= w->acc_rows;
}

// Tiles of columns and channels are multiples of DIM or the whole; of rows also; of the kernel 1.
static bool tile_allowed(const walk *w, int d, int64_t tile) {
  if (tile == w->layer->size[d]) return d != BLOCK_DIM_R && d != BLOCK_DIM_S ? true : tile == 1;
  if (d == BLOCK_DIM_R || d == BLOCK_DIM_S || d == BLOCK_DIM_N) return tile == 1;
  if ((d == BLOCK_DIM_Q || d == BLOCK_DIM_P) && w->layer->kind >= MAP_CONV) return true;
  return tile % w->dim == 0;
}

static void each_factor(walk *w, int d) {
  if (!results_fit(w, d)) return;
  if (d == BLOCK_DIMS) {
    unsigned idle;
    const int first = place_idle(w->m.dram, w->m.outer, &idle);
    each_outer_order(w, first, idle);
    return;
  }
  const int64_t size = w->layer->size[d];
  for (int64_t tile = 1; tile <= size && !w->stopped; tile++) {
    if (size % tile != 0 || !tile_allowed(w, d, tile)) continue;
    for (int64_t sp = 1; sp <= size / tile && !w->stopped; sp++) {
      if (size / tile % sp != 0) continue;
      w->m.tile[d] = tile;
      w->m.sp[d] = sp;
      w->m.dram[d] = size / tile / sp;
      each_factor(w, d + 1);
    }
  }
}

uint64_t map_enumerate(const map_layer *layer, const hw_array *array, block_style style,
                       bool (*visit)(void *context, const map_mapping *mapping), void *context) {
  const hw_derived hw = hw_derive(array);
  walk w = {.layer = layer,
            .array = array,
            .dim = hw.dim,
            .acc_rows = hw.acc_rows,
            .m = {.dataflow = BLOCK_WS, .style = (uint8_t)style},
            .visit = visit,
            .context = context};
  each_factor(&w, 0);
  return w.count;
}
