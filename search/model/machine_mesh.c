// SPDX-License-Identifier: Apache-2.0
// The mesh: products of a stage, and where their operands lie.
#include <math.h>

#include "search/model/machine_context.h"

typedef struct run_walk {
  const machine_context *x;
  machine_runs r;
  int64_t count, step, spacing;  // of the run at work; of the configuration
} run_walk;

static void end_run(run_walk *w) {
  if (w->count == 0) return;
  const double cycles = cost_pair_cycles(&w->x->cost, (double)w->count);
  w->r.count++;
  w->r.full += w->count == w->x->cost.hw.dim;
  w->r.held += cycles > (double)cost_product_rows(w->count, w->x->cost.hw.dim) && w->count != w->x->cost.hw.dim;
  w->r.rows += (double)w->count;
  w->r.cycles += cycles;
  w->r.last = wf_max(w->r.last, cycles);
  if (w->count > 1 && w->step != w->spacing) {
    w->r.changes += w->spacing != 0;
    w->spacing = w->step;
  }
  w->count = 0;
}

// `count` rows, `jump` behind the one before and then `step` apart, the first at `place` of the accumulator.
static void add_rows(run_walk *w, int64_t count, int64_t jump, int64_t step, int64_t place, bool tiled) {
  const int64_t dim = w->x->cost.hw.dim;
  while (count > 0) {
    const bool cut = w->count == dim || (tiled && place % dim == 0) || (w->count > 1 && jump != w->step);
    if (cut) end_run(w);
    if (w->count == 1) w->step = jump;
    int64_t taken = 1;
    if (w->count > 0 && w->step == step && count > 1) {
      taken = dim - w->count < count ? dim - w->count : count;
      if (tiled && dim - place % dim < taken) taken = dim - place % dim;
    }
    w->count += taken;
    count -= taken;
    place += taken;
    jump = step;
  }
}

machine_layout machine_result_layout(const machine_context *x) {
  const int64_t *tile = x->m->tile, dim = x->cost.hw.dim, least_rows = cost_product_rows(0, dim);
  const int64_t columns = wf_min(tile[BLOCK_DIM_K], x->layer->size[BLOCK_DIM_K]);
  machine_layout l = {.pitch = tile[BLOCK_DIM_Q]};
  if (x->layer->result_bytes == 4 || columns <= dim || x->cost.hw.max_block_len == 1) return l;
  int64_t pitch = l.pitch;
  if (x->layer->kind >= MAP_CONV && wf_common_factor(pitch, dim) < least_rows) pitch = wf_ceil_div(pitch, dim) * dim;
  const int64_t rows =
      wf_ceil_div(tile[BLOCK_DIM_N] * tile[BLOCK_DIM_P] * pitch, dim) * dim * wf_ceil_div(columns, dim);
  if (rows * x->m->depth[MAP_RESULTS] <= x->cost.hw.acc_rows) l = (machine_layout){.tiled = true, .pitch = pitch};
  return l;
}

machine_runs machine_runs_of(const machine_context *x) {
  const map_layer *l = x->layer;
  const int64_t *tile = x->m->tile;
  run_walk w = {.x = x};
  const int64_t row = wf_min(tile[BLOCK_DIM_Q], l->size[BLOCK_DIM_Q]);
  const int64_t lines =
      wf_min(tile[BLOCK_DIM_P], l->size[BLOCK_DIM_P]) * wf_min(tile[BLOCK_DIM_N], l->size[BLOCK_DIM_N]);
  const machine_layout layout = machine_result_layout(x);
  const int64_t pitch = layout.pitch;
  const bool tiled = layout.tiled;
  if (row == 1 && pitch == 1) {
    add_rows(&w, lines, 1, 1, 0, tiled);
    end_run(&w);
    return w.r;
  }
  // In the scratchpad the rows of an image have the halo, too.
  const int r = x->m->residency[MAP_INPUTS];
  const int64_t taps = map_extent(l, x->m, BLOCK_DIM_S, r), wide = map_extent(l, x->m, BLOCK_DIM_Q, r);
  const int64_t stride = l->stride[1] > 1 && taps > 1 ? l->stride[1] : 1;
  const int64_t down = l->stride[0] > 1 && map_extent(l, x->m, BLOCK_DIM_R, r) > 1 ? l->stride[0] : 1;
  const int64_t width = taps == 1 ? wide : map_window(l, 1, wide, taps);
  for (int64_t line = 0; line < lines; line++) {
    if (pitch != row) end_run(&w);
    add_rows(&w, row, line == 0 ? stride : width * down - (row - 1) * stride, stride, line * pitch, tiled);
  }
  end_run(&w);
  return w.r;
}

// Blocks of `step` in the tiles of a dimension, on average over its tiles.
static double blocks_of(const machine_context *x, block_dim_id dim, int64_t step) {
  const int64_t size = x->layer->size[dim], tile = wf_min(x->m->tile[dim], size);
  const int64_t blocks = size / tile * wf_ceil_div(tile, step) + wf_ceil_div(size % tile, step);
  return (double)blocks / (double)wf_ceil_div(size, tile);
}

// Of a stage.
double machine_mesh_cycles(const machine_context *x, double *pairs, double *products, double *fresh) {
  const machine_runs r = machine_runs_of(x);
  // Tiles at the end of an image have fewer rows.
  double cut = 1;
  static const block_dim_id rows[] = {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_Q};
  for (int i = 0; i < 3; i++) {
    const double tile = (double)wf_min(x->m->tile[rows[i]], x->layer->size[rows[i]]);
    cut *= (double)x->layer->size[rows[i]] / (tile * ceil((double)x->layer->size[rows[i]] / tile));
  }
  const double blocks = blocks_of(x, BLOCK_DIM_K, x->cost.hw.dim) * blocks_of(x, BLOCK_DIM_C, x->cost.hw.dim);
  *products = wf_max(1, blocks * r.count * cut);
  const double depth = (double)wf_min(x->m->tile[BLOCK_DIM_C], x->layer->size[BLOCK_DIM_C]);
  *fresh = blocks_of(x, BLOCK_DIM_K, x->cost.hw.dim) * depth;
  if (x->m->dataflow == BLOCK_OS) {
    *pairs = 0;
    return blocks * r.count * cut * x->cost.dim * x->cost.c->os_pair;
  }
  // The product in front of new weights takes as long as these.
  const double both = depth / ceil(depth / x->cost.dim);  // rows of weights, which wait for one of inputs each
  const double last = wf_max(cost_pair_cycles(&x->cost, x->cost.dim), r.last) + both * cost_bank_conflicts(&x->places);
  const double block = (r.cycles - r.last) * cut + last;
  *pairs = blocks * (block - wf_min(block, r.rows * cut));
  return blocks * (block + r.changes * (x->cost.hw.mesh_latency + x->cost.c->configure)) + x->cost.c->stage_cycles;
}
