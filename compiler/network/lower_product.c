// SPDX-License-Identifier: Apache-2.0
// Matrix products: of a matrix of rows and constant weights, or of as many pairs of matrices as the leading dimensions
// say.
#include <string.h>

#include "base/number.h"
#include "compiler/network/private.h"

typedef struct product {
  int64_t batch_a, batch_b, m, n, k;
  bool trans_a, trans_b;
  layer_desc layer;
  network_lower_operands at;
} product;

static int64_t leading(const graph_tensor *t) {
  int64_t count = 1;
  for (int d = 0; d + 2 < t->rank; d++) count *= t->dim[d];
  return count;
}

static bool product_of(network_lowering *l, product *p) {
  const graph_node *node = l->node;
  const graph_tensor *a = network_lower_input(l, 0), *b = network_lower_input(l, 1);
  if (a->rank < 2 || b->rank < 2) return network_lower_refuse(l, "an operand is no matrix");
  p->trans_a = graph_int(node, "transA", 0) != 0;
  p->trans_b = graph_int(node, "transB", 0) != 0;
  p->batch_a = leading(a), p->batch_b = leading(b);
  p->m = a->dim[a->rank - (p->trans_a ? 1 : 2)];
  p->k = a->dim[a->rank - (p->trans_a ? 2 : 1)];
  p->n = b->dim[b->rank - (p->trans_b ? 2 : 1)];
  p->layer = network_lower_sums(l);
  return true;
}

// ---- transposed operands

// The last two dimensions swapped: now, for a constant, or by a copy.
static network_place transposed(network_lowering *l, int input, int64_t batch, int64_t rows, int64_t cols) {
  const graph_tensor *t = network_lower_input(l, input);
  const uint64_t bytes = (uint64_t)(batch * rows * cols);
  if (t->data != NULL) {
    const int8_t *from = t->data;
    int8_t *to = network_lower_alloc(l, bytes);
    for (int64_t i = 0; i < batch; i++)
      for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) to[(i * cols + c) * rows + r] = from[(i * rows + r) * cols + c];
    return network_lower_constant(l, t->name, to, bytes);
  }
  const int64_t dim[3] = {batch, rows, cols};
  network_lower_view from = network_lower_view_at(network_lower_place_of(l, input), WEFT_I8, 3, dim);
  const int64_t swapped[3] = {batch, cols, rows};
  const network_lower_view to = network_lower_view_at(network_lower_scratch(l, bytes), WEFT_I8, 3, swapped);
  from.dim[1] = cols, from.dim[2] = rows;
  const int64_t step = from.step[1];
  from.step[1] = from.step[2], from.step[2] = step;
  network_lower_copy(l, &to, &from);
  return to.place;
}

// Rows of constant weights that end inside of a line of the cache begin at one each, where that takes little room: a
// row that straddles lines is loaded slower.
static void align_weights(network_lowering *l, product *p) {
  enum { ROOM = 16 };  // a part of the row
  const int64_t line = cost_line_bytes(l->array), pitch = wf_align_up(p->n, line);
  const graph_tensor *t = network_lower_input(l, 1);
  if (p->batch_b != 1 || p->trans_b || t->data == NULL || pitch == p->n || (pitch - p->n) * ROOM > p->n) return;
  const uint64_t bytes = (uint64_t)(pitch * p->k);
  int8_t *to = network_lower_alloc(l, bytes);
  for (int64_t k = 0; k < p->k; k++) memcpy(to + k * pitch, (const int8_t *)t->data + k * p->n, (size_t)p->n);
  p->at.weights = network_lower_constant(l, t->name, to, bytes);
  p->layer.weight_pitch = pitch;
}

// ---- kernels

static network_place at(network_place place, int64_t elements, int64_t bytes) {
  place.offset += (uint64_t)(elements * bytes);
  return place;
}

// One product of M rows, which start at row `row` of the results.
static void one_product(network_lowering *l, const product *p, network_place a, network_place b, int64_t m,
                        int64_t row) {
  layer_desc layer = p->layer;
  layer.map.kind = MAP_GEMM;
  memcpy(layer.map.size, (const int64_t[BLOCK_DIMS]){1, m, 1, p->n, p->k, 1, 1}, sizeof layer.map.size);
  network_lower_operands at_row = p->at;
  at_row.inputs = a;
  at_row.weights = b;
  at_row.residual = at(p->at.residual, row * p->n, 1);
  at_row.results = at(p->at.results, row * p->n, layer.map.result_bytes);
  network_lower_layer(l, &layer, &at_row);
}

// ---- pairs of matrices

// The dimensions before the last two of both operands and the result, those of one element left out and merged where
// all three allow it: elements from one product to the next.
enum { SIDES = 3, A_SIDE = 0, B_SIDE, C_SIDE };
typedef struct levels {
  int count;
  int64_t dim[WEFT_HOST_RANK], step[WEFT_HOST_RANK][SIDES];
} levels;

static bool is_one_level(const levels *v, const int64_t *step, int64_t dim) {
  const int last = v->count - 1;
  for (int side = 0; side < SIDES; side++)
    if (v->count == 0 || v->step[last][side] != step[side] * dim) return false;
  return true;
}

static levels levels_of(const network_lower_view *view) {
  levels v = {0};
  for (int d = 0; d + 2 < view->rank; d++) {
    const int64_t dim = view->dim[d];
    int64_t step[SIDES];
    for (int side = 0; side < SIDES; side++) step[side] = view[side].step[d] / (int64_t)view[side].element_bytes;
    if (dim == 1) continue;
    const bool merged = is_one_level(&v, step, dim);
    const int level = merged ? v.count - 1 : v.count++;
    v.dim[level] = merged ? v.dim[level] * dim : dim;
    memcpy(v.step[level], step, sizeof step);
  }
  if (v.count == 0) v.dim[v.count++] = 1;
  return v;
}

static layer_lie lie_of(const network_lower_view *view, int64_t step) {
  const int64_t pitch = view->step[view->rank - 2] / (int64_t)view->element_bytes;
  const int64_t rows = view->dim[view->rank - 2], cols = view->dim[view->rank - 1];
  if (pitch == cols && step == rows * cols) return (layer_lie){0};
  return (layer_lie){.pitch = pitch, .step = step};
}

static network_place forward(const network_lower_view *view, int64_t elements, bool packed) {
  return at(view->place, packed ? elements / 2 : elements, (int64_t)view->element_bytes);
}

// The level with the most products is the kernel's; of the others each point is a step.
static void batched(network_lowering *l, const product *p, const network_lower_view *view) {
  const levels v = levels_of(view);
  int most = 0;
  for (int i = 1; i < v.count; i++)
    if (v.dim[i] > v.dim[most]) most = i;
  layer_desc layer = p->layer;
  layer.map.kind = MAP_BATCHED;
  layer.transposed = p->trans_b;
  layer.packed = network_lower_packed(l, l->node->inputs[1]) != NULL;
  layer.inputs = lie_of(&view[A_SIDE], v.step[most][A_SIDE]);
  layer.weights = lie_of(&view[B_SIDE], v.step[most][B_SIDE]);
  layer.results = lie_of(&view[C_SIDE], v.step[most][C_SIDE]);
  memcpy(layer.map.size, (const int64_t[BLOCK_DIMS]){v.dim[most], p->m, 1, p->n, p->k, 1, 1}, sizeof layer.map.size);
  int64_t index[WEFT_HOST_RANK] = {0}, moved[SIDES] = {0};
  for (int d = 0; d >= 0;) {
    network_lower_operands at_point = p->at;
    at_point.inputs = forward(&view[A_SIDE], moved[A_SIDE], false);
    at_point.weights = forward(&view[B_SIDE], moved[B_SIDE], layer.packed);
    at_point.results = forward(&view[C_SIDE], moved[C_SIDE], false);
    network_lower_layer(l, &layer, &at_point);
    for (d = v.count - 1; d >= 0; d--) {
      if (d == most) continue;
      const bool wraps = ++index[d] == v.dim[d];
      for (int side = 0; side < SIDES; side++)
        moved[side] += wraps ? -(v.dim[d] - 1) * v.step[d][side] : v.step[d][side];
      if (!wraps) break;
      index[d] = 0;
    }
  }
}

// Operands and result as they lie; a transposed first operand as a copy.
static bool batched_views(network_lowering *l, const product *p, network_lower_view *view) {
  if (p->trans_a) {
    const graph_tensor *a = network_lower_input(l, 0);
    int64_t dim[GRAPH_RANK_MAX];
    for (int d = 0; d < a->rank; d++) dim[d] = a->dim[d];
    dim[a->rank - 2] = p->m, dim[a->rank - 1] = p->k;
    view[A_SIDE] = network_lower_view_at(transposed(l, 0, p->batch_a, p->k, p->m), WEFT_I8, a->rank, dim);
  } else if (!network_lower_strided_input(l, 0, &view[A_SIDE])) {
    return false;
  }
  return network_lower_strided_input(l, 1, &view[B_SIDE]) && network_lower_strided_result(l, &view[C_SIDE]);
}

// Leading ones, so that all three have as many dimensions.
static void level_ranks(network_lower_view *view) {
  int rank = 0;
  for (int side = 0; side < SIDES; side++) rank = view[side].rank > rank ? view[side].rank : rank;
  for (int side = 0; side < SIDES; side++)
    for (network_lower_view *v = &view[side]; v->rank < rank; v->rank++) {
      memmove(v->dim + 1, v->dim, (size_t)v->rank * sizeof *v->dim);
      memmove(v->step + 1, v->step, (size_t)v->rank * sizeof *v->step);
      v->dim[0] = 1, v->step[0] = 0;
    }
}

static bool multiply_pairs(network_lowering *l, product *p) {
  network_lower_view view[SIDES];
  if (!batched_views(l, p, view)) return false;
  level_ranks(view);
  batched(l, p, view);
  network_lower_complete(l);
  return true;
}

bool network_lower_product(network_lowering *l) {
  product p = {0};
  if (network_lower_is_held(l, l->node)) return true;  // the reader has the steps
  if (!product_of(l, &p)) return false;
  const map_layer *map = &p.layer.map;
  const int64_t batch = p.batch_a > p.batch_b ? p.batch_a : p.batch_b;
  if ((p.batch_a != batch && p.batch_a != 1) || (p.batch_b != batch && p.batch_b != 1))
    return network_lower_refuse(l, "leading dimensions that are repeated in part");
  if (map->result_bytes == 4 && (p.layer.relu || map->residual != 0))
    return network_lower_refuse(l, "int32 results with relu or a residual");
  if (map->bias) p.at.bias = network_lower_place_of(l, 2);
  if (map->residual != 0) p.at.residual = network_lower_place_of(l, 3);
  p.layer.style = network_lower_scheme(l).style;
  if (network_lower_is_batched(l, l->node)) return multiply_pairs(l, &p);
  p.at.inputs = p.trans_a ? transposed(l, 0, p.batch_a, p.k, p.m) : network_lower_place_of(l, 0);
  const graph_node *widen = network_lower_packed(l, l->node->inputs[1]);
  p.layer.packed = widen != NULL;
  p.at.weights = widen != NULL ? network_lower_place(l, widen->inputs[0])
                 : p.trans_b   ? transposed(l, 1, p.batch_b, p.n, p.k)
                               : network_lower_place_of(l, 1);
  p.at.results = network_lower_result(l, 0);
  align_weights(l, &p);
  if (p.batch_b == 1) {
    one_product(l, &p, p.at.inputs, p.at.weights, p.batch_a * p.m, 0);
  } else {
    for (int64_t i = 0; i < batch; i++)
      one_product(l, &p, p.batch_a == 1 ? p.at.inputs : at(p.at.inputs, i * p.m * p.k, 1),
                  at(p.at.weights, widen != NULL ? i * p.k * p.n / 2 : i * p.k * p.n, 1), p.m, i * p.m);
  }
  return true;
}
