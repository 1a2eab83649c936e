// SPDX-License-Identifier: Apache-2.0
// What a mapping takes and moves; see mapping.h.
//
// Rows: a scratchpad buffer has a row per leading element and block of DIM columns; the accumulator keeps tiles of DIM
// rows. Buffers have the size of whole blocks, also where the layer ends earlier: a loop's last trip uses a part.
//
// Bytes: an operand of residency r is loaded in every iteration of the first r loops. The loops that it does not use
// repeat it; the others sweep it, and windows of inputs overlap.
#include <math.h>

#include "base/number.h"
#include "compiler/mapping/mapping.h"

static int64_t or_one(int64_t value) { return value == 0 ? 1 : value; }

// As map_extent, in whole blocks.
static int64_t padded(const map_mapping *m, block_dim_id dim, int position) {
  int64_t extent = m->tile[dim];
  if (m->sp[dim] != 1 && map_position(m, dim, true) >= position) extent *= m->sp[dim];
  if (m->dram[dim] != 1 && map_position(m, dim, false) >= position) extent *= m->dram[dim];
  return extent;
}

// Channels of the inputs: of a depthwise layer those of the results.
static block_dim_id input_channels(const map_layer *layer) {
  return map_keeps_channels(layer->kind) ? BLOCK_DIM_K : BLOCK_DIM_C;
}

static int64_t weight_rows(const map_layer *layer, const map_mapping *m, int64_t dim) {
  const int r = m->residency[MAP_WEIGHTS];
  int64_t rows = padded(m, BLOCK_DIM_R, r) * padded(m, BLOCK_DIM_S, r) * padded(m, BLOCK_DIM_C, r);
  if (layer->kind == MAP_WINDOW) return 0;
  if (map_has_own_weights(layer->kind)) rows *= padded(m, BLOCK_DIM_N, r);
  if (layer->kind == MAP_DEPTHWISE) rows *= dim;  // a diagonal matrix for each block of channels
  return rows * wf_ceil_div(padded(m, BLOCK_DIM_K, r), dim);
}

static int64_t input_rows(const map_layer *layer, const map_mapping *m, int64_t dim) {
  if (layer->kind == MAP_WINDOW) return 0;  // they go to the accumulator
  const int r = m->residency[MAP_INPUTS];
  int64_t rows = padded(m, BLOCK_DIM_N, r);
  rows *= map_loaded(layer, 0, padded(m, BLOCK_DIM_P, r), padded(m, BLOCK_DIM_R, r));
  rows *= map_loaded(layer, 1, padded(m, BLOCK_DIM_Q, r), padded(m, BLOCK_DIM_S, r));
  return rows * wf_ceil_div(padded(m, input_channels(layer), r), dim);
}

// Windows lie in the accumulator, too.
static int64_t result_rows(const map_layer *layer, const map_mapping *m, int64_t dim) {
  int64_t rows = m->tile[BLOCK_DIM_N] * map_loaded(layer, 0, m->tile[BLOCK_DIM_P], m->tile[BLOCK_DIM_R]) *
                 map_loaded(layer, 1, m->tile[BLOCK_DIM_Q], m->tile[BLOCK_DIM_S]);
  return wf_align_up(rows, dim) * wf_ceil_div(m->tile[BLOCK_DIM_K], dim);
}

// ---- bytes

// How often the first `position` loops repeat what they do not change.
static int64_t repeats(const map_layer *layer, const map_mapping *m, map_operand operand, int position) {
  int64_t count = 1;
  for (int p = 0; p < position; p++)
    if (!map_uses(layer->kind, operand, map_loop_dim(m, p))) count *= map_loop_trips(m, p);
  return count;
}

static int64_t clipped(int64_t first, int64_t end, int64_t limit) {
  if (first < 0) first = 0;
  if (end > limit) end = limit;
  return end > first ? end - first : 0;
}

// Input rows (axis 0) or columns (1) that all fills read, within the image: one window per pair of a block of results
// and a block of the kernel.
static int64_t swept(const map_layer *layer, const map_mapping *m, int axis) {
  const block_dim_id result = axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q;
  const block_dim_id kernel = axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S;
  const int64_t stride = or_one(layer->stride[axis]), dilation = or_one(layer->dilation[axis]);
  const int64_t before = layer->padding[2 * axis], after = layer->padding[2 * axis + 1];
  const int64_t size = map_window(layer, axis, layer->size[result], layer->size[kernel]) - before - after;
  const int64_t pooled = or_one(layer->pool_stride);
  if (layer->size[kernel] == 1 && stride == 1 && before + after == 0 && layer->pool_stride == 0)
    return layer->size[result];
  const int64_t results = map_extent(layer, m, result, m->residency[MAP_INPUTS]);
  const int64_t window = map_extent(layer, m, kernel, m->residency[MAP_INPUTS]);
  int64_t sum = 0;
  for (int64_t p = 0; p < layer->size[result]; p += results)
    for (int64_t r = 0; r < layer->size[kernel]; r += window) {
      int64_t here = layer->size[result] - p < results ? layer->size[result] - p : results;
      int64_t taps = layer->size[kernel] - r < window ? layer->size[kernel] - r : window;
      int64_t first = p * pooled * stride + r * dilation - before;
      const int64_t inside = clipped(first, first + map_window(layer, axis, here, taps), size);
      sum += taps == 1 ? wf_ceil_div(inside, stride) : inside;
    }
  return sum;
}

static int64_t weight_bytes(const map_layer *layer, const map_mapping *m, int64_t dim) {
  int64_t bytes = layer->size[BLOCK_DIM_C] * layer->size[BLOCK_DIM_R] * layer->size[BLOCK_DIM_S] *
                  layer->size[BLOCK_DIM_K] * or_one(layer->groups);
  if (layer->kind == MAP_WINDOW) return 0;
  if (map_has_own_weights(layer->kind)) bytes *= layer->size[BLOCK_DIM_N];
  if (layer->kind == MAP_DEPTHWISE) bytes *= dim;
  return bytes * repeats(layer, m, MAP_WEIGHTS, m->residency[MAP_WEIGHTS]);
}

static int64_t input_bytes(const map_layer *layer, const map_mapping *m) {
  int64_t bytes = layer->size[BLOCK_DIM_N] * swept(layer, m, 0) * swept(layer, m, 1) *
                  layer->size[input_channels(layer)] * or_one(layer->groups);
  return bytes * repeats(layer, m, MAP_INPUTS, m->residency[MAP_INPUTS]);
}

static int64_t result_bytes(const map_layer *layer) {
  return layer->size[BLOCK_DIM_N] * layer->size[BLOCK_DIM_P] * layer->size[BLOCK_DIM_Q] * layer->size[BLOCK_DIM_K] *
         or_one(layer->groups) * or_one(layer->result_bytes);
}

// ---- commands

// Blocks of at most `step` that cut each of the tiles of a dimension.
static int64_t pieces(const map_layer *layer, const map_mapping *m, block_dim_id dim, int64_t step) {
  const int64_t size = layer->size[dim], tile = m->tile[dim];
  return size / tile * wf_ceil_div(tile, step) + wf_ceil_div(size % tile, step);
}

// Rows of results come as runs of N, P, Q inside a tile.
static int64_t row_pieces(const map_layer *layer, const map_mapping *m, int64_t dim) {
  const int64_t n = layer->size[BLOCK_DIM_N], p = layer->size[BLOCK_DIM_P], q = layer->size[BLOCK_DIM_Q];
  const bool pools = layer->pool_stride != 0;
  if (!pools && m->tile[BLOCK_DIM_P] == 1 && m->tile[BLOCK_DIM_N] == 1)
    return n * p * pieces(layer, m, BLOCK_DIM_Q, dim);
  if (!pools && q == 1 && m->tile[BLOCK_DIM_N] == 1) return n * pieces(layer, m, BLOCK_DIM_P, dim);
  const int64_t rows =
      m->tile[BLOCK_DIM_N] * map_sums(layer, m->tile[BLOCK_DIM_P]) * map_sums(layer, m->tile[BLOCK_DIM_Q]);
  return wf_ceil_div(n, m->tile[BLOCK_DIM_N]) * wf_ceil_div(p, m->tile[BLOCK_DIM_P]) *
         wf_ceil_div(q, m->tile[BLOCK_DIM_Q]) * wf_ceil_div(rows, dim);
}

// ---- cycles of the mesh

// Cycles of `rows` rows side by side, in products of at most `dim`.
static int64_t run_cycles(int64_t rows, int64_t dim) {
  const int64_t rest = rows % dim;
  return rows - rest + (rest == 0 ? 0 : cost_product_rows(rest, dim));
}

// Whether the rows of a block of results are one run: their inputs lie side by side in the buffer, as do the results.
static bool is_one_run(const map_layer *layer, const map_mapping *m, int64_t n, int64_t p) {
  const int r = m->residency[MAP_INPUTS];
  if (n == 1 && p == 1) return true;
  if (layer->size[BLOCK_DIM_Q] == 1 && layer->size[BLOCK_DIM_R] == 1) return true;
  return map_extent(layer, m, BLOCK_DIM_R, r) == 1 && map_extent(layer, m, BLOCK_DIM_S, r) == 1;
}

// One block of weights under a block of results: the product before the next weights takes DIM cycles, the longest one
// comes last.
static int64_t block_cycles(const map_layer *layer, const map_mapping *m, int64_t n, int64_t p, int64_t q,
                            int64_t dim) {
  if (n == 0 || p == 0 || q == 0) return 0;
  if (is_one_run(layer, m, n, p)) {
    const int64_t rows = n * p * q;
    return rows < dim ? dim : run_cycles(rows, dim);
  }
  return n * p * run_cycles(q, dim) - (q < dim ? run_cycles(q, dim) : dim) + dim;
}

// Whole blocks and the last one of a dimension that is cut into tiles.
typedef struct cut {
  int64_t count[2], size[2];
} cut;

static cut cut_of(const map_layer *layer, const map_mapping *m, block_dim_id dim) {
  const int64_t tile = m->tile[dim], size = layer->size[dim];
  return (cut){.count = {size / tile, size % tile != 0}, .size = {tile, size % tile}};
}

// Products of one block of weights under a block of results. Where results have several blocks of columns, runs end at
// multiples of DIM of the accumulator's rows, too.
static int64_t block_products(const map_layer *layer, const map_mapping *m, int64_t n, int64_t p, int64_t q,
                              int64_t dim) {
  if (is_one_run(layer, m, n, p)) return wf_ceil_div(n * p * q, dim);
  if (m->tile[BLOCK_DIM_K] <= dim || q % dim == 0) return n * p * wf_ceil_div(q, dim);
  int64_t count = 0;
  for (int64_t row = 0; row < n * p; row++) count += wf_ceil_div(row * q % dim + q, dim);
  return count;
}

typedef int64_t block_count(const map_layer *layer, const map_mapping *m, int64_t n, int64_t p, int64_t q, int64_t dim);

// The sum over all blocks of results and of weights.
static int64_t all_blocks(const map_layer *layer, const map_mapping *m, int64_t dim, block_count *of_block) {
  const cut n = cut_of(layer, m, BLOCK_DIM_N), p = cut_of(layer, m, BLOCK_DIM_P), q = cut_of(layer, m, BLOCK_DIM_Q);
  int64_t sum = 0;
  for (int i = 0; i < 8; i++) {
    const int a = i & 1, b = i >> 1 & 1, c = i >> 2;
    const int64_t blocks = n.count[a] * p.count[b] * q.count[c];
    if (blocks == 0) continue;
    sum += blocks * of_block(layer, m, n.size[a], map_sums(layer, p.size[b]), map_sums(layer, q.size[c]), dim);
  }
  return sum * pieces(layer, m, BLOCK_DIM_K, dim) * pieces(layer, m, BLOCK_DIM_C, dim) * layer->size[BLOCK_DIM_R] *
         layer->size[BLOCK_DIM_S] * or_one(layer->groups);
}

// How often the first `position` loops run what is inside of them.
static int64_t iterations(const map_mapping *m, int position) {
  int64_t count = 1;
  for (int p = 0; p < position; p++) count *= map_loop_trips(m, p);
  return count;
}

// Loads of one fill: each takes up to DIM rows of up to `wide` columns; rows of an image end at its edge.
static int64_t weight_loads(const map_layer *layer, const map_mapping *m, int64_t dim, int64_t wide) {
  const int r = m->residency[MAP_WEIGHTS];
  const int64_t taps = map_extent(layer, m, BLOCK_DIM_R, r) * map_extent(layer, m, BLOCK_DIM_S, r);
  const int64_t rows = wf_ceil_div(map_extent(layer, m, BLOCK_DIM_C, r), dim);
  if (layer->kind == MAP_WINDOW) return 0;
  if (layer->kind == MAP_DEPTHWISE) wide = dim;
  const int64_t matrices = map_has_own_weights(layer->kind) ? map_extent(layer, m, BLOCK_DIM_N, r) : 1;
  return matrices * taps * rows * wf_ceil_div(map_extent(layer, m, BLOCK_DIM_K, r), wide);
}

static int64_t input_loads(const map_layer *layer, const map_mapping *m, int64_t dim, int64_t wide) {
  const int r = m->residency[MAP_INPUTS];
  int64_t rows = map_loaded(layer, 0, map_extent(layer, m, BLOCK_DIM_P, r), map_extent(layer, m, BLOCK_DIM_R, r));
  const int64_t columns =
      map_loaded(layer, 1, map_extent(layer, m, BLOCK_DIM_Q, r), map_extent(layer, m, BLOCK_DIM_S, r));
  rows = columns == 1 ? wf_ceil_div(rows, dim) : rows * wf_ceil_div(columns, dim);
  return map_extent(layer, m, BLOCK_DIM_N, r) * rows *
         wf_ceil_div(map_extent(layer, m, input_channels(layer), r), wide);
}

static int64_t result_tiles(const map_layer *layer, const map_mapping *m) {
  int64_t count = 1;
  for (int d = 0; d < BLOCK_DIMS; d++)
    if (map_uses(layer->kind, MAP_RESULTS, (block_dim_id)d)) count *= wf_ceil_div(layer->size[d], m->tile[d]);
  return count;
}

// Products that a residual takes for each tile of results.
static int64_t residual_parts(const map_layer *layer, const map_mapping *m) {
  const bool multiplies = layer->kind != MAP_WINDOW && map_multiplies(m, layer->residual, map_adds_alone(layer));
  return multiplies ? wf_ceil_div(layer->residual, MAP_RESIDUAL_PART) : 0;
}

int64_t map_beside_rows(const map_layer *layer, const map_mapping *m, int64_t dim) {
  if (residual_parts(layer, m) == 0) return 0;
  const int64_t rows = m->tile[BLOCK_DIM_N] * m->tile[BLOCK_DIM_P] * m->tile[BLOCK_DIM_Q];
  return rows * wf_ceil_div(m->tile[BLOCK_DIM_K], dim) * (m->depth[MAP_RESULTS] < 2 ? 1 : 2) + 2 * dim;
}

void map_rows(const map_layer *layer, const map_mapping *m, int64_t dim, int64_t rows[MAP_OPERANDS]) {
  rows[MAP_WEIGHTS] = weight_rows(layer, m, dim);
  rows[MAP_INPUTS] = input_rows(layer, m, dim);
  rows[MAP_RESULTS] = result_rows(layer, m, dim);
}

// Of what each block of weights needs. The unrollers know no zeros.
static int64_t left(const map_layer *layer, const map_mapping *m, int64_t count) {
  return m->style == BLOCK_STYLE_LOOP || layer->zeros == 0 ? count : (int64_t)ceil((double)count * (1 - layer->zeros));
}

map_footprint map_measure(const map_layer *layer, const map_mapping *m, const hw_array *array) {
  const hw_derived hw = hw_derive(array);
  const int64_t dim = hw.dim, wide = hw.max_cols;
  map_footprint f = {.dram_bytes = {[MAP_WEIGHTS] = left(layer, m, weight_bytes(layer, m, dim)),
                                    [MAP_INPUTS] = input_bytes(layer, m),
                                    [MAP_RESULTS] = result_bytes(layer)}};
  map_rows(layer, m, dim, f.slot_rows);
  for (int o = 0; o < MAP_OPERANDS; o++) f.rows[o] = f.slot_rows[o] * m->depth[o];
  const int64_t results = layer->size[BLOCK_DIM_N] * layer->size[BLOCK_DIM_P] * layer->size[BLOCK_DIM_Q];
  const int64_t tiles = row_pieces(layer, m, dim) * or_one(layer->groups);
  if (layer->bias) f.bias_bytes += tiles * layer->size[BLOCK_DIM_K] * 4;
  if (layer->residual) f.bias_bytes += results * layer->size[BLOCK_DIM_K] * or_one(layer->groups);
  f.fills[MAP_WEIGHTS] = iterations(m, m->residency[MAP_WEIGHTS]) * or_one(layer->groups);
  f.fills[MAP_INPUTS] = iterations(m, m->residency[MAP_INPUTS]) * or_one(layer->groups);
  f.fills[MAP_RESULTS] = result_tiles(layer, m) * or_one(layer->groups);
  f.loads_of[MAP_WEIGHTS] = left(layer, m, f.fills[MAP_WEIGHTS] * weight_loads(layer, m, dim, wide));
  f.loads_of[MAP_INPUTS] = f.fills[MAP_INPUTS] * input_loads(layer, m, dim, wide);
  f.loads = f.loads_of[MAP_WEIGHTS] + f.loads_of[MAP_INPUTS];
  if (layer->kind != MAP_WINDOW) {
    // The unrollers multiply with a matrix as wide as the block of results.
    const int64_t deep = m->style == BLOCK_STYLE_LOOP ? wf_ceil_div(m->tile[BLOCK_DIM_K], dim) : 1;
    const int64_t added = tiles * pieces(layer, m, BLOCK_DIM_K, dim) * residual_parts(layer, m) * deep;
    f.products = left(layer, m, all_blocks(layer, m, dim, block_products)) + added;
    f.mesh_cycles = left(layer, m, all_blocks(layer, m, dim, block_cycles)) + added * dim;
  }
  f.beside_rows = map_beside_rows(layer, m, dim);
  if (layer->kind != MAP_WINDOW && layer->pool_stride != 0)
    f.stores = f.fills[MAP_RESULTS] * wf_ceil_div(m->tile[BLOCK_DIM_K], dim) * m->tile[BLOCK_DIM_N];
  else
    f.stores = tiles * pieces(layer, m, BLOCK_DIM_K, layer->result_bytes == 4 ? dim : wide);
  return f;
}

cost_slots map_slots(const map_mapping *m, const map_footprint *f) {
  return (cost_slots){.rows = {[COST_WEIGHTS] = f->slot_rows[MAP_WEIGHTS], [COST_INPUTS] = f->slot_rows[MAP_INPUTS]},
                      .depth = {[COST_WEIGHTS] = m->depth[MAP_WEIGHTS], [COST_INPUTS] = m->depth[MAP_INPUTS]},
                      .unrolled = m->style != BLOCK_STYLE_PRIMITIVE};
}
