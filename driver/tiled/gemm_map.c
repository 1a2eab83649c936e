// SPDX-License-Identifier: Apache-2.0
// Tiles for a product from single instructions: a few are compared by what they load and by how often weights change.
#include "driver/tiled/tile.h"

enum {
  ACC_BLOCKS = WEFT_ACC_ROWS / WEFT_DIM,
  STEP_BLOCKS = 16,
  // What costs the host as much as that many loaded rows:
  CHANGE = 6,   // new weights
  STAGE = 300,  // a stage
};

static size_t parts(size_t blocks, size_t tile) { return (blocks + tile - 1) / tile; }

static struct weft_mapping blocks_of(const struct weft_gemm *g) {
  return (struct weft_mapping){.m = weft_blocks(g->m), .n = weft_blocks(g->n), .k = weft_blocks(g->k)};
}

static bool place(const struct weft_mapping *all, const struct weft_mapping *t, struct weft_tiles *tiles) {
  *tiles = (struct weft_tiles){.m = parts(all->m, t->m),
                               .n = parts(all->n, t->n),
                               .k = parts(all->k, t->k),
                               .a_rows = t->m * t->k * WEFT_DIM,
                               .b_rows = t->n * t->k * WEFT_DIM,
                               .c_rows = t->m * t->n * WEFT_DIM,
                               .n_outer = t->n_outer};
  return weft_tiles_place(tiles);
}

static size_t cost_of(const struct weft_tiles *tiles, const struct weft_mapping *all, const struct weft_mapping *t) {
  const size_t columns = weft_min(t->n, all->n), wide = WEFT_MAX_BLOCK_LEN;
  const size_t narrow =
      columns % wide == 0 ? 0 : tiles->n * (wide - columns % wide);  // blocks that commands could move
  return weft_tiles_cost(tiles) + CHANGE * tiles->m * all->n * all->k + STAGE * tiles->m * tiles->n * tiles->k +
         narrow * WEFT_DIM * (all->m + all->k);
}

// Tiles of m rows of blocks, as many columns as the accumulator has room for, and the longest steps whose loads keep
// out of the way of products. Returns what they cost.
static size_t try(struct weft_mapping *t, struct weft_tiles *tiles, const struct weft_mapping *all, size_t m,
                  bool n_outer) {
  size_t least = SIZE_MAX;
  struct weft_mapping now = {.m = m, .n_outer = n_outer};
  now.n = weft_min(all->n, weft_max(1, ACC_BLOCKS / (m == all->m && m * all->n <= ACC_BLOCKS ? 1 : 2) / m));
  now.n = parts(all->n, parts(all->n, now.n));
  for (now.k = weft_min(all->k, STEP_BLOCKS); now.k > 0; now.k /= 2) {
    struct weft_tiles placed;
    if (!place(all, &now, &placed)) continue;
    const size_t cost = cost_of(&placed, all, &now);
    if (cost < least) {
      least = cost;
      *t = now;
      *tiles = placed;
    }
    if (placed.apart) break;
  }
  return least;
}

// From tiles that are about square, which load least, to high ones, whose weights stay for longer. Thinking is time,
// too: few are tried.
static bool choose(const struct weft_mapping *all, struct weft_mapping *chosen, struct weft_tiles *tiles) {
  size_t least = SIZE_MAX, side = 1;
  while (4 * side * side <= ACC_BLOCKS) side *= 2;
  for (size_t size = side; size <= 8 * side; size *= 2) {
    const size_t m = parts(all->m, parts(all->m, weft_min(size, ACC_BLOCKS)));
    for (unsigned order = 0; order < 2; order++) {
      struct weft_mapping t;
      struct weft_tiles placed;
      const size_t cost = try(&t, &placed, all, m, order == 1);
      if (cost >= least) continue;
      least = cost;
      *chosen = t;
      *tiles = placed;
    }
    if (size >= all->m || least == SIZE_MAX) break;
  }
  return least != SIZE_MAX;
}

bool weft_gemm_tiles(const struct weft_gemm *g, struct weft_mapping *tile, struct weft_tiles *tiles) {
  const struct weft_mapping all = blocks_of(g);
  if (g->mapping == NULL) return choose(&all, tile, tiles);
  *tile = (struct weft_mapping){.m = weft_min(all.m, weft_blocks(g->mapping->m)),
                                .n = weft_min(all.n, weft_blocks(g->mapping->n)),
                                .k = weft_min(all.k, weft_blocks(g->mapping->k)),
                                .n_outer = g->mapping->n_outer};
  return place(&all, tile, tiles);
}
