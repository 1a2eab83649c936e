// SPDX-License-Identifier: Apache-2.0
// An operator as tiles of products, and the loads and stores that run under them.
//
// A tile of the result stays in the accumulator while the reduction advances, a step at a time: a stage. Under the
// products of a stage run the loads of the next one, the stores of the tile before, and the bias of the next. An
// operand of the outer loop may stay in the scratchpad as a panel of all its steps, that of the inner loop altogether.
#ifndef WEFT_TILED_STAGES_H
#define WEFT_TILED_STAGES_H

#include "driver/tiled/products.h"

struct weft_tiles {
  size_t m, n, k;                 // tiles of the result; steps of the reduction
  size_t a_rows, b_rows, c_rows;  // local rows of a tile
  bool n_outer;                   // the loop over n is outside of that over m
  // found by weft_tiles_place
  bool outer_stays, inner_stays;  // the operand of that loop, for all its steps of k
  bool two_panels;                // what stays of the outer loop: the next one comes under the whole of the one before
  bool ahead;                     // a stage is loaded while the one before is computed
  bool apart;                     // what is loaded ahead lies in other banks than what products read most
  size_t b_base, a_turn, b_turn, c_turn;  // where B begins; from one slot or panel to the other, 0: there is one
};

// What stays, for these tiles and this order: the best that fits. False: nothing does.
bool weft_tiles_place(struct weft_tiles *tiles);
// Rows that are loaded, those before the first product four times: nothing hides them.
size_t weft_tiles_cost(const struct weft_tiles *tiles);

// A tile of the result: its place among the tiles, its number, its first local row.
struct weft_tile {
  size_t m, n, number;
  uint32_t c;
  unsigned loads;  // chores of each of its stages
  // Filled in by the operator. `products`: of a block of depth.
  size_t m_first, n_first, m_size, n_size, products;
};

// A step of the reduction of a tile; first local rows of the operands.
struct weft_stage {
  struct weft_tile *tile;
  size_t k;
  uint32_t a, b;
  // by the operator
  size_t k_first, k_size, products;
  struct weft_rows rows;  // the first ones
};

// What is done under a stage for the next one, in this order: the bias may take the rows of the result that is stored.
enum weft_chore {
  WEFT_CHORE_STORE,
  WEFT_CHORE_A,
  WEFT_CHORE_B,
  WEFT_CHORE_BIAS,
  WEFT_CHORE_PANEL,  // a part of a panel
  WEFT_CHORES
};
enum { WEFT_CHORE_SETS = 1 << WEFT_CHORES };

// How a first local row follows from the one before: ((row & mask) + add) ^ turn.
struct weft_row_change {
  uint32_t mask, add, turn;
};
enum { WEFT_NEXT_STEP, WEFT_NEXT_INNER, WEFT_NEXT_OUTER, WEFT_NEXTS };

struct weft_stages;
struct weft_operator {
  // What the operator wants to know of a tile and of a stage.
  void (*measure_tile)(struct weft_stages *stages, struct weft_tile *tile);
  void (*measure)(struct weft_stages *stages, struct weft_stage *stage);
  // The transfers of a chore (PANEL aside), numbered from 0; false: there is no such one. Stores: of the stage's tile.
  // What is in `transfer` stays from one time to the next.
  bool (*transfer)(struct weft_stages *stages, enum weft_chore chore, unsigned number, const struct weft_stage *stage,
                   struct weft_transfer *transfer);
  // The stage begins; products.row are its first rows.
  void (*begin)(struct weft_stages *stages, const struct weft_stage *stage);
};

// The operator has this as its first member, with tiles, operator, bias, and of products the steps and next_rows filled
// in, and of the transfers what is the same in all stages.
struct weft_stages {
  struct weft_feed feed;
  struct weft_products products;
  struct weft_tiles tiles;
  const struct weft_operator *op;
  bool has_bias;
  // filled in by weft_stages_run
  unsigned chores, number;  // still to be done: a bit each, and the next transfer of the first one
  enum weft_chore chore;    // of the transfer at hand
  bool more, has_panel;     // stages behind `now`, a panel behind its own
  struct weft_row_change a_change[WEFT_NEXTS], b_change[WEFT_NEXTS];
  ptrdiff_t steps[WEFT_CHORE_SETS];
  struct weft_transfer transfers[WEFT_CHORES];
  struct weft_tile tile_ring[3], panel_tile;
  struct weft_stage ring[3], *stored, *now, *next, panel;
};

enum { WEFT_TILES_AT_HAND = 4 };
// Of the tiles whose addresses the operator is given, so that it can keep more of them.
static inline size_t weft_tile_number(const struct weft_stages *stages, const struct weft_tile *tile) {
  return tile == &stages->panel_tile ? WEFT_TILES_AT_HAND - 1 : (size_t)(tile - stages->tile_ring);
}

void weft_stages_run(struct weft_stages *stages);
// For products.next_rows: behind the last rows of a stage. False: it was the last one.
bool weft_stages_next(struct weft_stages *stages);

#endif
