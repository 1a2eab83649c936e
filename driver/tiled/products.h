// SPDX-License-Identifier: Apache-2.0
// The products of a stage: blocks of weights, each preloaded once for the products with it.
//
// The host has little more time for a product than its two commands, so it does nothing but add: products go in runs
// whose operands advance by constants. Loads and stores come between them (feed.h): each product adds the feed's `rate`
// to a debt, and a step of the feed takes `period` off it.
#ifndef WEFT_TILED_PRODUCTS_H
#define WEFT_TILED_PRODUCTS_H

#include "driver/tiled/feed.h"

enum { WEFT_RUNS_MAX = 16 };

// Products whose operands advance by constants: fours, then up to three.
struct weft_run {
  size_t fours, rest;
  uint64_t a, c;  // one step before the first product, from the operands of the block on
};

// Rows of blocks of weights: some columns of the operand A times blocks for all columns of the result. There are `rows`
// of them with regular steps, with as many blocks as wide as any, and a block of `tail` columns behind those.
struct weft_rows {
  uint64_t a, b, c;  // of the first product with the first block
  uint64_t stays;    // in the place of weights that are there
  size_t rows, blocks, tail;
};

// What the host needs at each block is in memory: it has few registers, and they are for the products.
struct weft_products {
  // The block at hand, and how many with it are as wide as any.
  uint64_t a, b, c, stays;
  size_t blocks;
  bool in_tail;
  struct weft_rows row;     // the one at hand
  uint64_t a_down, b_down;  // from row to row
  uint64_t b_next, c_next;  // from block to block
  // Changes `row` to others, with weft_set_rows where it is irregular. False: there are none.
  bool (*next_rows)(struct weft_products *products);
  // The products of a block.
  uint64_t a_step, c_step;
  struct weft_run *last, run[WEFT_RUNS_MAX];
};

// Before the first run is added: steps of both operands from product to product.
static inline void weft_clear_runs(struct weft_products *p, uint64_t a_step, uint64_t c_step) {
  p->a_step = a_step;
  p->c_step = c_step;
  p->last = NULL;
}
// Another run, in order. a and c: the operands of its first product, from those of the block on.
void weft_add_run(struct weft_products *products, size_t count, uint64_t a, uint64_t c);
// Rows for `columns` columns of the result, from local rows a, b and c on, each `depth` deep.
static inline void weft_set_rows(struct weft_rows *r, size_t rows, uint32_t a, uint32_t b, uint32_t c, size_t depth,
                                 size_t columns) {
  const size_t width = weft_min(columns, WEFT_DIM);
  r->a = weft_operand_of(a, depth, WEFT_DIM);
  r->b = weft_operand_of(b, width, depth);
  r->c = weft_operand_of(c, width, WEFT_DIM);
  r->stays = weft_operand_of(WEFT_GARBAGE, width, depth);
  r->rows = rows;
  r->blocks = columns < WEFT_DIM ? 1 : columns / WEFT_DIM;
  r->tail = columns < WEFT_DIM ? 0 : columns % WEFT_DIM;
}
// All blocks, from `row` on.
void weft_multiply(struct weft_feed *feed, struct weft_products *products);

#endif
