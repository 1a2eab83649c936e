// SPDX-License-Identifier: Apache-2.0
// Mappings by bands, which the heuristic mapper does not try: a band of tiles of result rows is an inner loop, so that
// the weights of a tile of columns are loaded once per band and stay while the band goes by. With one slot the results'
// tiles are as large as those of a mapping with one slot.
//
//   for N, bands of P, K:      weights are loaded here
//     for P, Q in the band:    results; inputs are loaded here, or outside of K, once for the band
//       for C, R, S
#include <string.h>

#include "base/number.h"
#include "compiler/mapping/mapping.h"

// The loops in order: outer ones, then those of a band.
static const uint8_t outer[BLOCK_DIMS] = {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_K, BLOCK_DIM_Q,
                                          BLOCK_DIM_C, BLOCK_DIM_R, BLOCK_DIM_S};
static const uint8_t inner[BLOCK_DIMS] = {BLOCK_DIM_N, BLOCK_DIM_K, BLOCK_DIM_P, BLOCK_DIM_Q,
                                          BLOCK_DIM_C, BLOCK_DIM_R, BLOCK_DIM_S};
enum { INSIDE_BAND = 2, INSIDE_COLUMNS = 3, INSIDE_ROWS = BLOCK_DIMS + 4 };

// The mapping with bands of so many tiles of rows.
static map_mapping banded(const map_mapping *from, int64_t band) {
  map_mapping m = *from;
  memcpy(m.outer, outer, sizeof m.outer);
  memcpy(m.inner, inner, sizeof m.inner);
  for (int d = 0; d < BLOCK_DIMS; d++) {
    const int64_t trips = from->dram[d] * from->sp[d];
    const bool inside = d != BLOCK_DIM_N && d != BLOCK_DIM_K;
    m.sp[d] = inside ? trips : 1;
    m.dram[d] = inside ? 1 : trips;
  }
  m.dram[BLOCK_DIM_P] = wf_ceil_div(m.sp[BLOCK_DIM_P], band);
  m.sp[BLOCK_DIM_P] = band;
  m.residency[MAP_WEIGHTS] = INSIDE_COLUMNS;
  m.depth[MAP_WEIGHTS] = m.depth[MAP_INPUTS] = 2;
  return m;
}

static bool is_new(const map_mapping *m, const map_mapping *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (map_equal(m, &list[i])) return false;
  return true;
}

typedef struct bands {
  const map_layer *layer;
  const hw_array *array;
  map_mapping *list;
  size_t count, room;
} bands;

static void add(bands *b, const map_mapping *m) {
  if (b->count < b->room && map_check(b->layer, m, b->array, NULL) && is_new(m, b->list, b->count))
    b->list[b->count++] = *m;
}

// Both places of the inputs, with the slots of results that the mapping has, and with one.
static void add_variants(bands *b, const map_mapping *from, int64_t band) {
  static const uint8_t residencies[] = {INSIDE_BAND, INSIDE_ROWS};
  map_mapping m = banded(from, band);
  for (size_t r = 0; r < sizeof residencies; r++)
    for (uint8_t depth = from->depth[MAP_RESULTS]; depth >= 1; depth--) {
      m.residency[MAP_INPUTS] = residencies[r];
      m.depth[MAP_RESULTS] = depth;
      add(b, &m);
    }
}

size_t map_add_bands(const map_layer *layer, const hw_array *array, map_mapping *list, size_t count, size_t room) {
  bands b = {.layer = layer, .array = array, .list = list, .count = count, .room = room};
  if (layer->kind == MAP_WINDOW || layer->kind == MAP_DEPTHWISE) return count;
  for (size_t i = 0; i < count && b.count < room; i++) {
    const map_mapping from = list[i];
    const int64_t tiles = from.dram[BLOCK_DIM_P] * from.sp[BLOCK_DIM_P];
    if (from.style == BLOCK_STYLE_LOOP) continue;
    for (int64_t band = 2; band <= tiles && tiles > 1; band = band < tiles && 2 * band > tiles ? tiles : 2 * band)
      add_variants(&b, &from, band);
  }
  return b.count;
}
