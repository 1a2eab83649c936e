// SPDX-License-Identifier: Apache-2.0
// Elements by their places along one axis: GatherElements, ScatterElements, TopK.
#include <string.h>

#include "compiler/network/private.h"

static int axis_of(const network_lowering *l, int64_t by_default) {
  const int64_t axis = graph_int(l->node, "axis", by_default);
  return (int)(axis < 0 ? axis + network_lower_input(l, 0)->rank : axis);
}

// y[..] = x[.., index[..], ..]: in the shape of the indices.
static bool pick(network_lowering *l, network_step *step, int axis, const network_lower_view *y,
                 const network_lower_view *index) {
  network_lower_view x;
  if (!network_lower_view_of(l, l->node->inputs[0], &x)) return false;
  if (index->type != WEFT_I64 && index->type != WEFT_I32)
    return network_lower_refuse(l, "indices that are no i32 or i64");
  network_call *call = network_lower_call(l, step, WEFT_HOST_GATHER);
  call->call.integer[0] = x.dim[axis];
  call->call.integer[1] = x.step[axis];
  x.step[axis] = 0;
  for (int d = 0; d < x.rank; d++) x.dim[d] = y->dim[d];
  network_lower_set(call, 0, y);
  network_lower_set(call, 1, &x);
  network_lower_set(call, 2, index);
  network_lower_squeeze(call);
  return true;
}

bool network_lower_gather_elements(network_lowering *l) {
  network_lower_view index, y;
  if (!network_lower_view_of(l, l->node->inputs[1], &index) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  return pick(l, network_lower_host(l), axis_of(l, 0), &y, &index);
}

static bool scatter_op(network_lowering *l, enum weft_host_op *op) {
  const char *reduction = graph_text(l->node, "reduction", "none");
  *op = strcmp(reduction, "add") == 0   ? WEFT_HOST_SCATTER_ADD
        : strcmp(reduction, "mul") == 0 ? WEFT_HOST_SCATTER_MUL
                                        : WEFT_HOST_SCATTER;
  return *op == WEFT_HOST_SCATTER || network_lower_input(l, 0)->type == GRAPH_F32 ||
         network_lower_refuse(l, "sums of numbers that are no f32");
}

// The data, then the updates over it, one after the other.
bool network_lower_scatter(network_lowering *l) {
  network_lower_view x, index, updates, y;
  enum weft_host_op op;
  if (!scatter_op(l, &op) || !network_lower_view_of(l, l->node->inputs[0], &x) ||
      !network_lower_view_of(l, l->node->inputs[1], &index) ||
      !network_lower_view_of(l, l->node->inputs[2], &updates) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  if (index.type != WEFT_I64 && index.type != WEFT_I32)
    return network_lower_refuse(l, "indices that are no i32 or i64");
  network_lower_copy(l, &y, &x);
  const int axis = axis_of(l, 0);
  network_call *call = network_lower_call(l, network_lower_host(l), op);
  call->call.integer[0] = y.dim[axis];
  call->call.integer[1] = y.step[axis];
  y.step[axis] = 0;
  for (int d = 0; d < y.rank; d++) y.dim[d] = index.dim[d];
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &updates);
  network_lower_set(call, 2, &index);
  network_lower_squeeze(call);
  return true;
}

static bool wants(const network_lowering *l, int output) {
  return output < l->node->output_count && l->node->outputs[output] != GRAPH_NONE;
}

// Where the places of the best go: a result of the node, or memory of its own.
static bool places_of(network_lowering *l, const network_lower_view *x, int axis, int64_t k,
                      network_lower_view *index) {
  if (wants(l, 1)) return network_lower_view_of(l, l->node->outputs[1], index);
  int64_t dim[WEFT_HOST_RANK], count = 1;
  for (int d = 0; d < x->rank; d++) count *= dim[d] = d == axis ? k : x->dim[d];
  const uint64_t bytes = (uint64_t)count * network_lower_type_bytes(WEFT_I64);
  *index = network_lower_view_at(network_lower_scratch(l, bytes), WEFT_I64, x->rank, dim);
  return true;
}

// A call over the input with the axis inside.
static void search(network_lowering *l, network_step *step, const network_lower_view *x,
                   const network_lower_view *index, int axis, int64_t k) {
  network_lower_view from = *x, to = *index;
  for (int d = axis, last = x->rank - 1; d <= last; d++) {
    const int source = d == last ? axis : d + 1;
    from.dim[d] = to.dim[d] = x->dim[source];
    from.step[d] = x->step[source];
    to.step[d] = index->step[source];
  }
  for (int d = 0; d < axis; d++) to.dim[d] = x->dim[d];
  network_call *call = network_lower_call(l, step, WEFT_HOST_TOPK);
  network_lower_set(call, 0, &to);
  network_lower_set(call, 1, &from);
  call->call.outer = call->call.rank - 1;
  call->call.integer[0] = k;
  call->call.integer[1] = graph_int(l->node, "largest", 1) == 0;
  network_lower_squeeze(call);
}

bool network_lower_top_k(network_lowering *l) {
  network_lower_view x, index, y;
  const graph_tensor *result = network_lower_tensor(l, l->node->outputs[wants(l, 0) ? 0 : 1]);
  const int axis = axis_of(l, -1);
  const int64_t k = result->dim[axis];
  if (!network_lower_view_of(l, l->node->inputs[0], &x)) return false;
  if (x.type != WEFT_F32 && x.type != WEFT_I8) return network_lower_refuse(l, "numbers that are no f32 or int8");
  if (!places_of(l, &x, axis, k, &index)) return false;
  network_step *step = network_lower_host(l);
  search(l, step, &x, &index, axis, k);
  if (!wants(l, 0)) return true;
  return network_lower_view_of(l, l->node->outputs[0], &y) && pick(l, step, axis, &y, &index);
}
