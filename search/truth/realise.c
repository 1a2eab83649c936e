// SPDX-License-Identifier: Apache-2.0
// See realise.h.
#include "search/truth/realise.h"

#include <math.h>

static bool is_reduction(unsigned dim) { return !map_uses(MAP_CONV, MAP_RESULTS, (block_dim_id)dim); }

static bool is_window(unsigned dim) { return dim == BLOCK_DIM_R || dim == BLOCK_DIM_S; }

// What lies inside of main memory's loops is one block; elements of the window are its inner loops.
static void set_blocks(const map_layer *layer, const paper_mapping *from, int64_t side, map_mapping *m) {
  for (unsigned d = 0; d < BLOCK_DIMS; d++) {
    const int64_t size = layer->size[d], outside = (int64_t)llround(fmax(1, from->temporal[PAPER_DRAM][d]));
    int64_t inside = size / outside;
    m->tile[d] = m->sp[d] = 1;
    if (is_window(d)) {
      m->sp[d] = inside;
      m->dram[d] = outside;
      continue;
    }
    if (d == BLOCK_DIM_K || d == BLOCK_DIM_C) inside = (inside + side - 1) / side * side;
    m->tile[d] = inside < size ? inside : size;
    m->dram[d] = (size + m->tile[d] - 1) / m->tile[d];
  }
}

// The order at main memory, outermost first; loops over the depth of sums behind all others.
static void set_order(const paper_mapping *from, map_mapping *m) {
  unsigned at = 0;
  for (int inside = 0; inside < 2; inside++)
    for (unsigned i = BLOCK_DIMS; i-- > 0;)
      if (is_reduction(from->order[PAPER_DRAM][i]) == (inside == 1)) m->outer[at++] = from->order[PAPER_DRAM][i];
  for (unsigned i = 0; i < BLOCK_DIMS; i++) m->inner[i] = m->outer[i];
}

// An operand stays under the loops at main memory inside of the last one that changes it.
static uint8_t residency_of(const map_layer *layer, const map_mapping *m, map_operand operand) {
  uint8_t residency = 0;
  for (int p = 0; p < BLOCK_DIMS; p++)
    if (map_loop_trips(m, p) > 1 && map_uses(layer->kind, operand, map_loop_dim(m, p))) residency = (uint8_t)(p + 1);
  return residency;
}

static void set_residency(const map_layer *layer, map_mapping *m) {
  for (int o = 0; o < MAP_RESULTS; o++) m->residency[o] = residency_of(layer, m, (map_operand)o);
}

// Half as deep: sums stay in the accumulator, so that nothing else moves but what stayed for its depth. False: it is
// as deep as one row of the array.
static bool halve_depth(const map_layer *layer, int64_t side, map_mapping *m) {
  const int64_t size = layer->size[BLOCK_DIM_C], rows = (m->tile[BLOCK_DIM_C] + side - 1) / side;
  if (rows <= 1) return false;
  m->tile[BLOCK_DIM_C] = (rows + 1) / 2 * side;
  m->dram[BLOCK_DIM_C] = (size + m->tile[BLOCK_DIM_C] - 1) / m->tile[BLOCK_DIM_C];
  set_residency(layer, m);
  return true;
}

// The mapping with one or two slots for each operand.
static size_t give_slots(const map_layer *layer, const hw_array *array, map_mapping m,
                         map_mapping list[TRUTH_REALISE_MAX]) {
  size_t count = 0;
  for (unsigned slots = 0; slots < TRUTH_REALISE_MAX; slots++) {
    for (int o = 0; o < MAP_OPERANDS; o++) m.depth[o] = (slots >> o & 1) == 0 ? 2 : 1;
    if (map_check(layer, &m, array, NULL)) list[count++] = m;
  }
  return count;
}

size_t truth_realise_mappings(const layers_layer *layer, const paper_mapping *from, const hw_array *array,
                              map_mapping mappings[TRUTH_REALISE_MAX]) {
  const map_layer mapped = layers_to_map(layer);
  map_mapping m = {.style = BLOCK_STYLE_PRIMITIVE, .dataflow = BLOCK_WS};
  set_blocks(&mapped, from, hw_derive(array).dim, &m);
  set_order(from, &m);
  set_residency(&mapped, &m);
  size_t count;
  while ((count = give_slots(&mapped, array, m, mappings)) == 0 && halve_depth(&mapped, hw_derive(array).dim, &m))
    continue;
  return count;
}
