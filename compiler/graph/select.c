// SPDX-License-Identifier: Apache-2.0
// Operators whose result is as large as their data says. They need constants: NonZero all of its input, Compress its
// condition.
#include <inttypes.h>

#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

static bool is_set(const graph_tensor *t, int64_t i) {
  return graph_is_real(t->type) ? graph_real_at(t->type, t->data, (size_t)i) != 0
                                : graph_int_at(t->type, t->data, (size_t)i) != 0;
}

static int64_t count_set(const graph_tensor *t, int64_t most) {
  int64_t count = 0, n = graph_elements(t);
  for (int64_t i = 0; i < n && i < most; i++) count += is_set(t, i);
  return count;
}

bool graph_infer_non_zero(graph_call *c) {
  const graph_tensor *x = c->in[0];
  if (!graph_is_constant(x)) return graph_call_fail(c, "the size of its result depends on data");
  return graph_call_result(c, 0, GRAPH_I64, 2, (int64_t[]){x->rank, count_set(x, graph_elements(x))});
}

bool graph_run_non_zero(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t *y = c->to[0], columns = c->out[0]->dim[1], column = 0;
  for (int64_t i = 0, n = graph_elements(x); i < n && column < columns; i++) {
    if (!is_set(x, i)) continue;
    int64_t left = i;
    for (int d = x->rank - 1; d >= 0; left /= x->dim[d], d--) y[d * columns + column] = left % x->dim[d];
    column++;
  }
  return true;
}

// Without an axis the input is one list.
typedef struct lines {
  int64_t outer, size, inner;
} lines;

static bool find_lines(graph_call *c, lines *l, int *axis) {
  const graph_tensor *x = c->in[0];
  *axis = -1;
  *l = (lines){1, graph_elements(x), 1};
  if (graph_find_attribute(c->node, "axis") == NULL) return true;
  if (!graph_call_axis(c, graph_int(c->node, "axis", 0), x->rank, axis)) return false;
  *l = (lines){graph_product(x->dim, 0, *axis), x->dim[*axis], graph_product(x->dim, *axis + 1, x->rank)};
  return true;
}

bool graph_infer_compress(graph_call *c) {
  const graph_tensor *x = c->in[0], *condition = c->in[1];
  int64_t dim[GRAPH_RANK_MAX] = {0};
  lines l;
  int axis;
  if (!graph_is_constant(condition)) return graph_call_fail(c, "the size of its result depends on data");
  if (condition->type != GRAPH_BOOL || condition->rank != 1)
    return graph_call_fail(c, "its condition has to be a list of bool");
  if (!find_lines(c, &l, &axis)) return false;
  for (int d = 0; d < x->rank; d++) dim[d] = x->dim[d];
  dim[axis < 0 ? 0 : axis] = count_set(condition, l.size);
  return graph_call_result(c, 0, x->type, axis < 0 ? 1 : x->rank, dim);
}

bool graph_run_compress(graph_call *c) {
  const graph_tensor *x = c->in[0], *condition = c->in[1];
  int64_t to = 0, given = graph_elements(condition);
  lines l;
  int axis;
  if (!find_lines(c, &l, &axis)) return false;
  for (int64_t o = 0; o < l.outer; o++)
    for (int64_t i = 0; i < l.size && i < given; i++) {
      if (!is_set(condition, i)) continue;
      graph_copy(c->to[0], to, 1, x->data, (o * l.size + i) * l.inner, 1, l.inner, graph_type_bytes(x->type));
      to += l.inner;
    }
  return true;
}
