// SPDX-License-Identifier: Apache-2.0
// Whether a mapping can be carried out on an array: one function per rule, each with its reason. See mapping.h.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "compiler/mapping/check.h"
#include "compiler/mapping/unrolled.h"

// ---- the data itself

static bool is_permutation(const uint8_t *order) {
  unsigned seen = 0;
  for (int i = 0; i < BLOCK_DIMS; i++)
    if (order[i] < BLOCK_DIMS) seen |= 1U << order[i];
  return seen == (1U << BLOCK_DIMS) - 1;
}

static void check_ranges(map_checker *c) {
  const map_mapping *m = c->mapping;
  if (!is_permutation(m->outer)) REFUSE(c, "outer: does not name each dimension once");
  if (!is_permutation(m->inner)) REFUSE(c, "inner: does not name each dimension once");
  for (int o = 0; o < MAP_OPERANDS; o++)
    if (m->depth[o] < 1 || m->depth[o] > MAP_DEPTH_MAX)
      REFUSE(c, "%s: depth %u is not 1 to %d", map_operand_names[o], m->depth[o], MAP_DEPTH_MAX);
  for (int o = 0; o < MAP_RESULTS; o++)
    if (m->residency[o] > MAP_POSITIONS)
      REFUSE(c, "%s: residency %u of %d", map_operand_names[o], m->residency[o], MAP_POSITIONS);
  if (m->dataflow > BLOCK_OS) REFUSE(c, "dataflow %u does not exist", m->dataflow);
  if (m->style > BLOCK_STYLE_LOOP) REFUSE(c, "style %u does not exist", m->style);
}

// Products far beyond any layer, so that what is computed from them later cannot overflow.
enum { FACTOR_MAX = 1 << 24 };

static void check_factors(map_checker *c) {
  const map_mapping *m = c->mapping;
  for (int d = 0; d < BLOCK_DIMS; d++) {
    const int64_t size = c->layer->size[d], tile = m->tile[d], sp = m->sp[d], dram = m->dram[d];
    const char *name = block_dim_names[d];
    if (tile < 1 || sp < 1 || dram < 1 || tile > FACTOR_MAX || sp > FACTOR_MAX || dram > FACTOR_MAX) {
      REFUSE(c, "factors of %s: %" PRId64 ", %" PRId64 ", %" PRId64 " are not all 1 to %d", name, tile, sp, dram,
             FACTOR_MAX);
      continue;
    }
    // The products below are under 2^72 only on paper: sp and dram are checked against the size one after the other.
    const int64_t trips = (size + tile - 1) / tile;
    if (sp > trips) REFUSE(c, "sp of %s: %" PRId64 " trips where %" PRId64 " blocks are left", name, sp, trips);
    if (sp * dram < trips)
      REFUSE(c, "factors of %s: %" PRId64 " * %" PRId64 " * %" PRId64 " do not cover %" PRId64, name, tile, sp, dram,
             size);
    if (sp * (dram - 1) >= trips)
      REFUSE(c, "dram of %s: the last of %" PRId64 " trips has nothing left of %" PRId64, name, dram, size);
  }
}

// ---- shape of blocks

// Columns of operands lie DIM to a row, so a block that starts inside a row cannot be addressed.
static void check_columns(map_checker *c) {
  const int64_t dim = c->hw.dim;
  static const block_dim_id columns[] = {BLOCK_DIM_K, BLOCK_DIM_C};
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
    const block_dim_id d = columns[i];
    if (c->mapping->tile[d] % dim == 0 || c->mapping->tile[d] >= c->layer->size[d]) continue;
    REFUSE(c, "tile of %s: %" PRId64 " is no multiple of %" PRId64 " and does not cover %" PRId64, block_dim_names[d],
           c->mapping->tile[d], dim, c->layer->size[d]);
  }
}

enum { IMAGE_MAX = 255 };

static void check_pooled(map_checker *c) {
  const int64_t rows = map_sums(c->layer, c->mapping->tile[BLOCK_DIM_P]);
  const int64_t columns = map_sums(c->layer, c->mapping->tile[BLOCK_DIM_Q]);
  if (rows > IMAGE_MAX || columns > IMAGE_MAX)
    REFUSE(c, "tile: an image of %" PRId64 " x %" PRId64 " to pool, at most %d", rows, columns, IMAGE_MAX);
}

// The store unit pools whole windows of images of at most so many rows and columns.
static void check_image(map_checker *c) {
  const map_mapping *m = c->mapping;
  const bool pools = c->layer->pool_size != 0;
  for (int axis = 0; axis < 2; axis++) {
    const block_dim_id d = axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S;
    const int64_t whole = pools ? c->layer->size[d] : 1;
    if (m->tile[d] != whole)
      REFUSE(c, "tile of %s: %" PRId64 ", %s", block_dim_names[d], m->tile[d],
             pools ? "windows are pooled as a whole" : "a load handles one element of the window");
  }
  const int64_t rows = map_loaded(c->layer, 0, m->tile[BLOCK_DIM_P], m->tile[BLOCK_DIM_R]);
  const int64_t columns = map_loaded(c->layer, 1, m->tile[BLOCK_DIM_Q], m->tile[BLOCK_DIM_S]);
  if (pools && (rows > IMAGE_MAX || columns > IMAGE_MAX))
    REFUSE(c, "tile: an image of %" PRId64 " x %" PRId64 " to pool, at most %d", rows, columns, IMAGE_MAX);
}

// A block of the kernel is one element: the product reads the inputs under it as one matrix.
static void check_kernel(map_checker *c) {
  static const block_dim_id kernel[] = {BLOCK_DIM_R, BLOCK_DIM_S};
  if (c->layer->kind == MAP_WINDOW) {
    check_image(c);
    return;
  }
  if (c->layer->pool_stride != 0) check_pooled(c);
  for (size_t i = 0; i < sizeof kernel / sizeof kernel[0]; i++)
    if (c->mapping->tile[kernel[i]] != 1)
      REFUSE(c, "tile of %s: %" PRId64 ", a product handles one element of the kernel", block_dim_names[kernel[i]],
             c->mapping->tile[kernel[i]]);
  if (map_has_own_weights(c->layer->kind) && c->mapping->tile[BLOCK_DIM_N] != 1)
    REFUSE(c, "tile of N: %" PRId64 ", a product has one matrix of weights", c->mapping->tile[BLOCK_DIM_N]);
  if (c->layer->kind == MAP_GROUPED && c->mapping->sp[BLOCK_DIM_N] > 1 && c->mapping->dram[BLOCK_DIM_N] > 1)
    REFUSE(c, "N: images and groups are loops of their own, which are not cut");
}

static bool is_reduction(block_dim_id dim) { return !map_uses(MAP_CONV, MAP_RESULTS, dim); }

static const char *level(int position) { return position < BLOCK_DIMS ? "outer" : "inner"; }

static void check_order(map_checker *c) {
  const map_mapping *m = c->mapping;
  int reduction = -1;
  for (int p = 0; p < MAP_POSITIONS; p++) {
    if (map_loop_trips(m, p) == 1) continue;
    const block_dim_id dim = map_loop_dim(m, p);
    if (is_reduction(dim)) {
      reduction = p;
    } else if (reduction >= 0) {
      REFUSE(c, "accumulator: the %s loop over %s runs inside the %s loop over %s, whose sums are not complete",
             level(p), block_dim_names[dim], level(reduction), block_dim_names[map_loop_dim(m, reduction)]);
      return;
    }
  }
}

// ---- capacity

static void check_rows(map_checker *c, const char *memory, int64_t rows, int64_t capacity, const map_footprint *f,
                       map_operand first, map_operand last) {
  if (rows <= capacity) return;
  char parts[160];
  size_t length = 0;
  for (map_operand o = first; o <= last; o++)
    length += (size_t)snprintf(parts + length, sizeof parts - length, "%s%s %u x %" PRId64, o == first ? "" : ", ",
                               map_operand_names[o], c->mapping->depth[o], f->slot_rows[o]);
  REFUSE(c, "%s: needs %" PRId64 " rows of %" PRId64 " (%s)", memory, rows, capacity, parts);
}

static void check_capacity(map_checker *c) {
  const map_footprint f = map_measure(c->layer, c->mapping, c->array);
  const int64_t operands = f.rows[MAP_WEIGHTS] + f.rows[MAP_INPUTS] + f.beside_rows;
  check_rows(c, "scratchpad", operands, c->hw.sp_rows, &f, MAP_WEIGHTS, MAP_INPUTS);
  check_rows(c, "accumulator", f.rows[MAP_RESULTS], c->hw.acc_rows, &f, MAP_RESULTS, MAP_RESULTS);
}

// ---- units

static void check_dataflow(map_checker *c) {
  const uint32_t built = c->array->mesh.dataflow;
  if (c->mapping->dataflow == BLOCK_WS && built == HW_DATAFLOW_OS) REFUSE(c, "dataflow ws: the array is built for os");
  if (c->mapping->dataflow == BLOCK_OS && built == HW_DATAFLOW_WS) REFUSE(c, "dataflow os: the array is built for ws");
}

bool map_check(const map_layer *layer, const map_mapping *mapping, const hw_array *array, wf_diag *diag) {
  map_checker c = {
      .layer = layer, .mapping = mapping, .array = array, .hw = hw_derive(array), .diag = diag, .good = true};
  check_ranges(&c);
  check_factors(&c);
  if (!c.good) return false;  // what follows computes with them
  check_columns(&c);
  check_kernel(&c);
  check_order(&c);
  if (mapping->style == BLOCK_STYLE_PRIMITIVE) check_capacity(&c);
  check_dataflow(&c);
  return map_check_unrolled(layer, mapping, array, diag) && c.good;
}
