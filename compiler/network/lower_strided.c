// SPDX-License-Identifier: Apache-2.0
// Heads of attention: transposes that exchange dimensions before the last one are strides of the products beside them,
// so that no step copies the tensor. Parts that a Slice cuts out before them, or a Concat joins behind them, are
// strides of these products, too. The tensors between these nodes are in no memory.
#include "compiler/network/private.h"

void network_lower_index(network_lowering *l, wf_arena *arena) {
  const graph *g = l->g;
  const size_t count = (size_t)g->tensor_count + 1;
  l->maker = WF_ARENA_ARRAY(arena, count, const graph_node *);
  l->reader = WF_ARENA_ARRAY(arena, count, const graph_node *);
  int *uses = WF_ARENA_ARRAY(arena, count, int);
  for (int n = 0; n < g->node_count; n++) {
    const graph_node *node = &g->nodes[n];
    for (int i = 0; i < node->input_count; i++)
      if (node->inputs[i] != GRAPH_NONE && uses[node->inputs[i]]++ == 0) l->reader[node->inputs[i]] = node;
    for (int o = 0; o < node->output_count; o++)
      if (node->outputs[o] != GRAPH_NONE) l->maker[node->outputs[o]] = node;
  }
  for (int o = 0; o < g->output_count; o++) uses[g->outputs[o]] += 2;
  for (int t = 0; t < g->tensor_count; t++)
    if (uses[t] != 1) l->reader[t] = NULL;
  network_lower_find_columns(l, arena);
}

static int64_t leading(const graph_tensor *t) {
  int64_t count = 1;
  for (int d = 0; d + 2 < t->rank; d++) count *= t->dim[d];
  return count;
}

// The tensor is a packed one by another name.
static bool is_widened(const network_lowering *l, int tensor) {
  const graph_node *maker = l->maker[tensor];
  while (maker != NULL && network_lower_is_reshape(maker)) maker = l->maker[maker->inputs[0]];
  return maker != NULL && maker->op == GRAPH_OP_QWIDEN4;
}

// The tensor is a part of a longer one, perhaps with dimensions exchanged.
static bool is_part(const network_lowering *l, int tensor) {
  const graph_node *maker = l->maker[tensor];
  if (maker != NULL && maker->op == GRAPH_OP_TRANSPOSE) maker = l->maker[maker->inputs[0]];
  return maker != NULL && maker->op == GRAPH_OP_SLICE;
}

// One pair, too, whose second matrix is transposed as it is loaded because it cannot be before, or is a part.
bool network_lower_is_batched(const network_lowering *l, const graph_node *product) {
  const graph_tensor *a = network_lower_tensor(l, product->inputs[0]), *b = network_lower_tensor(l, product->inputs[1]);
  return product->op == GRAPH_OP_QMAT_MUL && a->rank >= 2 && b->rank >= 2 && leading(a) == leading(b) &&
         !network_lower_has(product, 3) &&
         (leading(a) > 1 || (a->rank == b->rank && is_part(l, product->inputs[1])) ||
          (graph_int(product, "transB", 0) != 0 && is_widened(l, product->inputs[1])));
}

// ---- which transposes

// The last dimension stays: rows of the result are rows of the operand.
static bool keeps_rows(const network_lowering *l, const graph_node *transpose, int64_t *perm) {
  const graph_tensor *x = network_lower_tensor(l, transpose->inputs[0]);
  return x->type == GRAPH_I8 && x->data == NULL && x->rank >= 3 && x->rank <= WEFT_HOST_RANK &&
         graph_ints(transpose, "perm", perm, WEFT_HOST_RANK) == x->rank && perm[x->rank - 1] == x->rank - 1;
}

static bool is_read_in_place(const network_lowering *l, const graph_node *node) {
  const graph_node *reader = l->reader[node->outputs[0]];
  return reader != NULL && reader->op == GRAPH_OP_QMAT_MUL && network_lower_is_batched(l, reader) &&
         (reader->inputs[0] != node->outputs[0] || graph_int(reader, "transA", 0) == 0);
}

static bool writes_in_place(const network_lowering *l, const graph_node *maker) {
  return maker->op == GRAPH_OP_QSHARE || (maker->op == GRAPH_OP_QMAT_MUL && network_lower_is_batched(l, maker));
}

static bool is_made_in_place(const network_lowering *l, const graph_node *transpose) {
  const graph_node *maker = l->maker[transpose->inputs[0]];
  return maker != NULL && l->reader[transpose->inputs[0]] == transpose && writes_in_place(l, maker);
}

bool network_lower_is_strided(const network_lowering *l, const graph_node *transpose) {
  int64_t perm[WEFT_HOST_RANK];
  return transpose->op == GRAPH_OP_TRANSPOSE && keeps_rows(l, transpose, perm) &&
         (is_read_in_place(l, transpose) || is_made_in_place(l, transpose));
}

// ---- parts

// Rows stay whole, and one is the next one's neighbour.
static bool cuts_rows(const network_lowering *l, const graph_node *slice) {
  const graph_tensor *x = network_lower_tensor(l, slice->inputs[0]), *y = network_lower_tensor(l, slice->outputs[0]);
  if (slice->op != GRAPH_OP_SLICE || x->type != GRAPH_I8 || x->data != NULL || x->rank < 3 || x->rank > WEFT_HOST_RANK)
    return false;
  if (network_lower_has(slice, 4)) {
    const graph_tensor *steps = network_lower_tensor(l, slice->inputs[4]);
    for (int64_t i = 0; i < graph_elements(steps); i++)
      if (steps->type != GRAPH_I64 || steps->data == NULL || ((const int64_t *)steps->data)[i] != 1) return false;
  }
  return x->dim[x->rank - 1] == y->dim[x->rank - 1];
}

bool network_lower_is_cut(const network_lowering *l, const graph_node *slice) {
  if (!cuts_rows(l, slice)) return false;
  if (is_read_in_place(l, slice)) return true;
  const graph_node *turn = l->reader[slice->outputs[0]];
  return turn != NULL && network_lower_is_strided(l, turn) && is_read_in_place(l, turn);
}

static bool is_left_in_place(const network_lowering *l, int tensor) {
  const graph_node *maker = l->maker[tensor];
  if (maker == NULL || l->reader[tensor] == NULL || network_lower_tensor(l, tensor)->type != GRAPH_I8) return false;
  if (maker->op == GRAPH_OP_CONCAT) return network_lower_is_joined(l, maker);
  if (maker->op == GRAPH_OP_TRANSPOSE) return network_lower_is_strided(l, maker) && is_made_in_place(l, maker);
  return writes_in_place(l, maker);
}

bool network_lower_is_joined(const network_lowering *l, const graph_node *concat) {
  const graph_tensor *y = network_lower_tensor(l, concat->outputs[0]);
  const int64_t axis = graph_int(concat, "axis", 0);
  if (y->rank < 3 || y->rank > WEFT_HOST_RANK || axis == -1 || axis == y->rank - 1) return false;
  for (int i = 0; i < concat->input_count; i++)
    if (!is_left_in_place(l, concat->inputs[i])) return false;
  return true;
}

// ---- views

// A packed tensor as if each element were a byte.
static bool operand_view(network_lowering *l, int tensor, network_lower_view *view) {
  const graph_node *widen = network_lower_packed(l, tensor);
  if (widen == NULL) return network_lower_view_of(l, tensor, view);
  const graph_tensor *t = network_lower_tensor(l, tensor);
  *view = network_lower_view_at(network_lower_place(l, widen->inputs[0]), WEFT_I8, t->rank, t->dim);
  return true;
}

static bool whole_or_part(network_lowering *l, int tensor, network_lower_view *view) {
  const graph_node *maker = l->maker[tensor];
  if (maker != NULL && network_lower_is_cut(l, maker)) return network_lower_sliced(l, maker, view);
  return operand_view(l, tensor, view);
}

bool network_lower_strided_input(network_lowering *l, int input, network_lower_view *view) {
  const int tensor = l->node->inputs[input];
  const graph_node *maker = l->maker[tensor];
  int64_t perm[WEFT_HOST_RANK];
  if (maker == NULL || !network_lower_is_strided(l, maker) || !is_read_in_place(l, maker))
    return whole_or_part(l, tensor, view);
  network_lower_view x;
  if (!whole_or_part(l, maker->inputs[0], &x) || !keeps_rows(l, maker, perm)) return false;
  *view = x;
  for (int d = 0; d < x.rank; d++) view->dim[d] = x.dim[perm[d]], view->step[d] = x.step[perm[d]];
  return true;
}

// The Transpose whose result the node at hand leaves; NULL: it leaves its own.
static const graph_node *behind(const network_lowering *l) {
  const graph_node *reader = l->reader[l->node->outputs[0]];
  if (reader == NULL || !network_lower_is_strided(l, reader) || is_read_in_place(l, reader)) return NULL;
  return reader;
}

// The Concat that a tensor is a part of in place; NULL: it is none.
static const graph_node *joining(const network_lowering *l, int tensor) {
  const graph_node *reader = l->reader[tensor];
  return reader != NULL && reader->op == GRAPH_OP_CONCAT && network_lower_is_joined(l, reader) ? reader : NULL;
}

// A tensor where it lies: by itself, or in the one that it is joined to.
static bool result_view(network_lowering *l, int tensor, network_lower_view *view) {
  const graph_node *concat = joining(l, tensor);
  if (concat == NULL) return network_lower_view_of(l, tensor, view);
  if (!result_view(l, concat->outputs[0], view)) return false;
  int64_t axis = graph_int(concat, "axis", 0);
  if (axis < 0) axis += view->rank;
  for (int i = 0; concat->inputs[i] != tensor; i++)
    view->place.offset += (uint64_t)(network_lower_tensor(l, concat->inputs[i])->dim[axis] * view->step[axis]);
  view->dim[axis] = network_lower_tensor(l, tensor)->dim[axis];
  return true;
}

bool network_lower_strided_result(network_lowering *l, network_lower_view *view) {
  const graph_node *transpose = behind(l);
  int64_t perm[WEFT_HOST_RANK];
  if (transpose == NULL || !keeps_rows(l, transpose, perm)) return result_view(l, l->node->outputs[0], view);
  network_lower_view y;
  if (!result_view(l, transpose->outputs[0], &y)) return false;
  *view = y;
  for (int d = 0; d < y.rank; d++) view->dim[perm[d]] = y.dim[d], view->step[perm[d]] = y.step[d];
  return true;
}

// The Concat whose last part a tensor is, in place; NULL: it is none.
static const graph_node *completed(const network_lowering *l, int tensor) {
  const graph_node *concat = joining(l, tensor);
  return concat != NULL && concat->inputs[concat->input_count - 1] == tensor ? concat : NULL;
}

void network_lower_complete(network_lowering *l) {
  const graph_node *transpose = behind(l), *first = transpose;
  if (first == NULL) first = completed(l, l->node->outputs[0]);
  size_t count = 0;
  for (const graph_node *node = first; node != NULL; node = completed(l, node->outputs[0])) count++;
  if (count == 0) return;
  network_step *step = &l->net->steps[l->net->step_count - 1];
  step->also = WF_ARENA_ARRAY(l->net->arena, count, const graph_node *);
  for (const graph_node *node = first; node != NULL; node = completed(l, node->outputs[0]))
    step->also[step->also_count++] = node;
}
