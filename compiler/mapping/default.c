// SPDX-License-Identifier: Apache-2.0
// The heuristic mapper: tries a few hundred structured mappings and takes the one with the fewest estimated cycles.
//
// Structure: no inner loops; tiles of results up to a half of the accumulator (two slots, so that stores run under the
// next tile's products) or up to the whole (one slot, half the loads); columns outermost or innermost among the outer
// loops; the reduction innermost with channels outside the kernel's rows and columns; operands kept at every level that
// the scratchpad has room for.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "compiler/mapping/mapping.h"

typedef struct chooser {
  const map_layer *layer;
  const hw_array *array;
  hw_derived hw;
  const int64_t *fixed;  // tiles that are given, or NULL
  bool by_rows;          // results are complete row by row: no loop over columns encloses one over rows
  // The best so far, the best first.
  map_mapping *best;
  double cost[MAP_BEST_MAX];
  size_t count, room;
} chooser;

// ---- the candidates

static bool fits(const chooser *c, const map_mapping *m) {
  int64_t rows[MAP_OPERANDS];
  map_rows(c->layer, m, c->hw.dim, rows);
  for (int o = 0; o < MAP_OPERANDS; o++) rows[o] *= m->depth[o];
  if (c->layer->kind == MAP_WINDOW) return rows[MAP_RESULTS] <= c->hw.acc_rows;
  const int64_t beside = map_beside_rows(c->layer, m, c->hw.dim);
  return rows[MAP_WEIGHTS] + rows[MAP_INPUTS] + beside <= c->hw.sp_rows && rows[MAP_RESULTS] <= c->hw.acc_rows;
}

static void keep(chooser *c, const map_mapping *m, double cost) {
  if (c->count < c->room) c->count++;
  size_t at = c->count - 1;
  for (; at > 0 && c->cost[at - 1] > cost; at--) {
    c->best[at] = c->best[at - 1];
    c->cost[at] = c->cost[at - 1];
  }
  c->best[at] = *m;
  c->cost[at] = cost;
}

static void try_mapping(chooser *c, const map_mapping *m) {
  if (!fits(c, m)) return;
  const map_footprint f = map_measure(c->layer, m, c->array);
  const double limit = c->count == c->room ? c->cost[c->count - 1] : INFINITY;
  const double cost = map_estimate(c->layer, m, c->array, &f, &cost_fitted, limit);
  if (c->count == c->room && cost >= limit) return;
  if (map_check(c->layer, m, c->array, NULL)) keep(c, m, cost);
}

static int64_t fills(const map_mapping *m, map_operand operand) {
  int64_t count = 1;
  for (int p = 0; p < m->residency[operand]; p++) count *= map_loop_trips(m, p);
  return count;
}

// Residencies that differ: outside of everything, and inside each loop that exists and changes the operand.
static unsigned levels(const chooser *c, const map_mapping *m, map_operand operand, uint8_t *out) {
  unsigned count = 0;
  out[count++] = 0;
  for (int p = 0; p < BLOCK_DIMS; p++)
    if (map_loop_trips(m, p) > 1 && map_uses(c->layer->kind, operand, map_loop_dim(m, p)))
      out[count++] = (uint8_t)(p + 1);
  return count;
}

// The unrollers load their operands for every block into one of two halves, and go through the kernel by themselves.
static void try_unrolled(chooser *c, map_mapping *m) {
  for (int o = 0; o < MAP_OPERANDS; o++) m->depth[o] = 2;
  m->residency[MAP_WEIGHTS] = m->residency[MAP_INPUTS] = (uint8_t)map_unrolled(c->layer, m);
  try_mapping(c, m);
}

static void try_residencies(chooser *c, map_mapping *m) {
  uint8_t weights[BLOCK_DIMS + 1], inputs[BLOCK_DIMS + 1];
  const unsigned weight_levels = levels(c, m, MAP_WEIGHTS, weights), input_levels = levels(c, m, MAP_INPUTS, inputs);
  for (unsigned w = 0; w < weight_levels; w++)
    for (unsigned i = 0; i < input_levels; i++) {
      m->residency[MAP_WEIGHTS] = weights[w];
      m->residency[MAP_INPUTS] = inputs[i];
      m->depth[MAP_WEIGHTS] = fills(m, MAP_WEIGHTS) > 1 ? 2 : 1;  // two slots hide the fills
      m->depth[MAP_INPUTS] = fills(m, MAP_INPUTS) > 1 ? 2 : 1;
      try_mapping(c, m);
    }
}

static void try_orders(chooser *c, map_mapping *m) {
  static const uint8_t orders[][BLOCK_DIMS] = {
      {BLOCK_DIM_K, BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_Q, BLOCK_DIM_C, BLOCK_DIM_R, BLOCK_DIM_S},
      {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_Q, BLOCK_DIM_K, BLOCK_DIM_C, BLOCK_DIM_R, BLOCK_DIM_S},
  };
  for (size_t o = c->by_rows && m->dram[BLOCK_DIM_K] > 1 ? 1 : 0; o < sizeof orders / sizeof orders[0]; o++) {
    if (o > 0 && m->dram[BLOCK_DIM_K] == 1) break;  // the same loops
    memcpy(m->outer, orders[o], sizeof m->outer);
    memcpy(m->inner, orders[o], sizeof m->inner);
    if (m->style == BLOCK_STYLE_LOOP)
      try_unrolled(c, m);
    else
      try_residencies(c, m);
  }
}

static void set_tile(const chooser *c, map_mapping *m, block_dim_id dim, int64_t tile) {
  const int64_t size = c->layer->size[dim];
  if (c->fixed != NULL && c->fixed[dim] != 0)
    tile = c->fixed[dim];
  else if (tile > size)
    tile = size;
  m->tile[dim] = tile;
  m->sp[dim] = 1;
  m->dram[dim] = wf_ceil_div(size, tile);
}

static bool is_fixed(const chooser *c, block_dim_id dim) { return c->fixed != NULL && c->fixed[dim] != 0; }

// A step of the reduction: powers of two of DIM, then all of it.
static void try_channels(chooser *c, map_mapping *m) {
  const int64_t size = c->layer->size[BLOCK_DIM_C], dim = c->hw.dim;
  for (int64_t step = dim;; step *= 2) {
    set_tile(c, m, BLOCK_DIM_C, step);
    try_orders(c, m);
    if (step >= size || is_fixed(c, BLOCK_DIM_C)) return;
  }
}

// Equal tiles: as many as `limit` needs, each as even as steps of `grain` allow.
static int64_t balanced(int64_t size, int64_t limit, int64_t grain) {
  if (limit < grain) limit = grain;
  const int64_t count = wf_ceil_div(size, limit), even = wf_ceil_div(size, count);
  return wf_min(limit, wf_ceil_div(even, grain) * grain);
}

// Pooled results: whole rows of an image or parts of them, as many as the sums under them leave room for.
static void try_images(chooser *c, map_mapping *m, int64_t largest) {
  const int64_t p = c->layer->size[BLOCK_DIM_P], q = c->layer->size[BLOCK_DIM_Q];
  const int64_t size = c->layer->pool_size, stride = c->layer->pool_stride;
  set_tile(c, m, BLOCK_DIM_N, 1);
  for (int64_t rows = largest; rows >= size * size; rows /= 2)
    for (int64_t parts = 1; parts <= q; parts *= 2) {
      const int64_t tile_q = wf_ceil_div(q, parts), left = rows / map_sums(c->layer, tile_q);
      if (left < size) continue;
      set_tile(c, m, BLOCK_DIM_Q, tile_q);
      set_tile(c, m, BLOCK_DIM_P, balanced(p, (left - size) / stride + 1, 1));
      try_channels(c, m);
      if (is_fixed(c, BLOCK_DIM_P)) return;
    }
}

// Channels by themselves are loaded for few products: smaller blocks of halves of rows hide more of it.
static void try_halves(chooser *c, map_mapping *m, int64_t rows) {
  const int64_t p = c->layer->size[BLOCK_DIM_P], q = c->layer->size[BLOCK_DIM_Q], half = wf_ceil_div(q, 2);
  if (half < c->hw.dim) return;
  set_tile(c, m, BLOCK_DIM_Q, half);
  set_tile(c, m, BLOCK_DIM_P, balanced(p, rows / half, 1));
  try_channels(c, m);
}

// Rows of results: whole rows of an image where they fit, else parts of one; images together if they are small.
static void try_rows(chooser *c, map_mapping *m) {
  const int64_t dim = c->hw.dim, slots = m->depth[MAP_RESULTS];
  const int64_t columns = wf_ceil_div(wf_min(m->tile[BLOCK_DIM_K], c->layer->size[BLOCK_DIM_K]), dim);
  const int64_t largest = c->hw.acc_rows / slots / columns / dim * dim;  // rows of one slot
  if (largest == 0) return;
  const int64_t p = c->layer->size[BLOCK_DIM_P], q = c->layer->size[BLOCK_DIM_Q], n = c->layer->size[BLOCK_DIM_N];
  if (c->layer->kind != MAP_WINDOW && c->layer->pool_stride != 0) return try_images(c, m, largest);
  const bool images = c->layer->kind >= MAP_CONV && c->layer->kind != MAP_GROUPED;
  const int64_t grain = c->layer->kind == MAP_WINDOW ? 1 : dim, least = wf_min(dim, 4 * grain);
  for (int64_t rows = largest; rows >= least; rows = rows / 2 / grain * grain) {
    const int64_t tile_q = q == 1 ? 1 : balanced(q, wf_min(rows, q), q > rows ? grain : 1);
    const int64_t tile_p = balanced(p, rows / tile_q, q == 1 ? grain : 1);
    set_tile(c, m, BLOCK_DIM_Q, tile_q);
    set_tile(c, m, BLOCK_DIM_P, tile_p);
    set_tile(c, m, BLOCK_DIM_N, images && tile_p >= p && tile_q >= q ? balanced(n, rows / (p * q), 1) : 1);
    try_channels(c, m);
    if (is_fixed(c, BLOCK_DIM_P)) return;
    if (c->layer->kind == MAP_DEPTHWISE && tile_q >= q) try_halves(c, m, rows);
  }
}

static void try_columns(chooser *c, map_mapping *m) {
  const int64_t size = c->layer->size[BLOCK_DIM_K], dim = c->hw.dim;
  for (int64_t columns = dim;; columns *= 2) {
    set_tile(c, m, BLOCK_DIM_K, columns);
    try_rows(c, m);
    const int64_t even = balanced(size, columns, dim);
    if (c->layer->kind == MAP_DEPTHWISE && even < wf_min(columns, size) && even > columns / 2) {
      set_tile(c, m, BLOCK_DIM_K, even);
      try_rows(c, m);
    }
    if (columns >= size || columns > c->hw.acc_rows || is_fixed(c, BLOCK_DIM_K)) return;
  }
}

static size_t choose(chooser *c, block_style style) {
  map_mapping m = {.style = (uint8_t)style,
                   .dataflow = c->array->mesh.dataflow == HW_DATAFLOW_OS ? BLOCK_OS : BLOCK_WS};
  set_tile(c, &m, BLOCK_DIM_R, 1);
  set_tile(c, &m, BLOCK_DIM_S, 1);
  // One slot lets a tile be twice as large, or all of a small image; its stores then hold up the next tile's products.
  // Layers without products are stores above all: there one slot is for what two do not hold.
  for (uint8_t depth = 2; depth >= 1 && (depth == 2 || c->layer->kind != MAP_WINDOW || c->count == 0); depth--) {
    m.depth[MAP_RESULTS] = depth;
    try_columns(c, &m);
  }
  return c->count;
}

static chooser chooser_of(const map_layer *layer, const hw_array *array, const int64_t *tile, map_mapping *best,
                          size_t room) {
  return (chooser){.layer = layer,
                   .array = array,
                   .hw = hw_derive(array),
                   .fixed = tile,
                   .best = best,
                   .room = room < MAP_BEST_MAX ? room : MAP_BEST_MAX};
}

size_t map_best(const map_layer *layer, const hw_array *array, const int64_t *tile, block_style style,
                map_mapping *best, size_t room) {
  chooser c = chooser_of(layer, array, tile, best, room);
  return choose(&c, style);
}

size_t map_best_by_rows(const map_layer *layer, const hw_array *array, map_mapping *best, size_t room) {
  chooser c = chooser_of(layer, array, NULL, best, room);
  c.by_rows = true;
  return choose(&c, BLOCK_STYLE_PRIMITIVE);
}

// Why not even the smallest mapping is one: a tile of results, everything loaded for every product, one slot.
static void explain(const chooser *c, block_style style, wf_diag *diag) {
  map_mapping m = map_none();
  for (int d = 0; d < BLOCK_DIMS; d++)
    set_tile(c, &m, (block_dim_id)d, d == BLOCK_DIM_K || d == BLOCK_DIM_C ? c->hw.dim : 1);
  for (int o = 0; o < MAP_OPERANDS; o++) m.depth[o] = 1;
  m.style = (uint8_t)style;
  const uint8_t order[] = {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_Q, BLOCK_DIM_K, BLOCK_DIM_C, BLOCK_DIM_R, BLOCK_DIM_S};
  memcpy(m.outer, order, sizeof m.outer);
  map_check(c->layer, &m, c->array, diag);
}

bool map_default(const map_layer *layer, const hw_array *array, const int64_t *tile, block_style style,
                 map_mapping *mapping, wf_diag *diag) {
  map_mapping best;
  if (map_best(layer, array, tile, style, &best, 1) == 1) {
    *mapping = best;
    return true;
  }
  const chooser c = {.layer = layer, .array = array, .hw = hw_derive(array), .fixed = tile};
  explain(&c, style, diag);
  wf_error(diag, wf_in_file(NULL), "no mapping of the layer fits array %s", array->name);
  if (tile != NULL) wf_hint(diag, "smaller blocks than the kernel's may fit");
  return false;
}
