// SPDX-License-Identifier: Apache-2.0
// Operators whose data says where elements come from or go to. Indices are checked as they are used: a wrong one is an
// error of the data, not of the graph.
#include <inttypes.h>
#include <string.h>

#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

static bool is_index(const graph_tensor *t) { return t->type == GRAPH_I32 || t->type == GRAPH_I64; }

// Element `i` of the indices, made positive; -1 after a failure.
static int64_t index_at(graph_call *c, const graph_tensor *indices, int64_t i, int64_t size) {
  int64_t index = graph_int_at(indices->type, indices->data, (size_t)i);
  if (index < -size || index >= size) {
    graph_call_fail(c, "index %" PRId64 " is outside of %" PRId64, index, size);
    return -1;
  }
  return index < 0 ? index + size : index;
}

static bool axis_of(graph_call *c, int rank, int *axis) {
  return graph_call_axis(c, graph_int(c->node, "axis", 0), rank, axis);
}

bool graph_infer_gather(graph_call *c) {
  const graph_tensor *x = c->in[0], *indices = c->in[1];
  int64_t dim[3 * GRAPH_RANK_MAX];
  int axis, rank = 0;
  if (!is_index(indices)) return graph_call_fail(c, "its indices have to be i32 or i64");
  if (!axis_of(c, x->rank, &axis)) return false;
  for (int d = 0; d < axis; d++) dim[rank++] = x->dim[d];
  for (int d = 0; d < indices->rank; d++) dim[rank++] = indices->dim[d];
  for (int d = axis + 1; d < x->rank; d++) dim[rank++] = x->dim[d];
  return graph_call_result(c, 0, x->type, rank, dim);
}

bool graph_run_gather(graph_call *c) {
  const graph_tensor *x = c->in[0], *indices = c->in[1];
  int axis;
  if (!axis_of(c, x->rank, &axis)) return false;
  int64_t outer = graph_product(x->dim, 0, axis), inner = graph_product(x->dim, axis + 1, x->rank);
  int64_t count = graph_elements(indices), size = x->dim[axis];
  for (int64_t i = 0; i < count; i++) {
    int64_t index = index_at(c, indices, i, size);
    if (index < 0) return false;
    for (int64_t o = 0; o < outer; o++)
      graph_copy(c->to[0], (o * count + i) * inner, 1, x->data, (o * size + index) * inner, 1, inner,
                 graph_type_bytes(x->type));
  }
  return true;
}

// ---- one index per element: in all dimensions but the axis the element stays

static bool check_elements(graph_call *c, int *axis) {
  const graph_tensor *x = c->in[0], *indices = c->in[1];
  if (!is_index(indices) || indices->rank != x->rank)
    return graph_call_fail(c, "its indices have to be integers of as many dimensions as its data");
  if (!axis_of(c, x->rank, axis)) return false;
  for (int d = 0; d < x->rank; d++)
    if (d != *axis && indices->dim[d] > x->dim[d])
      return graph_call_fail(c, "dimension %d of its indices is too large", d);
  return true;
}

bool graph_infer_gather_elements(graph_call *c) {
  int axis;
  return check_elements(c, &axis) && graph_call_result(c, 0, c->in[0]->type, c->in[1]->rank, c->in[1]->dim);
}

// Walks over the indices: `small` is where the index stands, `large` the element that it names.
typedef struct element_walk {
  int axis;
  int64_t steps[GRAPH_RANK_MAX], index[GRAPH_RANK_MAX];
} element_walk;

static int64_t named_element(graph_call *c, element_walk *w, int64_t small) {
  const graph_tensor *x = c->in[0], *indices = c->in[1];
  int64_t at = 0, named = index_at(c, indices, small, x->dim[w->axis]);
  if (named < 0) return -1;
  for (int d = 0; d < x->rank; d++) at += (d == w->axis ? named : w->index[d]) * w->steps[d];
  for (int d = x->rank - 1; d >= 0 && ++w->index[d] == indices->dim[d]; d--) w->index[d] = 0;
  return at;
}

bool graph_run_gather_elements(graph_call *c) {
  const graph_tensor *x = c->in[0];
  element_walk w = {0};
  if (!check_elements(c, &w.axis)) return false;
  graph_steps(x->rank, x->dim, w.steps);
  for (int64_t i = 0, n = graph_elements(c->in[1]); i < n; i++) {
    int64_t at = named_element(c, &w, i);
    if (at < 0) return false;
    graph_copy(c->to[0], i, 1, x->data, at, 1, 1, graph_type_bytes(x->type));
  }
  return true;
}

// How an update joins what is there.
static bool check_reduction(graph_call *c) {
  const char *how = graph_text(c->node, "reduction", "none");
  if (strcmp(how, "none") != 0 && strcmp(how, "add") != 0 && strcmp(how, "mul") != 0)
    return graph_call_fail(c, "its reduction '%s' is unknown", how);
  if (c->in[2]->type != c->in[0]->type) return graph_call_fail(c, "its updates have another type than its data");
  return strcmp(how, "none") == 0 || c->in[0]->type != GRAPH_BOOL || graph_call_fail(c, "it cannot reduce bool");
}

static void update(graph_call *c, int64_t to, int64_t from) {
  graph_type type = c->in[0]->type;
  char how = graph_text(c->node, "reduction", "none")[0];
  if (how == 'n') {
    graph_copy(c->to[0], to, 1, c->in[2]->data, from, 1, 1, graph_type_bytes(type));
  } else if (graph_is_real(type)) {
    double old = graph_real_at(type, c->to[0], (size_t)to), new = graph_real_at(type, c->in[2]->data, (size_t)from);
    graph_put_real(type, c->to[0], (size_t)to, how == 'a' ? old + new : old *new);
  } else {
    uint64_t old = (uint64_t)graph_int_at(type, c->to[0], (size_t)to);
    uint64_t new = (uint64_t)graph_int_at(type, c->in[2]->data, (size_t)from);
    graph_put_int(type, c->to[0], (size_t)to, (int64_t)(how == 'a' ? old + new : old *new));
  }
}

bool graph_infer_scatter_elements(graph_call *c) {
  int axis;
  if (!check_reduction(c) || !check_elements(c, &axis)) return false;
  if (!graph_same_shape(c->in[1], c->in[2])) return graph_call_fail(c, "it needs an update for each index");
  return graph_call_like(c, 0, 0);
}

bool graph_run_scatter_elements(graph_call *c) {
  const graph_tensor *x = c->in[0];
  element_walk w = {0};
  if (!check_elements(c, &w.axis)) return false;
  memcpy(c->to[0], x->data, graph_bytes(x));
  graph_steps(x->rank, x->dim, w.steps);
  for (int64_t i = 0, n = graph_elements(c->in[1]); i < n; i++) {
    int64_t at = named_element(c, &w, i);
    if (at < 0) return false;
    update(c, at, i);
  }
  return true;
}

// ---- the last dimension of the indices is a place in the data

static bool check_nd(graph_call *c, int batch, int *depth) {
  const graph_tensor *x = c->in[0], *indices = c->in[1];
  if (!is_index(indices) || indices->rank < 1 || batch < 0 || batch >= indices->rank || batch > x->rank)
    return graph_call_fail(c, "its indices have to be integers of at least one dimension");
  for (int d = 0; d < batch; d++)
    if (x->dim[d] != indices->dim[d]) return graph_call_fail(c, "its batch dimensions differ");
  int64_t length = indices->dim[indices->rank - 1];
  if (length > x->rank - batch) return graph_call_fail(c, "its indices have %" PRId64 " coordinates", length);
  *depth = (int)length;
  return true;
}

// The element where index `i` of the `depth` dimensions behind the batch begins.
static int64_t place(graph_call *c, int64_t i, int batch, int depth) {
  const graph_tensor *x = c->in[0], *indices = c->in[1];
  int64_t steps[GRAPH_RANK_MAX], at = 0;
  graph_steps(x->rank, x->dim, steps);
  for (int d = 0; d < depth; d++) {
    int64_t index = index_at(c, indices, i * depth + d, x->dim[batch + d]);
    if (index < 0) return -1;
    at += index * steps[batch + d];
  }
  int64_t per_batch = graph_product(indices->dim, batch, indices->rank - 1);
  return at + i / per_batch * graph_product(x->dim, batch, x->rank);
}

bool graph_infer_gather_nd(graph_call *c) {
  const graph_tensor *x = c->in[0], *indices = c->in[1];
  int batch = (int)graph_int(c->node, "batch_dims", 0), depth, rank = indices->rank - 1;
  int64_t dim[2 * GRAPH_RANK_MAX];
  if (!check_nd(c, batch, &depth)) return false;
  memcpy(dim, indices->dim, sizeof indices->dim);
  for (int d = batch + depth; d < x->rank; d++) dim[rank++] = x->dim[d];
  return graph_call_result(c, 0, x->type, rank, dim);
}

bool graph_run_gather_nd(graph_call *c) {
  const graph_tensor *x = c->in[0], *indices = c->in[1];
  int batch = (int)graph_int(c->node, "batch_dims", 0), depth;
  if (!check_nd(c, batch, &depth)) return false;
  int64_t inner = graph_product(x->dim, batch + depth, x->rank);
  for (int64_t i = 0, n = graph_product(indices->dim, 0, indices->rank - 1); i < n; i++) {
    int64_t at = place(c, i, batch, depth);
    if (at < 0) return false;
    graph_copy(c->to[0], i * inner, 1, x->data, at, 1, inner, graph_type_bytes(x->type));
  }
  return true;
}

bool graph_infer_scatter_nd(graph_call *c) {
  const graph_tensor *x = c->in[0], *indices = c->in[1];
  int depth;
  if (!check_reduction(c) || !check_nd(c, 0, &depth)) return false;
  graph_tensor expected = {.rank = indices->rank - 1 + x->rank - depth};
  if (expected.rank > GRAPH_RANK_MAX) return graph_call_fail(c, "its updates have %d dimensions", expected.rank);
  memcpy(expected.dim, indices->dim, sizeof expected.dim);
  for (int d = depth; d < x->rank; d++) expected.dim[indices->rank - 1 + d - depth] = x->dim[d];
  if (!graph_same_shape(&expected, c->in[2])) return graph_call_fail(c, "its updates have a wrong shape");
  return graph_call_like(c, 0, 0);
}

bool graph_run_scatter_nd(graph_call *c) {
  const graph_tensor *x = c->in[0], *indices = c->in[1];
  int depth;
  if (!check_nd(c, 0, &depth)) return false;
  memcpy(c->to[0], x->data, graph_bytes(x));
  int64_t inner = graph_product(x->dim, depth, x->rank);
  for (int64_t i = 0, n = graph_product(indices->dim, 0, indices->rank - 1); i < n; i++) {
    int64_t at = place(c, i, 0, depth);
    if (at < 0) return false;
    for (int64_t e = 0; e < inner; e++) update(c, at + e, i * inner + e);
  }
  return true;
}
