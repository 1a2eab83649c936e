// SPDX-License-Identifier: Apache-2.0
// Operators that keep the order of their elements: the data is copied, only the shape changes. And Shape and Size,
// which give shapes as data.
#include <inttypes.h>
#include <string.h>

#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

bool graph_run_copy(graph_call *c) {
  memcpy(c->to[0], c->in[0]->data, graph_bytes(c->in[0]));
  return true;
}

static bool reshaped(graph_call *c, int rank, const int64_t *dim) {
  if (!graph_call_result(c, 0, c->in[0]->type, rank, dim)) return false;
  if (graph_elements(c->out[0]) != graph_elements(c->in[0]))
    return graph_call_fail(c, "%" PRId64 " elements do not fit a shape of %" PRId64, graph_elements(c->in[0]),
                           graph_elements(c->out[0]));
  return true;
}

bool graph_infer_reshape(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t dim[GRAPH_RANK_MAX], known = 1;
  int rank = graph_call_values(c, 1, dim, GRAPH_RANK_MAX), open = -1;
  if (rank < 0) return false;
  for (int d = 0; d < rank; d++) {
    if (dim[d] == 0 && graph_int(c->node, "allowzero", 0) == 0) {
      if (d >= x->rank) return graph_call_fail(c, "dimension %d is to be kept, but there is none", d);
      dim[d] = x->dim[d];
    }
    if (dim[d] == -1 && open >= 0) return graph_call_fail(c, "two dimensions are left open");
    if (dim[d] == -1)
      open = d;
    else if (dim[d] < 0 || __builtin_mul_overflow(known, dim[d], &known))
      return graph_call_fail(c, "dimension %d is %" PRId64, d, dim[d]);
  }
  if (open >= 0) dim[open] = known == 0 ? 0 : graph_elements(x) / known;
  return reshaped(c, rank, dim);
}

bool graph_infer_flatten(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t given = graph_int(c->node, "axis", 1);
  if (given < -x->rank || given > x->rank) return graph_call_fail(c, "axis %" PRId64 " is outside", given);
  int axis = (int)(given < 0 ? given + x->rank : given);
  return reshaped(c, 2, (int64_t[]){graph_product(x->dim, 0, axis), graph_product(x->dim, axis, x->rank)});
}

// The set of axes of input 1, by bit; false after a failure.
static bool axes_of(graph_call *c, int rank, uint32_t *set) {
  int64_t axes[GRAPH_RANK_MAX];
  int count = graph_call_values(c, 1, axes, GRAPH_RANK_MAX), axis;
  *set = 0;
  for (int i = 0; i < count; i++) {
    if (!graph_call_axis(c, axes[i], rank, &axis)) return false;
    if ((*set >> axis & 1) != 0) return graph_call_fail(c, "axis %d is named twice", axis);
    *set |= 1u << axis;
  }
  return count >= 0;
}

bool graph_infer_squeeze(graph_call *c) {
  const graph_tensor *x = c->in[0];
  uint32_t set = 0;
  int64_t dim[GRAPH_RANK_MAX];
  int rank = 0;
  if (c->in[1] != NULL && !axes_of(c, x->rank, &set)) return false;
  for (int d = 0; d < x->rank; d++) {
    bool gone = c->in[1] == NULL ? x->dim[d] == 1 : (set >> d & 1) != 0;
    if (!gone)
      dim[rank++] = x->dim[d];
    else if (x->dim[d] != 1)
      return graph_call_fail(c, "axis %d has %" PRId64 " elements", d, x->dim[d]);
  }
  return reshaped(c, rank, dim);
}

bool graph_infer_unsqueeze(graph_call *c) {
  const graph_tensor *x = c->in[0];
  if (!graph_is_constant(c->in[1])) return graph_call_fail(c, "its axes have to be constant");
  int64_t more = graph_elements(c->in[1]), dim[GRAPH_RANK_MAX];
  uint32_t set;
  if (more + x->rank > GRAPH_RANK_MAX) return graph_call_fail(c, "more than %d dimensions", GRAPH_RANK_MAX);
  int rank = x->rank + (int)more, from = 0;
  if (!axes_of(c, rank, &set)) return false;
  for (int d = 0; d < rank; d++) dim[d] = (set >> d & 1) != 0 ? 1 : x->dim[from++];
  return reshaped(c, rank, dim);
}

// start and end of Shape, within the rank.
static int bound(const graph_call *c, const char *name, int64_t by_default) {
  int64_t rank = c->in[0]->rank, at = graph_int(c->node, name, by_default);
  if (at < 0) at = at < -rank ? 0 : at + rank;
  return (int)(at > rank ? rank : at);
}

bool graph_infer_shape(graph_call *c) {
  int from = bound(c, "start", 0), to = bound(c, "end", c->in[0]->rank);
  return graph_call_result(c, 0, GRAPH_I64, 1, &(int64_t){to > from ? to - from : 0});
}

bool graph_run_shape(graph_call *c) {
  int from = bound(c, "start", 0);
  memcpy(c->to[0], &c->in[0]->dim[from], graph_bytes(c->out[0]));
  return true;
}

bool graph_infer_size(graph_call *c) { return graph_call_result(c, 0, GRAPH_I64, 0, NULL); }

bool graph_run_size(graph_call *c) {
  *(int64_t *)c->to[0] = graph_elements(c->in[0]);
  return true;
}

static bool is_zero(const graph_tensor *t) {
  return graph_is_constant(t) && graph_elements(t) == 1 && graph_real_at(t->type, t->data, 0) == 0;
}

// Dropout of inference, or of ratio 0: the mask lets everything pass.
bool graph_infer_dropout(graph_call *c) {
  if (c->in[2] != NULL && !is_zero(c->in[2]) && !is_zero(c->in[1])) return graph_call_fail(c, "it is in training mode");
  return graph_call_like(c, 0, 0) && graph_call_result(c, 1, GRAPH_BOOL, c->in[0]->rank, c->in[0]->dim);
}

bool graph_run_dropout(graph_call *c) {
  if (c->to[0] != NULL) graph_run_copy(c);
  if (c->to[1] != NULL) memset(c->to[1], 1, (size_t)graph_elements(c->in[0]));
  return true;
}
