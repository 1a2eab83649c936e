// SPDX-License-Identifier: Apache-2.0
// Loads of weights and inputs: the rows of a fill.
#include <math.h>

#include "search/model/machine_context.h"

cost_rows machine_weight_rows(const machine_context *x) {
  const int r = x->m->residency[MAP_WEIGHTS];
  const double bytes = (double)map_extent(x->layer, x->m, BLOCK_DIM_K, r), fills = (double)x->f.fills[MAP_WEIGHTS];
  // Blocks at the end of a dimension are smaller: rows are those of an average fill.
  const double rows = (double)x->f.dram_bytes[MAP_WEIGHTS] / fills / bytes;
  const double whole = machine_swept_bytes(x, MAP_WEIGHTS, r) / bytes;
  return (cost_rows){.count = rows,
                     .bytes = bytes,
                     .stride = x->layer->size[BLOCK_DIM_K],
                     .commands = (double)x->f.loads_of[MAP_WEIGHTS] / fills * wf_min(1, rows / whole)};
}

// Rows of pixels (axis 0), or pixels of a row, that all fills load, and those of them inside of the image. A fill of
// one tap of the window leaves out what a stride jumps over.
typedef struct sweep {
  double all, inside, fills;
} sweep;

static sweep sweep_of(const machine_context *x, int axis) {
  const map_layer *l = x->layer;
  const block_dim_id result = axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q, window = axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S;
  const int64_t results = map_extent(l, x->m, result, x->m->residency[MAP_INPUTS]);
  const int64_t taps = map_extent(l, x->m, window, x->m->residency[MAP_INPUTS]);
  const int64_t stride = l->stride[axis] > 1 ? l->stride[axis] : 1;
  const int64_t dilation = l->dilation[axis] > 1 ? l->dilation[axis] : 1, before = l->padding[2 * axis];
  const int64_t size = map_window(l, axis, l->size[result], l->size[window]) - before - l->padding[2 * axis + 1];
  const int64_t step = taps == 1 ? stride : 1;
  sweep s = {0};
  for (int64_t p = 0; p < l->size[result]; p += results)
    for (int64_t r = 0; r < l->size[window]; r += taps, s.fills++) {
      const int64_t here = l->size[result] - p < results ? l->size[result] - p : results;
      const int64_t rows = taps == 1 ? here : map_window(l, axis, here, taps);
      const int64_t first = p * stride + r * dilation - before;
      const int64_t low = first < 0 ? (-first + step - 1) / step : 0;
      const int64_t high = first >= size ? 0 : (size - first + step - 1) / step;
      s.all += (double)rows;
      s.inside += wf_max(0, (double)((high < rows ? high : rows) - low));
    }
  return s;
}

cost_rows machine_input_rows(const machine_context *x) {
  const map_layer *l = x->layer;
  const block_dim_id channels = input_channels(l);
  const int r = x->m->residency[MAP_INPUTS];
  const double bytes = (double)map_extent(l, x->m, channels, r);
  const sweep rows = sweep_of(x, 0), columns = sweep_of(x, 1);
  const double images = (double)map_extent(l, x->m, BLOCK_DIM_N, r);
  const double down = rows.inside / rows.fills, across = columns.inside / columns.fills;
  const double pieces = ceil(bytes / x->cost.hw.max_cols);
  const double commands = across <= 1 ? ceil(down / x->cost.dim) : down * ceil(across / x->cost.dim);
  return (cost_rows){.count = images * down * across,
                     .bytes = bytes,
                     .stride = l->size[channels],
                     .commands = images * commands * pieces,
                     .zeros = images * (rows.all / rows.fills * columns.all / columns.fills - down * across)};
}

// How many portions a fill has: positions inside of its loop at which the operand changes.
double machine_portions(const machine_context *x, map_operand operand) {
  double portions = 1;
  for (int p = x->m->residency[operand]; p < MAP_POSITIONS; p++)
    if (map_uses(x->layer->kind, operand, map_loop_dim(x->m, p))) portions *= (double)map_loop_trips(x->m, p);
  return portions;
}

machine_stream machine_stream_of(const machine_context *x, map_operand operand, double *memory) {
  const cost_rows r = operand == MAP_WEIGHTS ? machine_weight_rows(x) : machine_input_rows(x);
  const double fills = (double)x->f.fills[operand];
  const cost_load load = cost_load_of(&x->cost, &r, machine_missed_lines(x, operand) / fills);
  machine_stream s = {.portions = machine_portions(x, operand), .latency = load.latency};
  *memory = load.memory * fills;
  s.unit = load.unit / s.portions;
  s.data = load.data / s.portions;
  s.commands = r.commands / s.portions;
  const block_dim_id across = operand == MAP_WEIGHTS ? BLOCK_DIM_K : input_channels(x->layer);
  s.spread = wf_min(r.bytes, (double)x->m->tile[across]) > x->cost.dim;
  const double wide = x->cost.hw.max_cols;
  const double deep = ceil((double)x->m->tile[BLOCK_DIM_C] / x->cost.dim);
  const double columns = ceil((double)x->m->tile[BLOCK_DIM_K] / x->cost.dim);
  const double steps = operand == MAP_WEIGHTS ? deep * ceil((double)x->m->tile[BLOCK_DIM_K] / wide)
                                              : ceil((double)x->m->tile[BLOCK_DIM_C] / wide);
  s.first = 1 / steps;
  s.rest = operand == MAP_WEIGHTS ? 1 / (deep * columns) : 1 - (deep - 1) / (deep * columns);
  return s;
}
