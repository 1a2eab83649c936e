// SPDX-License-Identifier: Apache-2.0
// What follows from a mapping: positions of loops, extents, windows of inputs. See mapping.h.
#include "compiler/mapping/mapping.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"

const char *const map_kind_names[MAP_KIND_COUNT] = {
#define X(NAME, text) [MAP_##NAME] = text,
    MAP_KINDS(X)
#undef X
};
const char *const map_operand_names[MAP_OPERANDS] = {"weights", "inputs", "results"};

map_mapping map_none(void) {
  map_mapping m = {.residency = {MAP_POSITIONS, MAP_POSITIONS}, .depth = {2, 2, 2}};
  for (uint8_t d = 0; d < BLOCK_DIMS; d++) m.outer[d] = m.inner[d] = d;
  return m;
}

bool map_is_none(const map_mapping *mapping) { return mapping->tile[0] == 0; }

static int place_of(const uint8_t *order, block_dim_id dim) {
  for (int i = 0; i < BLOCK_DIMS; i++)
    if (order[i] == dim) return i;
  assert(false && "an order is a permutation");
  return 0;
}

int map_position(const map_mapping *mapping, block_dim_id dim, bool inner) {
  return inner ? BLOCK_DIMS + place_of(mapping->inner, dim) : place_of(mapping->outer, dim);
}

block_dim_id map_loop_dim(const map_mapping *mapping, int position) {
  return position < BLOCK_DIMS ? mapping->outer[position] : mapping->inner[position - BLOCK_DIMS];
}

int64_t map_loop_trips(const map_mapping *mapping, int position) {
  block_dim_id dim = map_loop_dim(mapping, position);
  return position < BLOCK_DIMS ? mapping->dram[dim] : mapping->sp[dim];
}

bool map_uses(map_kind kind, map_operand operand, block_dim_id dim) {
#define BIT(letter) (1 << BLOCK_DIM_##letter)
  static const uint8_t dims[MAP_OPERANDS] = {
      [MAP_WEIGHTS] = BIT(C) | BIT(R) | BIT(S) | BIT(K),
      [MAP_INPUTS] = BIT(N) | BIT(P) | BIT(Q) | BIT(C) | BIT(R) | BIT(S),
      [MAP_RESULTS] = BIT(N) | BIT(P) | BIT(Q) | BIT(K),
  };
#undef BIT
  if (kind == MAP_WINDOW && operand == MAP_WEIGHTS) return false;
  if (map_has_own_weights(kind) && operand == MAP_WEIGHTS && dim == BLOCK_DIM_N) return true;
  if (map_keeps_channels(kind) && operand == MAP_INPUTS && dim == BLOCK_DIM_K) return true;
  return (dims[operand] >> dim & 1) != 0;
}

bool map_multiplies(const map_mapping *m, int64_t residual, bool alone) {
  static const block_dim_id reduction[] = {BLOCK_DIM_C, BLOCK_DIM_R, BLOCK_DIM_S};
  int64_t depth = 1;
  for (int i = 0; i < 3; i++) depth *= m->tile[reduction[i]] * m->sp[reduction[i]] * m->dram[reduction[i]];
  if (residual != 1) return residual > 1;
  return m->style == BLOCK_STYLE_LOOP ? !alone : depth >= MAP_DEEP_SUM;
}

int map_unrolled(const map_layer *layer, const map_mapping *m) {
  const bool kernel = layer->kind >= MAP_CONV && layer->kind != MAP_WINDOW;
  int position = MAP_POSITIONS;
  while (position > 0) {
    const block_dim_id dim = map_loop_dim(m, position - 1);
    if (map_loop_trips(m, position - 1) > 1 && !(kernel && (dim == BLOCK_DIM_R || dim == BLOCK_DIM_S))) break;
    position--;
  }
  return position;
}

int64_t map_extent(const map_layer *layer, const map_mapping *mapping, block_dim_id dim, int position) {
  int64_t extent = mapping->tile[dim];
  if (mapping->sp[dim] != 1 && map_position(mapping, dim, true) >= position) extent *= mapping->sp[dim];
  if (mapping->dram[dim] != 1 && map_position(mapping, dim, false) >= position) extent *= mapping->dram[dim];
  return wf_min(extent, layer->size[dim]);
}

static int64_t or_one(int64_t value) { return value == 0 ? 1 : value; }

int64_t map_window(const map_layer *layer, int axis, int64_t results, int64_t window) {
  return (map_sums(layer, results) - 1) * or_one(layer->stride[axis]) + (window - 1) * or_one(layer->dilation[axis]) +
         1;
}

int64_t map_loaded(const map_layer *layer, int axis, int64_t results, int64_t window) {
  const bool whole = window > 1 || (layer->kind == MAP_WINDOW && layer->pool_size != 0);  // pooled as it lies
  return !whole ? map_sums(layer, results) : map_window(layer, axis, results, window);
}

int64_t map_macs(const map_layer *layer) {
  int64_t macs = or_one(layer->groups);
  for (int d = 0; d < BLOCK_DIMS; d++) {
    const bool image = layer->pool_stride != 0 && (d == BLOCK_DIM_P || d == BLOCK_DIM_Q);
    macs *= image ? map_sums(layer, layer->size[d]) - (int64_t)layer->pool_padding : layer->size[d];
  }
  return macs;
}

// ---- equality and hashes: field by field, so that padding does not matter

static uint64_t hash_sizes(uint64_t hash, const int64_t *values, size_t count) {
  return wf_hash(hash, values, count * sizeof values[0]);
}

uint64_t map_hash(const map_mapping *m) {
  uint64_t hash = hash_sizes(WF_HASH_START, m->tile, BLOCK_DIMS);
  hash = hash_sizes(hash, m->sp, BLOCK_DIMS);
  hash = hash_sizes(hash, m->dram, BLOCK_DIMS);
  hash = wf_hash(hash, m->outer, sizeof m->outer);
  hash = wf_hash(hash, m->inner, sizeof m->inner);
  hash = wf_hash(hash, m->residency, sizeof m->residency);
  hash = wf_hash(hash, m->depth, sizeof m->depth);
  return wf_hash(hash, (const uint8_t[]){m->dataflow, m->style}, 2);
}

bool map_equal(const map_mapping *a, const map_mapping *b) {
  const size_t sizes = sizeof a->tile;
  return memcmp(a->tile, b->tile, sizes) == 0 && memcmp(a->sp, b->sp, sizes) == 0 &&
         memcmp(a->dram, b->dram, sizes) == 0 && memcmp(a->outer, b->outer, sizeof a->outer) == 0 &&
         memcmp(a->inner, b->inner, sizeof a->inner) == 0 &&
         memcmp(a->residency, b->residency, sizeof a->residency) == 0 &&
         memcmp(a->depth, b->depth, sizeof a->depth) == 0 && a->dataflow == b->dataflow && a->style == b->style;
}

uint64_t map_layer_hash(const map_layer *layer) {
  uint64_t hash = hash_sizes(WF_HASH_START, layer->size, BLOCK_DIMS);
  hash = hash_sizes(hash, layer->stride, 2);
  hash = hash_sizes(hash, layer->dilation, 2);
  hash = hash_sizes(hash, layer->padding, 4);
  const int64_t rest[] = {layer->kind,     layer->groups,    layer->result_bytes, layer->bias,
                          layer->residual, layer->pool_size, layer->pool_stride,  layer->pool_padding};
  return hash_sizes(hash, rest, sizeof rest / sizeof rest[0]);
}
