// SPDX-License-Identifier: Apache-2.0
// Operators along axes: reductions, ArgMax and ArgMin, CumSum, TopK, Softmax and its kin. Sums of real numbers are made
// in binary64.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

// ---- the axes of a reduction: an attribute, for ReduceSum input 1

static bool reduced_axes(graph_call *c, uint32_t *set) {
  int64_t axes[GRAPH_RANK_MAX];
  int rank = c->in[0]->rank, count = graph_ints(c->node, "axes", axes, GRAPH_RANK_MAX), axis;
  if (c->in[1] != NULL) count = graph_call_values(c, 1, axes, GRAPH_RANK_MAX);
  if (count < 0) return false;
  if (count > GRAPH_RANK_MAX) return graph_call_fail(c, "it has %d axes", count);
  *set = count == 0 && graph_int(c->node, "noop_with_empty_axes", 0) == 0 ? (1u << rank) - 1 : 0;
  for (int i = 0; i < count; i++) {
    if (!graph_call_axis(c, axes[i], rank, &axis)) return false;
    *set |= 1u << axis;
  }
  return true;
}

bool graph_infer_reduce(graph_call *c) {
  const graph_tensor *x = c->in[0];
  bool keep = graph_int(c->node, "keepdims", 1) != 0;
  int64_t dim[GRAPH_RANK_MAX];
  int rank = 0;
  uint32_t set;
  if (!reduced_axes(c, &set)) return false;
  for (int d = 0; d < x->rank; d++) {
    if ((set >> d & 1) == 0)
      dim[rank++] = x->dim[d];
    else if (keep)
      dim[rank++] = 1;
  }
  return graph_call_result(c, 0, x->type, rank, dim);
}

typedef struct total {
  double real;
  int64_t integer;
} total;

static total first(graph_op op) {
  switch (op) {
    case GRAPH_OP_REDUCE_MAX:
      return (total){-INFINITY, INT64_MIN};
    case GRAPH_OP_REDUCE_MIN:
      return (total){INFINITY, INT64_MAX};
    case GRAPH_OP_REDUCE_PROD:
      return (total){1, 1};
    default:
      return (total){0, 0};
  }
}

static void join_real(graph_op op, total *t, double x) {
  switch (op) {
    case GRAPH_OP_REDUCE_MAX:
      t->real = x > t->real || isnan(x) ? x : t->real;
      break;
    case GRAPH_OP_REDUCE_MIN:
      t->real = x < t->real || isnan(x) ? x : t->real;
      break;
    case GRAPH_OP_REDUCE_PROD:
      t->real *= x;
      break;
    case GRAPH_OP_REDUCE_L1:
      t->real += fabs(x);
      break;
    case GRAPH_OP_REDUCE_L2:
    case GRAPH_OP_REDUCE_SUM_SQUARE:
      t->real += x * x;
      break;
    case GRAPH_OP_REDUCE_LOG_SUM_EXP:
      t->real += exp(x);
      break;
    default:
      t->real += x;
  }
}

static void join_integer(graph_op op, total *t, int64_t x) {
  uint64_t value = (uint64_t)x;
  switch (op) {
    case GRAPH_OP_REDUCE_MAX:
      t->integer = x > t->integer ? x : t->integer;
      break;
    case GRAPH_OP_REDUCE_MIN:
      t->integer = x < t->integer ? x : t->integer;
      break;
    case GRAPH_OP_REDUCE_PROD:
      t->integer = (int64_t)((uint64_t)t->integer * value);
      break;
    case GRAPH_OP_REDUCE_L1:
      t->integer = (int64_t)((uint64_t)t->integer + (x < 0 ? -value : value));
      break;
    case GRAPH_OP_REDUCE_SUM_SQUARE:
      t->integer = (int64_t)((uint64_t)t->integer + value * value);
      break;
    default:
      t->integer = (int64_t)((uint64_t)t->integer + value);
  }
}

static double finish(graph_op op, double value, double count) {
  switch (op) {
    case GRAPH_OP_REDUCE_MEAN:
      return value / count;
    case GRAPH_OP_REDUCE_L2:
      return sqrt(value);
    case GRAPH_OP_REDUCE_LOG_SUM:
    case GRAPH_OP_REDUCE_LOG_SUM_EXP:
      return log(value);
    default:
      return value;
  }
}

// Whether integers go through real numbers: means and roots do.
static bool in_reals(graph_op op, graph_type type) {
  return graph_is_real(type) || op == GRAPH_OP_REDUCE_MEAN || op == GRAPH_OP_REDUCE_L2 ||
         op == GRAPH_OP_REDUCE_LOG_SUM || op == GRAPH_OP_REDUCE_LOG_SUM_EXP;
}

// All elements of x that one element of the result sums up; `at` is the first of them.
static total reduce_one(graph_op op, const graph_tensor *x, bool real, graph_rows r, int64_t at) {
  total t = first(op);
  while (graph_rows_next(&r))
    for (int64_t i = 0; i < r.length; i++) {
      size_t from = (size_t)(at + r.at[0] + i * r.by[0]);
      if (real)
        join_real(op, &t, graph_real_at(x->type, x->data, from));
      else
        join_integer(op, &t, graph_int_at(x->type, x->data, from));
    }
  return t;
}

bool graph_run_reduce(graph_call *c) {
  const graph_tensor *x = c->in[0];
  graph_op op = c->node->op;
  bool real = in_reals(op, x->type);
  int64_t steps[GRAPH_RANK_MAX], kept_dim[GRAPH_RANK_MAX], gone_dim[GRAPH_RANK_MAX], to = 0;
  uint32_t set;
  if (!reduced_axes(c, &set)) return false;
  for (int d = 0; d < x->rank; d++) {
    bool gone = (set >> d & 1) != 0;
    kept_dim[d] = gone ? 1 : x->dim[d];
    gone_dim[d] = gone ? x->dim[d] : 1;
  }
  graph_steps(x->rank, x->dim, steps);
  double count = (double)graph_product(gone_dim, 0, x->rank);
  graph_rows kept, gone;
  graph_rows_start(&kept, x->rank, kept_dim, 1, (const int64_t *[]){steps});
  graph_rows_start(&gone, x->rank, gone_dim, 1, (const int64_t *[]){steps});
  while (graph_rows_next(&kept)) {
    for (int64_t i = 0; i < kept.length; i++, to++) {
      total t = reduce_one(op, x, real, gone, kept.at[0] + i * kept.by[0]);
      if (real)
        graph_put_real(x->type, c->to[0], (size_t)to, finish(op, t.real, count));
      else
        graph_put_int(x->type, c->to[0], (size_t)to, t.integer);
    }
  }
  return true;
}

// ---- along one axis: outer x size x inner

typedef struct line {
  int axis;
  int64_t outer, size, inner;
} line;

static bool find_line(graph_call *c, int64_t axis_default, line *l) {
  const graph_tensor *x = c->in[0];
  if (!graph_call_axis(c, graph_int(c->node, "axis", axis_default), x->rank, &l->axis)) return false;
  l->outer = graph_product(x->dim, 0, l->axis);
  l->size = x->dim[l->axis];
  l->inner = graph_product(x->dim, l->axis + 1, x->rank);
  return true;
}

bool graph_infer_arg(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t dim[GRAPH_RANK_MAX];
  line l;
  int rank = 0;
  if (!find_line(c, 0, &l)) return false;
  if (l.size == 0) return graph_call_fail(c, "there is no largest of no elements");
  bool keep = graph_int(c->node, "keepdims", 1) != 0;
  for (int d = 0; d < x->rank; d++)
    if (d != l.axis || keep) dim[rank++] = d == l.axis ? 1 : x->dim[d];
  return graph_call_result(c, 0, GRAPH_I64, rank, dim);
}

// -1, 0, 1: order of two elements of a tensor.
static int compare(const graph_tensor *x, int64_t a, int64_t b) {
  if (graph_is_real(x->type)) {
    double p = graph_real_at(x->type, x->data, (size_t)a), q = graph_real_at(x->type, x->data, (size_t)b);
    return (p > q) - (p < q);
  }
  int64_t p = graph_int_at(x->type, x->data, (size_t)a), q = graph_int_at(x->type, x->data, (size_t)b);
  if (x->type == GRAPH_U64) return ((uint64_t)p > (uint64_t)q) - ((uint64_t)p < (uint64_t)q);
  return (p > q) - (p < q);
}

bool graph_run_arg(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int sign = c->node->op == GRAPH_OP_ARG_MAX ? 1 : -1;
  bool last = graph_int(c->node, "select_last_index", 0) != 0;
  int64_t *y = c->to[0];
  line l;
  if (!find_line(c, 0, &l)) return false;
  for (int64_t o = 0; o < l.outer; o++)
    for (int64_t i = 0; i < l.inner; i++) {
      int64_t best = 0, at = o * l.size * l.inner + i;
      for (int64_t k = 1; k < l.size; k++) {
        int order = sign * compare(x, at + k * l.inner, at + best * l.inner);
        if (order > 0 || (order == 0 && last)) best = k;
      }
      y[o * l.inner + i] = best;
    }
  return true;
}

bool graph_infer_cum_sum(graph_call *c) {
  int64_t axis;
  int ignored;
  if (!graph_is_constant(c->in[1]) || graph_elements(c->in[1]) != 1)
    return graph_call_fail(c, "its axis has to be one constant number");
  axis = graph_int_at(c->in[1]->type, c->in[1]->data, 0);
  return graph_call_axis(c, axis, c->in[0]->rank, &ignored) && graph_call_like(c, 0, 0);
}

bool graph_run_cum_sum(graph_call *c) {
  const graph_tensor *x = c->in[0];
  bool exclusive = graph_int(c->node, "exclusive", 0) != 0, reverse = graph_int(c->node, "reverse", 0) != 0;
  int axis;
  if (!graph_call_axis(c, graph_int_at(c->in[1]->type, c->in[1]->data, 0), x->rank, &axis)) return false;
  int64_t size = x->dim[axis], inner = graph_product(x->dim, axis + 1, x->rank);
  int64_t lines = size == 0 ? 0 : graph_elements(x) / size;
  for (int64_t l = 0; l < lines; l++) {
    int64_t at = l / inner * size * inner + l % inner;
    double real = 0;
    uint64_t integer = 0;
    for (int64_t k = 0; k < size; k++) {
      size_t e = (size_t)(at + (reverse ? size - 1 - k : k) * inner);
      double r = graph_real_at(x->type, x->data, e);
      uint64_t i = (uint64_t)graph_int_at(x->type, x->data, e);
      if (graph_is_real(x->type))
        graph_put_real(x->type, c->to[0], e, exclusive ? real : real + r);
      else
        graph_put_int(x->type, c->to[0], e, (int64_t)(exclusive ? integer : integer + i));
      real += r;
      integer += i;
    }
  }
  return true;
}

// ---- TopK

bool graph_infer_top_k(graph_call *c) {
  int64_t dim[GRAPH_RANK_MAX], k;
  line l;
  if (graph_call_values(c, 1, &k, 1) != 1) return graph_call_fail(c, "it needs one constant k");
  if (!find_line(c, -1, &l)) return false;
  if (k < 0 || k > l.size) return graph_call_fail(c, "k is %" PRId64 " of %" PRId64, k, l.size);
  memcpy(dim, c->in[0]->dim, sizeof dim);
  dim[l.axis] = k;
  return graph_call_result(c, 0, c->in[0]->type, c->in[0]->rank, dim) &&
         graph_call_result(c, 1, GRAPH_I64, c->in[0]->rank, dim);
}

typedef struct candidate {
  const graph_tensor *x;
  int64_t at, index;
  int sign;
} candidate;

static int better_first(const void *a, const void *b) {
  const candidate *p = a, *q = b;
  int order = p->sign * compare(p->x, q->at, p->at);
  return order != 0 ? order : (p->index > q->index) - (p->index < q->index);
}

bool graph_run_top_k(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int sign = graph_int(c->node, "largest", 1) != 0 ? 1 : -1;
  line l;
  if (!find_line(c, -1, &l)) return false;
  int64_t k = graph_int_at(c->in[1]->type, c->in[1]->data, 0);
  candidate *all = graph_call_scratch(c, l.size, sizeof all[0]);
  if (all == NULL) return false;
  for (int64_t o = 0; o < l.outer * l.inner; o++) {
    int64_t from = o / l.inner * l.size * l.inner + o % l.inner, to = o / l.inner * k * l.inner + o % l.inner;
    for (int64_t i = 0; i < l.size; i++) all[i] = (candidate){x, from + i * l.inner, i, sign};
    qsort(all, (size_t)l.size, sizeof all[0], better_first);
    for (int64_t i = 0; i < k; i++, to += l.inner) {
      if (c->to[0] != NULL) graph_copy(c->to[0], to, 1, x->data, all[i].at, 1, 1, graph_type_bytes(x->type));
      if (c->to[1] != NULL) ((int64_t *)c->to[1])[to] = all[i].index;
    }
  }
  wf_free(all);
  return true;
}

// ---- Softmax, LogSoftmax, Hardmax

bool graph_infer_softmax(graph_call *c) {
  line l;
  return find_line(c, -1, &l) && graph_call_like(c, 0, 0);
}

static void soften(graph_op op, double *x, int64_t n) {
  double most = -INFINITY, sum = 0;
  int64_t best = 0;
  for (int64_t i = 0; i < n; i++)
    if (x[i] > most) most = x[i], best = i;
  for (int64_t i = 0; i < n; i++) {
    x[i] = op == GRAPH_OP_HARDMAX ? (double)(i == best) : op == GRAPH_OP_SOFTMAX ? exp(x[i] - most) : x[i] - most;
    sum += op == GRAPH_OP_SOFTMAX ? x[i] : exp(x[i]);
  }
  for (int64_t i = 0; i < n && op == GRAPH_OP_SOFTMAX; i++) x[i] /= sum;
  double log_sum = log(sum);
  for (int64_t i = 0; i < n && op == GRAPH_OP_LOG_SOFTMAX; i++) x[i] -= log_sum;
}

bool graph_run_softmax(graph_call *c) {
  const graph_tensor *x = c->in[0];
  line l;
  if (!find_line(c, -1, &l)) return false;
  double *values = graph_call_scratch(c, l.size, sizeof values[0]);
  if (values == NULL) return false;
  for (int64_t o = 0; o < l.outer * l.inner; o++) {
    int64_t at = o / l.inner * l.size * l.inner + o % l.inner;
    graph_load_reals(x->type, x->data, at, l.inner, l.size, values);
    soften(c->node->op, values, l.size);
    for (int64_t i = 0; i < l.size; i++) graph_put_real(x->type, c->to[0], (size_t)(at + i * l.inner), values[i]);
  }
  wf_free(values);
  return true;
}
