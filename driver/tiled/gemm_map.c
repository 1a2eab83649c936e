// The mapping of a matrix product, when the caller gives none: a few tiles are compared by what they move.
//
// Tiles are counted in blocks of WEFT_DIM. The result's tile has two places in the accumulator, so that one is stored
// while the next is computed. Of the operands, the one of the outer loop (A if rows are outermost) stays in the
// scratchpad as a panel of all its steps of k, the other one stays altogether if it fits, and comes again for every
// panel if not.
#include "driver/tiled/tile.h"

enum { SP_BLOCKS = WEFT_SP_ROWS / WEFT_DIM, ACC_BLOCKS = WEFT_ACC_ROWS / WEFT_DIM, STEP_BLOCKS = 8 };

static size_t parts(size_t blocks, size_t tile) { return (blocks + tile - 1) / tile; }

// Slots of both operands for the choices made in `t`.
static size_t operand_blocks(const struct weft_gemm_tiles *t) {
  return t->m * t->k * t->a_slots + t->n * t->k * t->b_slots;
}

static bool fits(const struct weft_gemm_tiles *t) {
  return operand_blocks(t) <= SP_BLOCKS && t->m * t->n * t->c_slots <= ACC_BLOCKS;
}

// The best that fits for these tiles and this order: what stays where.
static bool place(struct weft_gemm_tiles *t, const struct weft_gemm_tiles *all) {
  const size_t steps = parts(all->k, t->k);
  const size_t m = parts(all->m, t->m), n = parts(all->n, t->n);
  const size_t outer = t->n_outer ? n : m, inner = t->n_outer ? m : n;
  size_t *outer_slots = t->n_outer ? &t->b_slots : &t->a_slots, *inner_slots = t->n_outer ? &t->a_slots : &t->b_slots;
  t->c_slots = m * n == 1 ? 1 : 2;
  for (unsigned choice = 0; choice < 4; choice++) {
    t->outer_stays = choice < 2;
    t->inner_stays = choice % 2 == 0;
    *outer_slots = t->outer_stays && (outer == 1 || steps > 1) ? steps : 2;
    *inner_slots = t->inner_stays ? inner * steps : 2;
    if (fits(t)) return t->ahead = true;
  }
  t->ahead = false;
  t->a_slots = t->b_slots = t->c_slots = 1;
  return fits(t);
}

// Blocks that are loaded, those before the first product four times: nothing hides them.
static size_t cost(const struct weft_gemm_tiles *t, const struct weft_gemm_tiles *all) {
  const size_t m = parts(all->m, t->m), n = parts(all->n, t->n);
  const size_t outer = t->n_outer ? n : m, inner = t->n_outer ? m : n;
  const size_t outer_blocks = t->n_outer ? all->n : all->m, inner_blocks = t->n_outer ? all->m : all->n;
  return outer_blocks * all->k * (t->outer_stays ? 1 : inner) + inner_blocks * all->k * (t->inner_stays ? 1 : outer) +
         4 * (t->m + t->n) * t->k;
}

// Tiles of m rows of blocks and as many columns as the accumulator has room for.
static bool try(struct weft_gemm_tiles *t, const struct weft_gemm_tiles *all, size_t m, bool n_outer) {
  *t = (struct weft_gemm_tiles){.m = m, .n_outer = n_outer};
  t->n = weft_min(all->n, weft_max(1, ACC_BLOCKS / (m == all->m && m * all->n <= ACC_BLOCKS ? 1 : 2) / m));
  t->n = parts(all->n, parts(all->n, t->n));
  for (t->k = weft_min(all->k, STEP_BLOCKS); t->k > 0; t->k /= 2)
    if (place(t, all)) return true;
  return false;
}

bool weft_gemm_choose(const struct weft_gemm *g, struct weft_gemm_tiles *chosen) {
  const struct weft_gemm_tiles all = {.m = weft_blocks(g->m), .n = weft_blocks(g->n), .k = weft_blocks(g->k)};
  size_t least = SIZE_MAX;
  for (size_t size = 1; size <= ACC_BLOCKS; size *= 2) {
    const size_t m = parts(all.m, parts(all.m, size));
    for (unsigned order = 0; order < 2; order++) {
      struct weft_gemm_tiles t;
      if (!try(&t, &all, m, order == 1)) continue;
      const size_t blocks = cost(&t, &all);
      // Of equals the taller tile: weights stay for more rows.
      if (blocks <= least) *chosen = t;
      least = weft_min(least, blocks);
    }
    if (size >= all.m) break;
  }
  return least != SIZE_MAX;
}

bool weft_gemm_given(const struct weft_gemm *g, struct weft_gemm_tiles *tiles) {
  const struct weft_gemm_tiles all = {.m = weft_blocks(g->m), .n = weft_blocks(g->n), .k = weft_blocks(g->k)};
  *tiles = (struct weft_gemm_tiles){.m = weft_min(all.m, weft_blocks(g->mapping->m)),
                                    .n = weft_min(all.n, weft_blocks(g->mapping->n)),
                                    .k = weft_min(all.k, weft_blocks(g->mapping->k)),
                                    .n_outer = g->mapping->n_outer};
  return place(tiles, &all);
}
