// SPDX-License-Identifier: Apache-2.0
// Random mappings: factors, orders, residency, depth, dataflow and style drawn apart from each other. See mapping.h.
#include "base/random.h"

#include <string.h>

#include "compiler/mapping/mapping.h"

enum { ATTEMPTS = 1000 };

// Even over the logarithm: a tile of 16 is as likely as one of 32.
static int64_t in_log(uint64_t *seed, int64_t high) {
  int64_t limit = 1;
  while (limit < high && wf_random_one_in(seed, 2) == false) limit *= 2;
  if (wf_random_one_in(seed, 4)) limit = high;
  return wf_random_in(seed, 1, limit < high ? limit : high);
}

static void shuffle(uint64_t *seed, uint8_t *order, int count) {
  for (int i = count - 1; i > 0; i--) {
    const int j = (int)wf_random_in(seed, 0, i);
    const uint8_t kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

static void any_order(uint64_t *seed, uint8_t *order) {
  for (uint8_t d = 0; d < BLOCK_DIMS; d++) order[d] = d;
  shuffle(seed, order, BLOCK_DIMS);
}

static void any_factors(const map_layer *layer, uint64_t *seed, map_mapping *m, block_dim_id dim) {
  const int64_t size = layer->size[dim];
  m->tile[dim] = in_log(seed, size + size / 4);
  const int64_t blocks = (size + m->tile[dim] - 1) / m->tile[dim];
  m->sp[dim] = in_log(seed, blocks);
  m->dram[dim] = (blocks + m->sp[dim] - 1) / m->sp[dim];
  if (wf_random_one_in(seed, 50)) m->dram[dim] += wf_random_in(seed, -1, 1);
}

void map_random_any(const map_layer *layer, const hw_array *array, uint64_t *seed, map_mapping *m) {
  (void)array;
  *m = (map_mapping){0};
  for (int d = 0; d < BLOCK_DIMS; d++) any_factors(layer, seed, m, (block_dim_id)d);
  any_order(seed, m->outer);
  any_order(seed, m->inner);
  for (int o = 0; o < MAP_RESULTS; o++) m->residency[o] = (uint8_t)wf_random_in(seed, 0, MAP_POSITIONS);
  for (int o = 0; o < MAP_OPERANDS; o++)
    m->depth[o] = (uint8_t)wf_random_in(seed, wf_random_one_in(seed, 50) ? 0 : 1, 4);
  m->dataflow = wf_random_one_in(seed, 8) ? BLOCK_OS : BLOCK_WS;
  m->style = wf_random_one_in(seed, 8) ? BLOCK_STYLE_LOOP : BLOCK_STYLE_PRIMITIVE;
}

// ---- towards legal ones

// Columns of operands come in whole rows of the scratchpad.
static void align_tile(const map_layer *layer, int64_t dim, map_mapping *m, block_dim_id d) {
  int64_t tile = m->tile[d];
  if (tile < layer->size[d]) tile = (tile + dim - 1) / dim * dim;
  m->tile[d] = tile;
}

static void any_trips(const map_layer *layer, uint64_t *seed, map_mapping *m, block_dim_id dim) {
  const int64_t blocks = (layer->size[dim] + m->tile[dim] - 1) / m->tile[dim];
  m->sp[dim] = wf_random_one_in(seed, 3) ? 1 : in_log(seed, blocks);
  m->dram[dim] = (blocks + m->sp[dim] - 1) / m->sp[dim];
}

// Either the results' dimensions have no inner loops or the reduction has no outer ones.
static void separate(const map_layer *layer, uint64_t *seed, map_mapping *m) {
  const bool inner = wf_random_one_in(seed, 2);
  for (int d = 0; d < BLOCK_DIMS; d++) {
    const bool result = map_uses(MAP_CONV, MAP_RESULTS, (block_dim_id)d);
    const int64_t blocks = (layer->size[d] + m->tile[d] - 1) / m->tile[d];
    if (result && !inner) {
      m->sp[d] = 1;
      m->dram[d] = blocks;
    } else if (!result && inner) {
      m->sp[d] = blocks;
      m->dram[d] = 1;
    }
  }
}

// Loops of the reduction behind the others, in the order they have.
static void sort_order(uint8_t *order) {
  uint8_t sorted[BLOCK_DIMS];
  int count = 0;
  for (int reduction = 0; reduction < 2; reduction++)
    for (int i = 0; i < BLOCK_DIMS; i++)
      if (map_uses(MAP_CONV, MAP_RESULTS, (block_dim_id)order[i]) == (reduction == 0)) sorted[count++] = order[i];
  memcpy(order, sorted, sizeof sorted);
}

static void repair(const map_layer *layer, const hw_array *array, uint64_t *seed, map_mapping *m) {
  const int64_t dim = hw_derive(array).dim;
  const bool pools = layer->kind == MAP_WINDOW && layer->pool_size != 0;
  m->tile[BLOCK_DIM_R] = pools ? layer->size[BLOCK_DIM_R] : 1;
  m->tile[BLOCK_DIM_S] = pools ? layer->size[BLOCK_DIM_S] : 1;
  if (map_has_own_weights(layer->kind)) m->tile[BLOCK_DIM_N] = 1;
  align_tile(layer, dim, m, BLOCK_DIM_K);
  align_tile(layer, dim, m, BLOCK_DIM_C);
  for (int d = 0; d < BLOCK_DIMS; d++) any_trips(layer, seed, m, (block_dim_id)d);
  separate(layer, seed, m);
  sort_order(m->outer);
  sort_order(m->inner);
  for (int o = 0; o < MAP_OPERANDS; o++)
    if (m->depth[o] == 0) m->depth[o] = 2;
  if (m->style == BLOCK_STYLE_LOOP || array->mesh.dataflow == HW_DATAFLOW_WS) m->dataflow = BLOCK_WS;
  if (m->style != BLOCK_STYLE_LOOP) return;
  for (int o = 0; o < MAP_OPERANDS; o++) m->depth[o] = 2;
  const int64_t position = wf_random_in(seed, map_unrolled(layer, m), MAP_POSITIONS);
  for (int o = 0; o < MAP_RESULTS; o++) m->residency[o] = (uint8_t)position;
}

bool map_random(const map_layer *layer, const hw_array *array, uint64_t *seed, map_mapping *mapping) {
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    map_random_any(layer, array, seed, mapping);
    repair(layer, array, seed, mapping);
    if (map_check(layer, mapping, array, NULL)) return true;
  }
  return false;
}
