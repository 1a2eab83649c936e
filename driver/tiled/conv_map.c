// SPDX-License-Identifier: Apache-2.0
// Tiles for a convolution from single instructions: whole rows of the image if they fit, and a few heights are compared
// by what they load and by how often weights change.
#include "driver/tiled/conv_plan.h"

enum {
  TRIED = 4,    // heights that fit
  STAGE = 300,  // what a stage costs, in rows that are loaded
};

static size_t parts(size_t all, size_t each) { return (all + each - 1) / each; }

static size_t of_parts(size_t all, size_t count) { return parts(all, parts(all, parts(all, count))); }

// What follows from rows, columns and kernel rows of a tile.
static bool measure(const struct weft_conv_plan *p, struct weft_conv_cut *t) {
  const struct weft_conv *c = &p->conv;
  const size_t rows = weft_before_pool(p, t->rows), cols = weft_before_pool(p, t->cols);
  t->row_tiles = parts(p->shape.pooled_rows, t->rows);
  t->col_tiles = parts(p->shape.pooled_cols, t->cols);
  t->kernel_steps = parts(c->kernel, t->kernel_rows);
  t->step = p->reach == 1 ? 1 : c->stride;
  t->patch_rows = (rows - 1) * t->step + (t->kernel_rows - 1) * c->dilation + 1;
  t->patch_cols = (cols - 1) * t->step + p->reach;
  t->flat = p->reach == 1 && !p->pooled && t->col_tiles == 1;
  const size_t width = t->flat ? rows * cols : cols;
  t->pieces = parts(width, WEFT_DIM);
  t->piece = t->flat ? WEFT_DIM : parts(width, t->pieces);
  t->c_block = p->pooled ? rows * cols : WEFT_DIM;
  return t->flat || t->pieces <= WEFT_PIECES_MAX;
}

// What follows from the number of output channels, and where everything lies.
static bool place(const struct weft_conv_plan *p, struct weft_conv_cut *t, bool n_outer, struct weft_tiles *tiles) {
  const struct weft_conv *c = &p->conv;
  const size_t rows = t->flat ? 1 : weft_before_pool(p, t->rows);
  t->c_piece = p->pooled ? t->piece : t->out_blocks * WEFT_DIM;
  t->c_row = t->pieces * t->c_piece;
  *tiles = (struct weft_tiles){.m = c->batch * t->row_tiles * t->col_tiles,
                               .n = parts(weft_blocks(c->out_channels), t->out_blocks),
                               .k = parts(weft_blocks(c->in_channels), t->in_blocks) * t->kernel_steps,
                               .a_rows = t->patch_rows * t->patch_cols * t->in_blocks,
                               .b_rows = t->kernel_rows * c->kernel * t->in_blocks * t->out_blocks * WEFT_DIM,
                               .c_rows = p->pooled ? t->c_block * t->out_blocks : rows * t->c_row,
                               .n_outer = n_outer};
  return weft_tiles_place(tiles);
}

// What the products cost beyond the mesh's cycles of full rows: the host takes that many cycles for a block of weights,
// for a run of products and for a product; few rows do not fill the mesh; weights are as many rows as a product.
static size_t excess_of(const struct weft_conv_plan *p, const struct weft_conv_cut *t, const struct weft_tiles *tiles) {
  enum { BLOCK = 45, RUN = 15, PRODUCT = 6, ROWS_MIN = 10 };
  const size_t rows = t->flat ? 1 : weft_before_pool(p, t->rows), products = rows * t->pieces;
  const size_t blocks =
      weft_blocks(p->conv.in_channels) * weft_blocks(p->conv.out_channels) * p->conv.kernel * p->conv.kernel;
  const size_t host = BLOCK + RUN * weft_min(rows, t->pieces) + PRODUCT * products;
  const size_t mesh = weft_max(t->piece, ROWS_MIN) * products + WEFT_DIM - t->piece;
  return tiles->m * blocks * (weft_max(host, mesh) - t->piece * products);
}

static size_t cost_of(const struct weft_conv_plan *p, const struct weft_conv_cut *t, const struct weft_tiles *tiles) {
  const size_t wide = WEFT_MAX_BLOCK_LEN, narrow = t->out_blocks % wide == 0 ? 0 : wide - t->out_blocks % wide;
  const size_t stores = p->pooled ? 0 : tiles->m * tiles->n * narrow * (tiles->c_rows / t->out_blocks);
  return weft_tiles_cost(tiles) + excess_of(p, t, tiles) + stores + STAGE * tiles->m * tiles->n * tiles->k;
}

// The cheaper order of the loops, for the longest steps whose loads keep out of the way of products.
static size_t try(const struct weft_conv_plan *p, struct weft_conv_cut t, struct weft_conv_cut *best,
                  struct weft_tiles *tiles) {
  const size_t rows = t.flat ? 1 : weft_before_pool(p, t.rows), all = weft_blocks(p->conv.out_channels);
  const size_t block_rows = p->pooled ? t.c_block : rows * t.pieces * WEFT_DIM;
  size_t least = SIZE_MAX;
  if (block_rows > WEFT_ACC_ROWS) return SIZE_MAX;
  const bool single = p->conv.batch * t.row_tiles * t.col_tiles == 1 && block_rows * all <= WEFT_ACC_ROWS;
  t.out_blocks = weft_max(1, weft_min(all, WEFT_ACC_ROWS / (single ? 1 : 2) / block_rows));
  t.out_blocks = parts(all, parts(all, t.out_blocks));
  for (unsigned order = 0; order < 2; order++)
    for (t.in_blocks = weft_blocks(p->conv.in_channels); t.in_blocks > 0; t.in_blocks /= 2) {
      struct weft_tiles placed;
      if (!place(p, &t, order == 1, &placed)) continue;
      const size_t cost = cost_of(p, &t, &placed);
      if (cost < least) {
        least = cost;
        *best = t;
        *tiles = placed;
      }
      if (placed.apart) break;
    }
  return least;
}

static bool choose(const struct weft_conv_plan *p, size_t kernel_rows, struct weft_conv_cut *cut,
                   struct weft_tiles *tiles) {
  size_t least = SIZE_MAX;
  for (size_t across = 1; least == SIZE_MAX; across *= 2) {
    unsigned tried = 0;
    for (size_t down = 1; tried < TRIED; down *= 2) {
      struct weft_conv_cut t = {.rows = of_parts(p->shape.pooled_rows, down),
                                .cols = of_parts(p->shape.pooled_cols, across),
                                .kernel_rows = kernel_rows},
                           best;
      struct weft_tiles placed;
      const size_t cost =
          weft_pool_fields_fit(p, t.rows, t.cols) && measure(p, &t) ? try(p, t, &best, &placed) : SIZE_MAX;
      tried += cost != SIZE_MAX;
      if (cost < least) {
        least = cost;
        *cut = best;
        *tiles = placed;
      }
      if (t.rows == 1) break;
    }
    if (across >= p->shape.pooled_cols) break;
  }
  return least != SIZE_MAX;
}

bool weft_conv_choose(const struct weft_conv_plan *plan, struct weft_conv_cut *cut, struct weft_tiles *tiles) {
  return choose(plan, plan->conv.kernel, cut, tiles) || choose(plan, 1, cut, tiles);
}
