// SPDX-License-Identifier: Apache-2.0
// What the hart has left of a softmax whose exponentials the array computes (docs/networks.md): QHeadroom, how far the
// rows are below 127, and QShare, rows of sums times a number divided by one sum per row.
#include <math.h>

#include "compiler/graph/convolution.h"

static int64_t last_dim(const graph_tensor *t) { return t->dim[t->rank - 1]; }

// One number per row of x.
static bool is_per_row(const graph_tensor *t, const graph_tensor *x) {
  return t->rank == x->rank && last_dim(t) == 1 && last_dim(x) > 0 &&
         graph_elements(t) == graph_elements(x) / last_dim(x);
}

// ---- QHeadroom

bool graph_infer_qheadroom(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t dims[GRAPH_RANK_MAX];
  if (x->rank == 0 || last_dim(x) < 1) return graph_call_fail(c, "it takes rows of int8");
  for (int i = 0; i < x->rank; i++) dims[i] = i + 1 < x->rank ? x->dim[i] : 1;
  return graph_call_result(c, 0, GRAPH_I8, x->rank, dims);
}

bool graph_run_qheadroom(graph_call *c) {
  const graph_tensor *x = c->in[0];
  const int64_t width = last_dim(x), rows = graph_elements(x) / width;
  const int8_t *row = x->data;
  for (int64_t r = 0; r < rows; r++, row += width) {
    int largest = INT8_MIN;
    for (int64_t i = 0; i < width; i++) largest = row[i] > largest ? row[i] : largest;
    ((int8_t *)c->to[0])[r] = (int8_t)((INT8_MAX - (largest | 1)) / 2);
  }
  return true;
}

// ---- QShare

bool graph_infer_qshare(graph_call *c) {
  if (c->in[0]->rank == 0 || c->in[1]->type != GRAPH_I32 || !is_per_row(c->in[1], c->in[0]))
    return graph_call_fail(c, "it takes rows of i32 and one i32 for each");
  return graph_call_result(c, 0, GRAPH_I8, c->in[0]->rank, c->in[0]->dim);
}

// As the array's stores do.
static int8_t nearest_byte(float value) {
  if (!(value < INT8_MAX)) return INT8_MAX;
  return (int8_t)(value < INT8_MIN ? INT8_MIN : rintf(value));
}

bool graph_run_qshare(graph_call *c) {
  const int64_t count = graph_elements(c->in[0]), width = last_dim(c->in[0]);
  const int32_t *x = c->in[0]->data, *sums = c->in[1]->data;
  const float scale = graph_float(c->node, "scale", 1);
  int8_t *y = c->to[0];
  for (int64_t i = 0; i < count; i++) {
    const int32_t sum = sums[i / width];
    y[i] = nearest_byte((sum == 0 ? 0 : scale / (float)sum) * (float)x[i]);
  }
  return true;
}
