// SPDX-License-Identifier: Apache-2.0
// Operators whose result is as large as their data says. They need constants: NonZero and Unique all of their input,
// Compress its condition.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
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

// ---- Unique: lines of which no two are the same, where each of them was first, where each line went, how many did

typedef struct line {
  const graph_tensor *x;
  const lines *all;
  int64_t place;
} line;

// NaN comes last, and all NaN are one.
static int compare_elements(const graph_tensor *x, int64_t a, int64_t b) {
  if (graph_is_real(x->type)) {
    const double p = graph_real_at(x->type, x->data, (size_t)a), q = graph_real_at(x->type, x->data, (size_t)b);
    return p < q ? -1 : p > q ? 1 : (isnan(p) != 0) - (isnan(q) != 0);
  }
  const int64_t top = x->type == GRAPH_U64 ? INT64_MIN : 0;
  const int64_t p = graph_int_at(x->type, x->data, (size_t)a) ^ top;
  const int64_t q = graph_int_at(x->type, x->data, (size_t)b) ^ top;
  return p < q ? -1 : p > q;
}

static int compare_lines(const line *a, const line *b) {
  const lines *l = a->all;
  int order = 0;
  for (int64_t o = 0; o < l->outer && order == 0; o++)
    for (int64_t i = 0; i < l->inner && order == 0; i++)
      order = compare_elements(a->x, (o * l->size + a->place) * l->inner + i, (o * l->size + b->place) * l->inner + i);
  return order;
}

static int by_value_and_place(const void *a, const void *b) {
  const line *p = a, *q = b;
  const int order = compare_lines(p, q);
  return order != 0 ? order : p->place < q->place ? -1 : p->place > q->place;
}

typedef struct kinds {
  lines l;
  int axis;
  line *sorted;
  int64_t *first, count;  // of each place, the first one with its values
} kinds;

static void close_kinds(const kinds *k) {
  wf_free(k->sorted);
  wf_free(k->first);
}

static void sort_kinds(const graph_tensor *x, kinds *k) {
  for (int64_t i = 0; i < k->l.size; i++) k->sorted[i] = (line){x, &k->l, i};
  qsort(k->sorted, (size_t)k->l.size, sizeof k->sorted[0], by_value_and_place);
  for (int64_t i = 0, first = 0; i < k->l.size; i++) {
    if (i == 0 || compare_lines(&k->sorted[i - 1], &k->sorted[i]) != 0) {
      first = k->sorted[i].place;
      k->count++;
    }
    k->first[k->sorted[i].place] = first;
  }
}

static bool open_kinds(graph_call *c, kinds *k) {
  *k = (kinds){0};
  if (!find_lines(c, &k->l, &k->axis)) return false;
  k->sorted = graph_call_scratch(c, k->l.size, sizeof k->sorted[0]);
  if (k->sorted != NULL) k->first = graph_call_scratch(c, k->l.size, sizeof k->first[0]);
  if (k->first != NULL) sort_kinds(c->in[0], k);
  if (k->first == NULL) close_kinds(k);
  return k->first != NULL;
}

bool graph_infer_unique(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t dim[GRAPH_RANK_MAX] = {0};
  kinds k;
  if (!graph_is_constant(x)) return graph_call_fail(c, "the size of its result depends on data");
  if (!open_kinds(c, &k)) return false;
  close_kinds(&k);
  for (int d = 0; d < x->rank; d++) dim[d] = x->dim[d];
  dim[k.axis < 0 ? 0 : k.axis] = k.count;
  return graph_call_result(c, 0, x->type, k.axis < 0 ? 1 : x->rank, dim) &&
         graph_call_result(c, 1, GRAPH_I64, 1, &k.count) && graph_call_result(c, 2, GRAPH_I64, 1, &k.l.size) &&
         graph_call_result(c, 3, GRAPH_I64, 1, &k.count);
}

static void put(graph_call *c, int output, int64_t at, int64_t value) {
  if (c->to[output] != NULL) ((int64_t *)c->to[output])[at] = value;
}

static void copy_line(graph_call *c, const kinds *k, int64_t to, int64_t from) {
  const lines *l = &k->l;
  for (int64_t o = 0; o < l->outer && c->to[0] != NULL; o++)
    graph_copy(c->to[0], (o * k->count + to) * l->inner, 1, c->in[0]->data, (o * l->size + from) * l->inner, 1,
               l->inner, graph_type_bytes(c->in[0]->type));
}

// Numbers the kinds, by value or by place; `sum` and `number` are of each first place.
static void number_kinds(graph_call *c, const kinds *k, int64_t *number, const int64_t *sum) {
  const bool sorted = graph_int(c->node, "sorted", 1) != 0;
  for (int64_t i = 0, n = 0; i < k->l.size; i++) {
    const int64_t place = sorted ? k->sorted[i].place : i;
    if (k->first[place] != place) continue;
    copy_line(c, k, n, place);
    put(c, 1, n, place);
    put(c, 3, n, sum[place]);
    number[place] = n++;
  }
}

bool graph_run_unique(graph_call *c) {
  kinds k;
  if (!open_kinds(c, &k)) return false;
  int64_t *number = WF_NEW_ARRAY((size_t)k.l.size + 1, int64_t), *sum = WF_NEW_ARRAY((size_t)k.l.size + 1, int64_t);
  for (int64_t i = 0; i < k.l.size; i++) sum[k.first[i]]++;
  number_kinds(c, &k, number, sum);
  for (int64_t i = 0; i < k.l.size; i++) put(c, 2, i, number[k.first[i]]);
  wf_free(number);
  wf_free(sum);
  close_kinds(&k);
  return true;
}
