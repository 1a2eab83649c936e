// SPDX-License-Identifier: Apache-2.0
// Gathers along one dimension. Constant indices are cut into runs with a constant step: each run is a copy between
// strided views, and a run whose elements lie one behind the other in memory already is no copy at all. The hart does
// what is left: indices that are computed, and too many runs.
#include "compiler/network/private.h"

enum { RUNS_MAX = 64 };

typedef struct gather {
  network_lower_view x, y;  // of one rank: the dimensions of the indices are one
  int axis;
  const graph_tensor *indices;
} gather;

static int64_t index_at(const gather *g, int64_t i) {
  const int64_t value =
      g->indices->type == GRAPH_I64 ? ((const int64_t *)g->indices->data)[i] : ((const int32_t *)g->indices->data)[i];
  return value < 0 ? value + g->x.dim[g->axis] : value;
}

// Places from `from` on with a constant step, which is not backwards.
static int64_t run_from(const gather *g, int64_t from, int64_t *step) {
  const int64_t count = g->y.dim[g->axis];
  int64_t end = from + 1;
  *step = end < count ? index_at(g, end) - index_at(g, from) : 1;
  if (*step < 0) *step = 1;
  while (end < count && index_at(g, end) - index_at(g, end - 1) == *step) end++;
  return end - from;
}

static bool is_few_runs(const gather *g) {
  int runs = 0;
  for (int64_t i = 0, step; i < g->y.dim[g->axis] && runs <= RUNS_MAX; runs++) {
    if (index_at(g, i) < 0 || index_at(g, i) >= g->x.dim[g->axis]) return false;
    i += run_from(g, i, &step);
  }
  return runs <= RUNS_MAX;
}

static network_lower_view part_of(const network_lower_view *view, int axis, int64_t from, int64_t count, int64_t step) {
  network_lower_view part = *view;
  part.place.offset += (uint64_t)(from * part.step[axis]);
  part.dim[axis] = count;
  part.step[axis] *= step;
  return part;
}

bool network_lower_is_dense(const network_lower_view *view) {
  int64_t step = view->element_bytes;
  for (int d = view->rank; d-- > 0; step *= view->dim[d])
    if (view->dim[d] > 1 && view->step[d] != step) return false;
  return true;
}

static bool by_copies(network_lowering *l, gather *g) {
  const int64_t count = g->y.dim[g->axis];
  int64_t step, run = run_from(g, 0, &step);
  network_lower_view from = part_of(&g->x, g->axis, index_at(g, 0), run, step);
  if (run == count && network_lower_is_dense(&from)) return network_lower_part(l, 0, from.place);
  g->y.place = network_lower_result(l, 0);
  for (int64_t i = 0; i < count; i += run) {
    run = run_from(g, i, &step);
    from = part_of(&g->x, g->axis, index_at(g, i), run, step);
    const network_lower_view to = part_of(&g->y, g->axis, i, run, 1);
    network_lower_copy(l, &to, &from);
  }
  return true;
}

// The result with the dimensions of the input but for `axis`, where there are as many places as indices.
static gather gather_of(network_lowering *l, const network_lower_view *x, int axis) {
  gather g = {.x = *x, .axis = axis, .indices = network_lower_input(l, 1)};
  int64_t dim[WEFT_HOST_RANK];
  for (int d = 0; d < x->rank; d++) dim[d] = d == axis ? graph_elements(g.indices) : x->dim[d];
  g.y = network_lower_view_at(x->place, x->type, x->rank, dim);  // its place is set when it is known to have one
  return g;
}

// Dimensions of the result: those of x before the axis, those of the indices, those of x behind it.
static bool by_hart(network_lowering *l, const network_lower_view *x, int axis) {
  network_lower_view index, y;
  if (!network_lower_view_of(l, l->node->inputs[1], &index) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_GATHER);
  network_lower_view data = y, at = y;
  data.place = x->place, at.place = index.place;
  at.type = index.type, at.element_bytes = index.element_bytes;
  for (int d = 0; d < y.rank; d++) {
    const bool of_index = d >= axis && d < axis + index.rank;
    data.step[d] = of_index ? 0 : x->step[d < axis ? d : d - index.rank + 1];
    at.step[d] = of_index ? index.step[d - axis] : 0;
  }
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &data);
  network_lower_set(call, 2, &at);
  call->call.integer[0] = x->dim[axis];
  call->call.integer[1] = x->step[axis];
  network_lower_squeeze(call);
  return true;
}

static bool is_constant(const graph_tensor *indices) {
  return indices->data != NULL && (indices->type == GRAPH_I64 || indices->type == GRAPH_I32);
}

bool network_lower_gather(network_lowering *l) {
  network_lower_view x;
  if (!network_lower_view_of(l, l->node->inputs[0], &x)) return false;
  int64_t axis = graph_int(l->node, "axis", 0);
  if (axis < 0) axis += x.rank;
  gather g = gather_of(l, &x, (int)axis);
  if (is_constant(g.indices) && graph_elements(network_lower_output(l, 0)) > 0 && is_few_runs(&g))
    return by_copies(l, &g);
  return by_hart(l, &x, (int)axis);
}
