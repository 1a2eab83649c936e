// SPDX-License-Identifier: Apache-2.0
// Elements by places that the network computes or knows, in terms of Gather and ScatterElements along one dimension,
// and sums along one:
//   GatherND, ScatterND   the named dimensions become one, the places in them numbers
//   MaxUnpool             ScatterElements into zeros
//   Compress              Gather with constant indices
//   ReverseSequence       the first two dimensions become one: Gather with constant indices
//   CumSum                a product with a triangle of ones
#include <string.h>

#include "compiler/graph/call.h"
#include "compiler/quantise/expand.h"

static int whole(const quantise_maker *m, int64_t value) {
  return quantise_make_constant(m, GRAPH_I64, 0, NULL, &value);
}

// Places below 0 count from the end.
static int wrapped(const quantise_maker *m, int place, int64_t size) {
  const int below = quantise_make_binary(m, GRAPH_OP_LESS, place, whole(m, 0), GRAPH_NONE),
            more = quantise_make_binary(m, GRAPH_OP_ADD, place, whole(m, size), GRAPH_NONE);
  return quantise_make(m, GRAPH_OP_WHERE, NULL, (int[]){below, more, place}, 3, GRAPH_NONE);
}

// The last dimension of `indices` names dimensions of `x` from `first` on: one number each, in the shape of the others.
static int numbers_of(const quantise_maker *m, const graph_tensor *x, int indices, int first) {
  const graph_tensor t = quantise_make_tensor(m, indices);
  const int last = t.rank - 1;
  int sum = GRAPH_NONE;
  for (int64_t i = 0; i < t.dim[last]; i++) {
    const int64_t step = graph_product(x->dim, first + (int)i + 1, first + (int)t.dim[last]);
    const int part = quantise_make_slice(m, indices, last, i, i + 1, 1, GRAPH_NONE),
              place = wrapped(m, quantise_make_reshape(m, part, last, t.dim, GRAPH_NONE), x->dim[first + i]),
              scaled = quantise_make_binary(m, GRAPH_OP_MUL, place, whole(m, step), GRAPH_NONE);
    sum = sum == GRAPH_NONE ? scaled : quantise_make_binary(m, GRAPH_OP_ADD, sum, scaled, GRAPH_NONE);
  }
  return sum;
}

// What the first `batch` dimensions of the places add to their numbers: `size` for each.
static int with_batch(const quantise_maker *m, int numbers, int batch, int64_t size) {
  const graph_tensor t = quantise_make_tensor(m, numbers);
  const int64_t count = graph_product(t.dim, 0, batch);
  if (batch == 0) return numbers;
  int64_t dim[GRAPH_RANK_MAX], *offsets = WF_ARENA_ARRAY(m->g->arena, (size_t)count + 1, int64_t);
  for (int64_t i = 0; i < count; i++) offsets[i] = i * size;
  for (int d = 0; d < t.rank; d++) dim[d] = d < batch ? t.dim[d] : 1;
  const int constant = quantise_make_constant(m, GRAPH_I64, t.rank, dim, offsets);
  return quantise_make_binary(m, GRAPH_OP_ADD, numbers, constant, GRAPH_NONE);
}

static bool has_places(const graph *g, const graph_node *node) {
  const graph_tensor *x = &g->tensors[node->inputs[0]], *indices = &g->tensors[node->inputs[1]];
  return indices->type == GRAPH_I64 && indices->rank > 0 && indices->dim[indices->rank - 1] > 0 &&
         graph_elements(x) > 0 && graph_elements(indices) > 0;
}

bool quantise_expand_gather_nd(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], indices = g->tensors[node->inputs[1]];
  const int batch = (int)graph_int(node, "batch_dims", 0);
  if (!has_places(g, node)) return false;
  const int behind = batch + (int)indices.dim[indices.rank - 1];
  int64_t flat[GRAPH_RANK_MAX] = {graph_product(x.dim, 0, behind)};
  for (int d = behind; d < x.rank; d++) flat[1 + d - behind] = x.dim[d];
  const int numbers =
                with_batch(&m, numbers_of(&m, &x, node->inputs[1], batch), batch, graph_product(x.dim, batch, behind)),
            list = quantise_make_reshape(&m, node->inputs[0], 1 + x.rank - behind, flat, GRAPH_NONE);
  quantise_make_along(&m, GRAPH_OP_GATHER, (int[]){list, numbers}, 2, 0, node->outputs[0]);
  return true;
}

static void scatter(const quantise_maker *m, const int *inputs) {
  const graph_tensor y = quantise_make_tensor(m, m->node->outputs[0]);
  graph_node attributes = {0};
  graph_set_int(m->g, &attributes, "axis", 0);
  graph_set_text(m->g, &attributes, "reduction", graph_text(m->node, "reduction", "none"));
  const int all = quantise_make(m, GRAPH_OP_SCATTER_ELEMENTS, &attributes, inputs, 3, GRAPH_NONE);
  quantise_make_reshape(m, all, y.rank, y.dim, m->node->outputs[0]);
}

bool quantise_expand_scatter_nd(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], indices = g->tensors[node->inputs[1]];
  if (!has_places(g, node)) return false;
  const int depth = (int)indices.dim[indices.rank - 1];
  const int64_t inner = graph_product(x.dim, depth, x.rank), count = graph_product(indices.dim, 0, indices.rank - 1),
                list[2] = {graph_product(x.dim, 0, depth), inner}, one[2] = {count, 1}, all[2] = {count, inner};
  const int numbers = quantise_make_reshape(&m, numbers_of(&m, &x, node->inputs[1], 0), 2, one, GRAPH_NONE),
            wide = quantise_make_binary(&m, GRAPH_OP_EXPAND, numbers, quantise_make_integers(&m, all, 2), GRAPH_NONE),
            data = quantise_make_reshape(&m, node->inputs[0], 2, list, GRAPH_NONE),
            updates = quantise_make_reshape(&m, node->inputs[2], 2, all, GRAPH_NONE);
  scatter(&m, (int[]){data, wide, updates});
  return true;
}

// Places count in the tensor that was pooled; that is the result, unless a shape is given.
bool quantise_expand_max_unpool(graph *g, const graph_node *node) {
  enum { UNPOOLED_MAX = 1 << 24 };
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], y = g->tensors[node->outputs[0]];
  const int64_t size = graph_elements(&y), count = graph_elements(&x);
  if (quantise_make_has(node, 2) || size > UNPOOLED_MAX || size == 0 || count == 0) return false;
  void *zeros = wf_arena_alloc(g->arena, graph_bytes(&y) + 1, 1);
  memset(zeros, 0, graph_bytes(&y));
  const int data = quantise_make_constant(&m, x.type, 1, &size, zeros),
            places = quantise_make_reshape(&m, node->inputs[1], 1, &count, GRAPH_NONE),
            updates = quantise_make_reshape(&m, node->inputs[0], 1, &count, GRAPH_NONE);
  scatter(&m, (int[]){data, places, updates});
  return true;
}

// ---- indices that are known

bool quantise_expand_compress(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], y = g->tensors[node->outputs[0]],
                     condition = g->tensors[node->inputs[1]];
  const bool along = graph_find_attribute(node, "axis") != NULL;
  const int64_t given = graph_int(node, "axis", 0), axis = given < 0 ? given + x.rank : given,
                size = along ? x.dim[axis] : graph_elements(&x);
  if (condition.data == NULL || graph_elements(&y) == 0) return false;
  int64_t *kept = WF_ARENA_ARRAY(g->arena, (size_t)graph_elements(&condition) + 1, int64_t);
  int count = 0;
  for (int64_t i = 0; i < graph_elements(&condition) && i < size; i++)
    if (((const uint8_t *)condition.data)[i] != 0) kept[count++] = i;
  const int list = along ? node->inputs[0] : quantise_make_reshape(&m, node->inputs[0], 1, &size, GRAPH_NONE);
  quantise_make_along(&m, GRAPH_OP_GATHER, (int[]){list, quantise_make_integers(&m, kept, count)}, 2, along ? axis : 0,
                      node->outputs[0]);
  return true;
}

bool quantise_expand_reverse(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], lengths = g->tensors[node->inputs[1]];
  const int time = (int)graph_int(node, "time_axis", 0), batch = 1 - time;
  if (lengths.data == NULL || graph_elements(&x) == 0) return false;
  int64_t flat[GRAPH_RANK_MAX] = {x.dim[0] * x.dim[1]}, *from = WF_ARENA_ARRAY(g->arena, (size_t)flat[0], int64_t);
  for (int64_t i = 0; i < flat[0]; i++) {
    int64_t at[2] = {i / x.dim[1], i % x.dim[1]};
    const int64_t length = ((const int64_t *)lengths.data)[at[batch]];
    if (length < 0 || length > x.dim[time]) return false;
    if (at[time] < length) at[time] = length - 1 - at[time];
    from[i] = at[0] * x.dim[1] + at[1];
  }
  for (int d = 2; d < x.rank; d++) flat[d - 1] = x.dim[d];
  const int list = quantise_make_reshape(&m, node->inputs[0], x.rank - 1, flat, GRAPH_NONE),
            turned = quantise_make_along(
                &m, GRAPH_OP_GATHER, (int[]){list, quantise_make_integers(&m, from, (int)flat[0])}, 2, 0, GRAPH_NONE);
  quantise_make_reshape(&m, turned, x.rank, x.dim, node->outputs[0]);
  return true;
}

// ---- sums

bool quantise_expand_cum_sum(graph *g, const graph_node *node) {
  enum { SUMMED_MAX = 2048 };
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]];
  int64_t axis;
  if (!quantise_make_is_float(g, node, 0) || quantise_rewrite_integers(g, node->inputs[1], &axis, 1) != 1 ||
      graph_elements(&x) == 0)
    return false;
  if (axis < 0) axis += x.rank;
  const int64_t size = x.dim[axis], square[2] = {size, size},
                lines[3] = {graph_product(x.dim, 0, (int)axis), size, graph_product(x.dim, (int)axis + 1, x.rank)};
  const bool reverse = graph_int(node, "reverse", 0) != 0, without = graph_int(node, "exclusive", 0) != 0;
  if (size > SUMMED_MAX) return false;
  float *ones = WF_ARENA_ARRAY(g->arena, (size_t)(size * size), float);
  for (int64_t y = 0; y < size; y++)
    for (int64_t i = 0; i < size; i++) ones[y * size + i] = (reverse ? i > y : i < y) || (i == y && !without) ? 1 : 0;
  const int triangle = quantise_make_constant(&m, GRAPH_F32, 2, square, ones),
            list = quantise_make_reshape(&m, node->inputs[0], 3, lines, GRAPH_NONE),
            sums = quantise_make_binary(&m, GRAPH_OP_MAT_MUL, triangle, list, GRAPH_NONE);
  quantise_make_reshape(&m, sums, x.rank, x.dim, node->outputs[0]);
  return true;
}
