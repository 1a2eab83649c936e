// SPDX-License-Identifier: Apache-2.0
// What the loop unrollers ask of a mapping; see unrolled.h. LOOP_WS takes matrix products, LOOP_CONV_WS convolutions.
//
// A loop has one half of each memory, while the next one fills the other half. The unroller of convolutions lays out
// the inputs under a block of results with their padding, stride rows for each row of results.
#include "compiler/mapping/unrolled.h"

#include <inttypes.h>

#include "base/number.h"
#include "compiler/mapping/check.h"

#define REFUSE_LOOP(c, ...) REFUSE(c, "style loop: " __VA_ARGS__)

// ---- halves of the memories

// The unrollers count rows in 16 bits.
static void check_half(map_checker *c, const char *memory, int64_t rows, int64_t capacity) {
  const int64_t half = wf_min(capacity / 2, UINT16_MAX);
  if (rows > half) REFUSE_LOOP(c, "%s: a block needs %" PRId64 " rows of %" PRId64 ", a half", memory, rows, half);
}

static void check_halves(map_checker *c, int64_t operands, int64_t results) {
  check_half(c, "scratchpad", operands, c->hw.sp_rows);
  check_half(c, "accumulator", results, c->hw.acc_rows);
}

static int64_t tiles(const map_checker *c, block_dim_id dim) { return wf_ceil_div(c->mapping->tile[dim], c->hw.dim); }

// A residual is one more loop: its block of results times a matrix as wide as that.
static bool multiplies(const map_checker *c) {
  return map_multiplies(c->mapping, c->layer->residual, map_adds_alone(c->layer));
}

static void check_product_halves(map_checker *c) {
  const int64_t rows = tiles(c, BLOCK_DIM_P), columns = tiles(c, BLOCK_DIM_K), depth = tiles(c, BLOCK_DIM_C);
  const int64_t deepest = multiplies(c) ? wf_max(depth, columns) : depth;
  check_halves(c, (rows + columns) * deepest * c->hw.dim, rows * columns * c->hw.dim);
}

// Rows or columns of inputs under a block of results.
static int64_t window(const map_checker *c, int axis, int64_t stride) {
  const block_dim_id result = axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q, kernel = axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S;
  const int64_t taps = map_extent(c->layer, c->mapping, kernel, c->mapping->residency[MAP_INPUTS]);
  return c->mapping->tile[result] * stride + (taps - 1) * wf_max(1, c->layer->dilation[axis]);
}

static void check_convolution_halves(map_checker *c) {
  const map_mapping *m = c->mapping;
  const int64_t dim = c->hw.dim, stride = wf_max(1, wf_max(c->layer->stride[0], c->layer->stride[1]));
  const bool blocks = c->layer->kind == MAP_DEPTHWISE;  // each block of channels is one loop
  const int64_t pixels = m->tile[BLOCK_DIM_N] * m->tile[BLOCK_DIM_P] * m->tile[BLOCK_DIM_Q];
  const int64_t columns = blocks ? 1 : tiles(c, BLOCK_DIM_K), channels = blocks ? dim : m->tile[BLOCK_DIM_C];
  const int64_t taps = map_extent(c->layer, m, BLOCK_DIM_R, m->residency[MAP_WEIGHTS]) *
                       map_extent(c->layer, m, BLOCK_DIM_S, m->residency[MAP_WEIGHTS]);
  const int64_t inputs =
      wf_ceil_div(channels, dim) * m->tile[BLOCK_DIM_N] * window(c, 0, stride) * window(c, 1, stride);
  int64_t operands = inputs + columns * taps * channels;
  if (multiplies(c)) operands = wf_max(operands, columns * (pixels + (blocks ? dim : m->tile[BLOCK_DIM_K])));
  check_halves(c, operands, columns * pixels);
}

// ---- the unroller of convolutions

// What its registers cannot say.
static void check_shape(map_checker *c) {
  const map_layer *layer = c->layer;
  const int64_t *size = layer->size;
  if (layer->result_bytes == 4) REFUSE_LOOP(c, "the unroller stores int8 results, not int32");
  if (layer->pool_size != 0) REFUSE_LOOP(c, "results of convolutions are not pooled");
  if (size[BLOCK_DIM_P] > 1 && size[BLOCK_DIM_Q] > 1 && layer->stride[0] != layer->stride[1])
    REFUSE_LOOP(c, "the unroller has one stride, not %" PRId64 " and %" PRId64, layer->stride[0], layer->stride[1]);
  if (size[BLOCK_DIM_R] > 1 && size[BLOCK_DIM_S] > 1 && layer->dilation[0] != layer->dilation[1])
    REFUSE_LOOP(c, "the unroller has one dilation, not %" PRId64 " and %" PRId64, layer->dilation[0],
                layer->dilation[1]);
}

// Revision 1 has one register for channels of inputs and one for those of results, by which weights lie, too.
static void check_revision(map_checker *c) {
  const map_layer *layer = c->layer;
  if (c->array->isa.revision != 1) return;
  if (layer->kind == MAP_GROUPED)
    REFUSE_LOOP(c, "groups lie side by side, which revision 1 of the unroller cannot tell from their weights");
  if (layer->kind == MAP_DEPTHWISE && layer->size[BLOCK_DIM_K] != c->hw.dim)
    REFUSE_LOOP(
        c, "depthwise: %" PRId64 " channels in matrices of %u, which revision 1 of the unroller has one register for",
        layer->size[BLOCK_DIM_K], c->hw.dim);
}

static bool is_convolution(const map_layer *layer) { return layer->kind >= MAP_CONV && layer->kind != MAP_WINDOW; }

// ---- both

static void check_units(map_checker *c) {
  const bool convolution = is_convolution(c->layer);
  if (c->layer->kind == MAP_WINDOW)
    REFUSE_LOOP(c, "only products are given to the unrollers, not %s", map_kind_names[MAP_WINDOW]);
  if (c->mapping->dataflow != BLOCK_WS) REFUSE_LOOP(c, "the unroller is weight-stationary");
  if (!(convolution ? c->array->units.loop_conv : c->array->units.loop_matmul))
    REFUSE_LOOP(c, "the array has no unroller for %s", convolution ? "convolutions" : "matrix products");
}

// Loops that an operand is kept through.
static int64_t kept_through(const map_mapping *m, map_operand operand) {
  int64_t trips = 1;
  for (int p = m->residency[operand]; p < MAP_POSITIONS; p++) trips *= map_loop_trips(m, p);
  return trips;
}

static void check_residency(map_checker *c) {
  const map_mapping *m = c->mapping;
  const bool kernel = is_convolution(c->layer);
  bool good = true;
  for (int o = 0; o < MAP_OPERANDS; o++)
    if (m->depth[o] != 2) REFUSE_LOOP(c, "depth of %s is 2, a half of the memory per loop", map_operand_names[o]);
  for (int o = 0; o < MAP_RESULTS; o++) {
    if (m->residency[o] >= map_unrolled(c->layer, m)) continue;
    good = false;
    REFUSE_LOOP(c, "the unroller loads %s for every block, inside all loops%s", map_operand_names[o],
                kernel ? " but those over the kernel" : "");
  }
  if (good && kept_through(m, MAP_WEIGHTS) != kept_through(m, MAP_INPUTS))
    REFUSE_LOOP(c, "the unroller loads weights and inputs inside of the same loops");
}

bool map_check_unrolled(const map_layer *layer, const map_mapping *mapping, const hw_array *array, wf_diag *diag) {
  map_checker c = {
      .layer = layer, .mapping = mapping, .array = array, .hw = hw_derive(array), .diag = diag, .good = true};
  if (mapping->style != BLOCK_STYLE_LOOP) return true;
  check_units(&c);
  check_residency(&c);
  if (!is_convolution(layer)) {
    check_product_halves(&c);
    return c.good;
  }
  check_shape(&c);
  check_revision(&c);
  check_convolution_halves(&c);
  return c.good;
}
