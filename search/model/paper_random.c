// SPDX-License-Identifier: Apache-2.0
// Random mappings of the plain model: perfect factors at random, any of the three orders at main memory.
#include "search/model/paper.h"

static uint64_t next_random(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 33;
}

// A factor of *left up to `limit`, which it takes.
static double pick_factor(int64_t *left, int64_t limit, uint64_t *seed) {
  const int64_t most = *left < limit ? *left : limit;
  int64_t factor = 1 + (int64_t)(next_random(seed) % (uint64_t)most);
  while (*left % factor != 0) factor--;
  *left /= factor;
  return (double)factor;
}

paper_mapping paper_mapping_random(const layers_layer *layer, int64_t side, uint64_t *seed) {
  paper_mapping m = paper_mapping_start(layer);
  for (int d = 0; d < BLOCK_DIMS; d++) {
    int64_t left = layer->size[d];
    if (d == BLOCK_DIM_C) m.rows = pick_factor(&left, side, seed);
    if (d == BLOCK_DIM_K) m.columns = pick_factor(&left, side, seed);
    if (d == BLOCK_DIM_P || d == BLOCK_DIM_Q) m.temporal[PAPER_REGISTERS][d] = pick_factor(&left, left, seed);
    m.temporal[PAPER_ACCUMULATOR][d] = pick_factor(&left, left, seed);
    m.temporal[PAPER_DRAM][d] = (double)left;
  }
  paper_set_order(&m, (paper_order)(next_random(seed) % PAPER_ORDERS));
  return m;
}
