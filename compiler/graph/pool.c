// SPDX-License-Identifier: Apache-2.0
// Pooling over windows and over whole images, channels first. Sums are made in binary64.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/graph/call.h"
#include "compiler/graph/element.h"
#include "compiler/graph/window.h"

static bool find_window(graph_call *c, graph_window *w) {
  const graph_tensor *x = c->in[0];
  int64_t kernel[GRAPH_AXES];
  int count = graph_ints(c->node, "kernel_shape", kernel, GRAPH_AXES);
  if (x->rank < 3 || count != x->rank - 2) return graph_call_fail(c, "its kernel_shape does not fit its images");
  return graph_window_find(c, w, count, &x->dim[2], kernel);
}

bool graph_infer_pool(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t dim[GRAPH_RANK_MAX] = {x->dim[0], x->dim[1]};
  graph_window w;
  if (!find_window(c, &w)) return false;
  for (int d = 0; d < w.rank; d++) dim[2 + d] = w.out[GRAPH_AXES - w.rank + d];
  return graph_call_result(c, 0, x->type, x->rank, dim) && graph_call_result(c, 1, GRAPH_I64, x->rank, dim);
}

typedef struct pooled {
  double sum, most;
  int64_t where, count;  // where in the image; -1: nowhere
} pooled;

static void pool_element(const graph_tensor *x, size_t at, int64_t where, double power, pooled *p) {
  double value = graph_real_at(x->type, x->data, at);
  if (value > p->most || p->where < 0 || isnan(value)) p->most = value, p->where = where;
  p->sum += power == 0 ? value : pow(fabs(value), power);
  p->count++;
}

// The window of one pixel of the result; `base` is where the image begins.
static pooled pool_window(const graph_window *w, const graph_tensor *x, int64_t base, const int64_t out[GRAPH_AXES],
                          double power) {
  pooled p = {.where = -1};
  int64_t from[GRAPH_AXES], to[GRAPH_AXES];
  for (int d = 0; d < GRAPH_AXES; d++) graph_window_inside(w, d, out[d], 0, w->in[d], &from[d], &to[d]);
  for (int64_t a = from[0]; a < to[0]; a++)
    for (int64_t b = from[1]; b < to[1]; b++) {
      int64_t row = graph_window_source(w, 0, out[0], a) * w->in[1] + graph_window_source(w, 1, out[1], b);
      for (int64_t e = from[2]; e < to[2]; e++) {
        int64_t where = row * w->in[2] + graph_window_source(w, 2, out[2], e);
        pool_element(x, (size_t)(base + where), where, power, &p);
      }
    }
  return p;
}

// Elements of a window that an average divides by when padding counts: without what ceil_mode adds behind it.
static int64_t padded_count(const graph_window *w, const int64_t out[GRAPH_AXES]) {
  int64_t count = 1, from, to;
  for (int d = 0; d < GRAPH_AXES; d++) {
    graph_window_inside(w, d, out[d], -w->before[d], w->in[d] + w->after[d], &from, &to);
    count *= to - from;
  }
  return count;
}

// Index of the maximum in the whole tensor; column-major counts the rows of an image first.
static int64_t argument(const graph_window *w, int64_t base, int64_t where, bool column_major) {
  if (where < 0) return base;
  if (!column_major) return base + where;
  int64_t d = where / w->in[2] / w->in[1], h = where / w->in[2] % w->in[1], v = where % w->in[2];
  return base + d * w->in[1] * w->in[2] + v * w->in[1] + h;
}

static double pool_value(graph_call *c, const graph_window *w, const pooled *p, const int64_t out[GRAPH_AXES],
                         double power) {
  if (c->node->op == GRAPH_OP_MAX_POOL) return p->where < 0 ? -INFINITY : p->most;
  if (c->node->op == GRAPH_OP_LP_POOL) return pow(p->sum, 1 / power);
  int64_t count = graph_int(c->node, "count_include_pad", 0) != 0 ? padded_count(w, out) : p->count;
  return count == 0 ? 0 : p->sum / (double)count;
}

bool graph_run_pool(graph_call *c) {
  const graph_tensor *x = c->in[0];
  graph_window w;
  if (!find_window(c, &w)) return false;
  bool column_major = graph_int(c->node, "storage_order", 0) != 0;
  double power = c->node->op == GRAPH_OP_LP_POOL ? (double)graph_int(c->node, "p", 2) : 0;
  int64_t image = graph_product(w.in, 0, GRAPH_AXES), to = 0;
  for (int64_t n = 0; n < x->dim[0] * x->dim[1]; n++)
    for (int64_t i = 0, pixels = graph_window_pixels(&w); i < pixels; i++, to++) {
      int64_t out[GRAPH_AXES] = {i / w.out[2] / w.out[1], i / w.out[2] % w.out[1], i % w.out[2]};
      pooled p = pool_window(&w, x, n * image, out, power);
      if (c->to[0] != NULL) graph_put_real(c->out[0]->type, c->to[0], (size_t)to, pool_value(c, &w, &p, out, power));
      if (c->to[1] != NULL) ((int64_t *)c->to[1])[to] = argument(&w, n * image, p.where, column_major);
    }
  return true;
}

// ---- whole images

bool graph_infer_global_pool(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t dim[GRAPH_RANK_MAX];
  if (x->rank < 3) return graph_call_fail(c, "it takes images");
  for (int d = 0; d < x->rank; d++) dim[d] = d < 2 ? x->dim[d] : 1;
  return graph_call_result(c, 0, x->type, x->rank, dim);
}

bool graph_run_global_pool(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t image = graph_product(x->dim, 2, x->rank), planes = x->dim[0] * x->dim[1];
  double power = c->node->op == GRAPH_OP_GLOBAL_LP_POOL ? (double)graph_int(c->node, "p", 2) : 0;
  for (int64_t n = 0; n < planes; n++) {
    pooled p = {.where = -1, .most = -INFINITY};
    for (int64_t i = 0; i < image; i++) pool_element(x, (size_t)(n * image + i), i, power, &p);
    double value = c->node->op == GRAPH_OP_GLOBAL_MAX_POOL ? p.most
                   : power != 0                            ? pow(p.sum, 1 / power)
                                                           : p.sum / (double)image;
    graph_put_real(x->type, c->to[0], (size_t)n, value);
  }
  return true;
}

// ---- MaxUnpool: the inverse, with the places that MaxPool gave

static bool check_unpool(graph_call *c, int64_t *dim) {
  const graph_tensor *x = c->in[0];
  int64_t kernel[GRAPH_AXES], stride[GRAPH_AXES], pads[2 * GRAPH_AXES] = {0};
  int rank = x->rank - 2, count = graph_ints(c->node, "kernel_shape", kernel, GRAPH_AXES);
  if (rank < 1 || count != rank) return graph_call_fail(c, "its kernel_shape does not fit its images");
  if (!graph_window_list(c, "strides", rank, 1, 1, stride)) return false;
  count = graph_ints(c->node, "pads", pads, 2 * GRAPH_AXES);
  if (count != 0 && count != 2 * rank) return graph_call_fail(c, "its pads do not fit its images");
  dim[0] = x->dim[0];
  dim[1] = x->dim[1];
  for (int d = 0; d < rank; d++) {
    int64_t by = stride[GRAPH_AXES - rank + d], before = pads[d], after = pads[rank + d];
    if (kernel[d] < 0 || kernel[d] > INT32_MAX || before < 0 || before > INT32_MAX || after < 0 || after > INT32_MAX ||
        x->dim[2 + d] > INT32_MAX || by > INT32_MAX)
      return graph_call_fail(c, "its window is impossible");
    dim[2 + d] = (x->dim[2 + d] - 1) * by + kernel[d] - before - after;
    if (dim[2 + d] < 1) return graph_call_fail(c, "its window is impossible");
  }
  return true;
}

bool graph_infer_max_unpool(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t dim[GRAPH_RANK_MAX], given[GRAPH_RANK_MAX];
  if (c->in[1]->type != GRAPH_I64 || !graph_same_shape(x, c->in[1]))
    return graph_call_fail(c, "it needs an index for each element");
  if (!check_unpool(c, dim)) return false;
  if (c->in[2] == NULL) return graph_call_result(c, 0, x->type, x->rank, dim);
  int count = graph_call_values(c, 2, given, GRAPH_RANK_MAX);
  if (count < 0) return false;
  bool fits = count == x->rank;
  for (int d = 0; d < x->rank && fits; d++) fits = given[d] >= dim[d];
  return fits ? graph_call_result(c, 0, x->type, x->rank, given) : graph_call_fail(c, "its output_shape is too small");
}

// Indices count in the tensor that was pooled; output_shape may make the result larger.
bool graph_run_max_unpool(graph_call *c) {
  const graph_tensor *x = c->in[0], *y = c->out[0];
  const int64_t *places = c->in[1]->data;
  int64_t dim[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX];
  if (!check_unpool(c, dim)) return false;
  int64_t elements = graph_product(dim, 0, y->rank);
  memset(c->to[0], 0, graph_bytes(y));
  graph_steps(y->rank, y->dim, steps);
  for (int64_t i = 0, n = graph_elements(x); i < n; i++) {
    int64_t left = places[i], to = 0;
    if (left < 0 || left >= elements) return graph_call_fail(c, "index %" PRId64 " is outside", places[i]);
    for (int d = y->rank - 1; d >= 0; left /= dim[d], d--) to += left % dim[d] * steps[d];
    graph_copy(c->to[0], to, 1, x->data, i, 1, 1, graph_type_bytes(y->type));
  }
  return true;
}
