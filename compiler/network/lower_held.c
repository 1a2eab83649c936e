// SPDX-License-Identifier: Apache-2.0
// QShare behind the product that alone makes its sums: these stay in the accumulator, as many rows at a time as it
// holds, and leave it divided (held.h). The tensor between the two nodes is in no memory.
#include <string.h>

#include "base/number.h"
#include "compiler/network/held.h"
#include "compiler/network/private.h"

enum { X_SIDE, W_SIDE, Y_SIDE, SUM_SIDE, SIDES };

// A run of pairs along one dimension, and some rows of each.
typedef struct held_lowering {
  network_lowering *l;
  const graph_node *product, *share;
  network_lower_view view[SIDES];
  int level;  // the dimension of the pairs
  int64_t rows, cols, depth;
  int64_t most_pairs, most_rows;  // that the accumulator holds
} held_lowering;

// ---- where it pays

static bool are_pairs(const graph_tensor *a, const graph_tensor *b) {
  if (a->rank != b->rank || a->rank < 2) return false;
  for (int d = 0; d + 2 < a->rank; d++)
    if (a->dim[d] != b->dim[d]) return false;
  return true;
}

// The hart takes 11 cycles for a sum that it divides, 45 for a row that it has stored; and two steps more have their
// beginnings.
static bool pays(int64_t rows, int64_t cols, const hw_array *array) {
  enum { SUM = 11, ROW = 45, STEPS = 2000 };
  const int64_t held = network_held_blocks(cols, array) * hw_derive(array).dim;
  return SUM * cols * rows > ROW * rows + wf_ceil_div(rows, held) * STEPS;
}

bool network_lower_is_held(const network_lowering *l, const graph_node *product) {
  const graph_node *share = product->op == GRAPH_OP_QMAT_MUL ? l->reader[product->outputs[0]] : NULL;
  if (share == NULL || share->op != GRAPH_OP_QSHARE || share->inputs[0] != product->outputs[0]) return false;
  const graph_tensor *a = network_lower_tensor(l, product->inputs[0]), *b = network_lower_tensor(l, product->inputs[1]),
                     *y = network_lower_tensor(l, product->outputs[0]);
  if (network_lower_has(product, 2) || network_lower_has(product, 3) || !are_pairs(a, b) ||
      graph_int(product, "transA", 0) != 0 || graph_int(product, "transB", 0) != 0 || graph_elements(y) == 0 ||
      network_lower_packed(l, product->inputs[1]) != NULL)
    return false;
  const int64_t cols = y->dim[y->rank - 1], rows = graph_elements(y) / cols;
  return network_held_fits(a->dim[a->rank - 1], cols, l->array) && pays(rows, cols, l->array);
}

// ---- a run

static network_place forward(const network_lower_view *view, int64_t bytes) {
  network_place place = view->place;
  place.offset += (uint64_t)bytes;
  return place;
}

static void multiply(const held_lowering *h, const int64_t *offset, int64_t pairs, int64_t rows) {
  const network_lower_view *x = &h->view[X_SIDE], *w = &h->view[W_SIDE];
  const network_held held = {.pairs = pairs,
                             .rows = rows,
                             .cols = h->cols,
                             .depth = h->depth,
                             .x = {x->step[h->level], x->step[x->rank - 2]},
                             .weights = {w->step[h->level], w->step[w->rank - 2]}};
  const network_unit unit = {.held = &held, .rows = pairs * rows, .cols = h->cols};
  network_step *step = network_lower_unit(h->l, &unit, forward(x, offset[X_SIDE]), (network_place){.buffer = -1});
  network_lower_bind(step, NETWORK_HELD_WEIGHTS, forward(w, offset[W_SIDE]));
  step->held = true;
  step->macs = (uint64_t)(pairs * rows * h->cols * h->depth);
}

// Rows of one operand as pairs, blocks of rows and rows of these, from row `first` on.
static network_lower_view blocks_of(const held_lowering *h, int side, const int64_t *offset, int64_t first,
                                    const int64_t dim[4]) {
  const network_lower_view *view = &h->view[side];
  const int64_t pitch = view->step[view->rank - 2];
  return (network_lower_view){.place = forward(view, offset[side] + first * pitch),
                              .type = view->type,
                              .element_bytes = view->element_bytes,
                              .rank = 4,
                              .dim = {dim[0], dim[1], dim[2], dim[3]},
                              .step = {view->step[h->level], dim[2] * pitch, pitch, view->step[view->rank - 1]}};
}

static void leave(const held_lowering *h, network_step *step, const int64_t *offset, int64_t first, int64_t local,
                  const int64_t dim[4]) {
  if (dim[1] == 0 || dim[2] == 0) return;
  const network_lower_view y = blocks_of(h, Y_SIDE, offset, first, dim),
                           sums = blocks_of(h, SUM_SIDE, offset, first, dim);
  network_call *call = network_lower_call(h->l, step, WEFT_HOST_QLEAVE);
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &sums);
  call->call.outer = 3;
  call->call.number[0] = graph_float(h->share, "scale", 1);
  call->call.integer[0] = local;
  call->call.integer[1] = network_held_shape(h->cols, h->l->array);
}

static void run(const held_lowering *h, const int64_t *offset, int64_t pairs, int64_t rows) {
  const int64_t dim = hw_derive(h->l->array).dim, whole = rows / dim;
  h->l->node = h->product;
  multiply(h, offset, pairs, rows);
  h->l->node = h->share;
  network_step *step = network_lower_host(h->l);
  leave(h, step, offset, 0, 0, (int64_t[]){pairs, whole, dim, h->cols});
  leave(h, step, offset, whole * dim, pairs * whole * wf_ceil_div(h->cols, dim) * dim,
        (int64_t[]){pairs, 1, rows % dim, h->cols});
}

// ---- all runs

// Pairs from `offset` on.
static void run_level(const held_lowering *h, const int64_t *offset) {
  const int64_t pairs = h->view[Y_SIDE].dim[h->level];
  for (int64_t p = 0; p < pairs; p += h->most_pairs)
    for (int64_t r = 0; r < h->rows; r += h->most_rows) {
      int64_t at[SIDES];
      for (int s = 0; s < SIDES; s++)
        at[s] =
            offset[s] + p * h->view[s].step[h->level] + (s == W_SIDE ? 0 : r * h->view[s].step[h->view[s].rank - 2]);
      run(h, at, wf_min(h->most_pairs, pairs - p), wf_min(h->most_rows, h->rows - r));
    }
}

// Every point of the leading dimensions but the one of the pairs.
static void run_levels(const held_lowering *h, int dim, const int64_t *offset) {
  const int rank = h->view[Y_SIDE].rank;
  if (dim + 2 >= rank) {
    run_level(h, offset);
    return;
  }
  int64_t at[SIDES];
  for (int64_t i = 0; i < (dim == h->level ? 1 : h->view[Y_SIDE].dim[dim]); i++) {
    for (int s = 0; s < SIDES; s++) at[s] = offset[s] + i * h->view[s].step[dim];
    run_levels(h, dim + 1, at);
  }
}

static void choose_sizes(held_lowering *h) {
  const int64_t dim = hw_derive(h->l->array).dim, held = network_held_blocks(h->cols, h->l->array),
                blocks = wf_ceil_div(h->rows, dim), pairs = h->view[Y_SIDE].dim[h->level];
  h->most_pairs = wf_max(held / blocks, INT64_C(1));
  h->most_pairs = wf_ceil_div(pairs, wf_ceil_div(pairs, h->most_pairs));
  h->most_rows = wf_ceil_div(blocks, wf_ceil_div(blocks, held)) * dim;
}

// A single pair is the only one of a dimension.
static void add_level(network_lower_view *view) {
  if (view->rank > 2) return;
  memmove(view->dim + 1, view->dim, (size_t)view->rank * sizeof *view->dim);
  memmove(view->step + 1, view->step, (size_t)view->rank * sizeof *view->step);
  view->dim[0] = 1;
  view->step[0] = 0;
  view->rank++;
}

static bool find_views(held_lowering *h) {
  network_lowering *l = h->l;
  l->node = h->product;
  bool good =
      network_lower_strided_input(l, 0, &h->view[X_SIDE]) && network_lower_strided_input(l, 1, &h->view[W_SIDE]);
  l->node = h->share;
  good = good && network_lower_strided_result(l, &h->view[Y_SIDE]) &&
         network_lower_view_of(l, h->share->inputs[1], &h->view[SUM_SIDE]);
  if (!good) return false;
  for (int s = 0; s < SIDES; s++) add_level(&h->view[s]);
  const network_lower_view *y = &h->view[Y_SIDE];
  h->view[SUM_SIDE] = network_lower_broadcast(&h->view[SUM_SIDE], y->rank, y->dim);
  h->rows = y->dim[y->rank - 2];
  h->cols = y->dim[y->rank - 1];
  h->depth = h->view[X_SIDE].dim[y->rank - 1];
  for (int d = 0; d + 2 < y->rank; d++)
    if (y->dim[d] >= y->dim[h->level]) h->level = d;
  return true;
}

bool network_lower_held(network_lowering *l, const graph_node *product) {
  held_lowering h = {.l = l, .product = product, .share = l->node};
  if (!find_views(&h)) return false;
  choose_sizes(&h);
  run_levels(&h, 0, (int64_t[SIDES]){0});
  network_lower_complete(l);
  return true;
}
