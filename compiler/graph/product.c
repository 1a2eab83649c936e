// SPDX-License-Identifier: Apache-2.0
// Matrix products: MatMul with broadcasting, Gemm, MatMulInteger, QLinearMatMul. f32 and bytes go through kernels.h,
// other types through plain loops.
#include "compiler/graph/product.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/convolution.h"
#include "compiler/graph/kernels.h"

enum { FEW_ROWS = 16, TURNED_ROWS = 32 };

// ---- shapes: [.., m, k] times [.., k, n]; vectors are matrices of one row or column, which the result drops

bool graph_matrices_find(graph_call *c, graph_matrices *p, const graph_tensor *a, const graph_tensor *b, bool trans_a,
                         bool trans_b) {
  graph_tensor lead_a = *a, lead_b = *b;
  if (a->rank < 1 || b->rank < 1) return graph_call_fail(c, "it takes no scalars");
  *p = (graph_matrices){.drop_m = a->rank == 1, .drop_n = b->rank == 1};
  int64_t am = a->rank > 1 ? a->dim[a->rank - 2] : 1, ak = a->dim[a->rank - 1];
  int64_t bk = b->rank > 1 ? b->dim[b->rank - 2] : b->dim[0], bn = b->rank > 1 ? b->dim[b->rank - 1] : 1;
  p->m = trans_a ? ak : am;
  p->k = trans_a ? am : ak;
  p->n = trans_b ? bk : bn;
  int64_t k = trans_b ? bn : bk;
  if (p->k != k) return graph_call_fail(c, "its inner dimensions are %" PRId64 " and %" PRId64, p->k, k);
  p->a_row = trans_a ? 1 : ak;
  p->a_column = trans_a ? ak : 1;
  p->b_row = trans_b ? 1 : bn;
  p->b_column = trans_b ? bn : 1;
  lead_a.rank = a->rank > 2 ? a->rank - 2 : 0;
  lead_b.rank = b->rank > 2 ? b->rank - 2 : 0;
  if (!graph_broadcast(c, &p->rank, p->lead, &lead_a) || !graph_broadcast(c, &p->rank, p->lead, &lead_b)) return false;
  graph_broadcast_steps(&lead_a, p->rank, p->a_lead);
  graph_broadcast_steps(&lead_b, p->rank, p->b_lead);
  return true;
}

bool graph_matrices_result(graph_call *c, const graph_matrices *p, graph_type type) {
  int64_t dim[GRAPH_RANK_MAX + 2];
  int rank = p->rank;
  memcpy(dim, p->lead, sizeof p->lead);
  if (!p->drop_m) dim[rank++] = p->m;
  if (!p->drop_n) dim[rank++] = p->n;
  return graph_call_result(c, 0, type, rank, dim);
}

// Calls f for each matrix of the batch with where a, b (in matrices) begin.
static bool each_matrix(graph_call *c, const graph_matrices *p, const void *context,
                        bool (*f)(graph_call *c, const graph_matrices *p, const void *context, int64_t a, int64_t b,
                                  int64_t y)) {
  graph_rows r;
  int64_t y = 0;
  graph_rows_start(&r, p->rank, p->lead, 2, (const int64_t *[]){p->a_lead, p->b_lead});
  while (graph_rows_next(&r))
    for (int64_t i = 0; i < r.length; i++, y++)
      if (!f(c, p, context, (r.at[0] + i * r.by[0]) * p->m * p->k, (r.at[1] + i * r.by[1]) * p->k * p->n,
             y * p->m * p->n))
        return false;
  return true;
}

// ---- f32

static float *together(graph_call *c, const float *from, int64_t rows, int64_t columns, int64_t row, int64_t column) {
  float *to = graph_call_scratch(c, rows * columns, sizeof to[0]);
  for (int64_t i = 0; i < rows && to != NULL; i++)
    graph_copy(to, i * columns, 1, from, i * row, column, columns, sizeof to[0]);
  return to;
}

// Few rows of a with a transposed b: the transposed product, so that b is read where it is.
static bool product_turned(graph_call *c, const graph_matrices *p, const float *a, const float *b, float *y) {
  float *turned = together(c, a, p->k, p->m, p->a_column, p->a_row);
  float *result = graph_call_scratch(c, p->n * p->m, sizeof result[0]);
  bool ok = turned != NULL && result != NULL;
  if (ok) {
    memset(result, 0, (size_t)(p->n * p->m) * sizeof result[0]);
    graph_kernel_f32(p->n, p->m, p->k, b, p->b_column, turned, p->m, result, p->m);
    for (int64_t i = 0; i < p->m; i++) graph_copy(y, i * p->n, 1, result, i, p->m, p->n, sizeof y[0]);
  }
  wf_free(turned);
  wf_free(result);
  return ok;
}

static bool product_f32(graph_call *c, const graph_matrices *p, const float *a, const float *b, float *y) {
  if (p->b_row == 1 && p->b_column != 1 && p->m <= FEW_ROWS) return product_turned(c, p, a, b, y);
  float *a_copy = p->a_column == 1 ? NULL : together(c, a, p->m, p->k, p->a_row, p->a_column);
  float *b_copy = p->b_column == 1 ? NULL : together(c, b, p->k, p->n, p->b_row, p->b_column);
  bool ok = (p->a_column == 1 || a_copy != NULL) && (p->b_column == 1 || b_copy != NULL);
  if (ok)
    graph_kernel_f32(p->m, p->n, p->k, a_copy != NULL ? a_copy : a, a_copy != NULL ? p->k : p->a_row,
                     b_copy != NULL ? b_copy : b, b_copy != NULL ? p->n : p->b_row, y, p->n);
  wf_free(a_copy);
  wf_free(b_copy);
  return ok;
}

static bool matrix_f32(graph_call *c, const graph_matrices *p, const void *context, int64_t a, int64_t b, int64_t y) {
  (void)context;
  float *to = (float *)c->to[0] + y;
  memset(to, 0, (size_t)(p->m * p->n) * sizeof to[0]);
  return product_f32(c, p, (const float *)c->in[0]->data + a, (const float *)c->in[1]->data + b, to);
}

// Other types: sums in binary64 or 64 bits.
static bool matrix_plain(graph_call *c, const graph_matrices *p, const void *context, int64_t a, int64_t b, int64_t y) {
  (void)context;
  graph_type type = c->in[0]->type;
  const void *x = c->in[0]->data, *w = c->in[1]->data;
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      double real = 0;
      uint64_t integer = 0;
      for (int64_t k = 0; k < p->k; k++) {
        size_t from_a = (size_t)(a + i * p->a_row + k * p->a_column),
               from_b = (size_t)(b + k * p->b_row + j * p->b_column);
        if (graph_is_real(type))
          real += graph_real_at(type, x, from_a) * graph_real_at(type, w, from_b);
        else
          integer += (uint64_t)graph_int_at(type, x, from_a) * (uint64_t)graph_int_at(type, w, from_b);
      }
      size_t to = (size_t)(y + i * p->n + j);
      if (graph_is_real(type))
        graph_put_real(type, c->to[0], to, real);
      else
        graph_put_int(type, c->to[0], to, (int64_t)integer);
    }
  return true;
}

bool graph_infer_mat_mul(graph_call *c) {
  graph_matrices p;
  if (c->in[0]->type != c->in[1]->type) return graph_call_fail(c, "its inputs have different types");
  return graph_matrices_find(c, &p, c->in[0], c->in[1], false, false) && graph_matrices_result(c, &p, c->in[0]->type);
}

bool graph_run_mat_mul(graph_call *c) {
  graph_matrices p;
  return graph_matrices_find(c, &p, c->in[0], c->in[1], false, false) &&
         each_matrix(c, &p, NULL, c->in[0]->type == GRAPH_F32 ? matrix_f32 : matrix_plain);
}

// ---- Gemm: alpha * a * b + beta * c

static bool gemm_matrices(graph_call *c, graph_matrices *p) {
  if (c->in[0]->rank != 2 || c->in[1]->rank != 2) return graph_call_fail(c, "it takes matrices");
  return graph_matrices_find(c, p, c->in[0], c->in[1], graph_int(c->node, "transA", 0) != 0,
                             graph_int(c->node, "transB", 0) != 0);
}

bool graph_infer_gemm(graph_call *c) {
  graph_matrices p;
  if (c->in[0]->type != c->in[1]->type || (c->in[2] != NULL && c->in[2]->type != c->in[0]->type))
    return graph_call_fail(c, "its inputs have different types");
  if (!gemm_matrices(c, &p) || !graph_matrices_result(c, &p, c->in[0]->type)) return false;
  if (c->in[2] == NULL) return true;
  int rank = 2;
  int64_t dim[GRAPH_RANK_MAX] = {p.m, p.n};
  if (!graph_broadcast(c, &rank, dim, c->in[2])) return false;
  return (rank == 2 && dim[0] == p.m && dim[1] == p.n) ||
         graph_call_fail(c, "its third input is larger than its result");
}

bool graph_run_gemm(graph_call *c) {
  const graph_tensor *y = c->out[0], *bias = c->in[2];
  double alpha = (double)graph_float(c->node, "alpha", 1), beta = (double)graph_float(c->node, "beta", 1);
  int64_t steps[2] = {0, 0};
  graph_matrices p;
  if (!gemm_matrices(c, &p) || !each_matrix(c, &p, NULL, y->type == GRAPH_F32 ? matrix_f32 : matrix_plain))
    return false;
  if (bias == NULL && alpha == 1) return true;
  if (bias != NULL) graph_broadcast_steps(bias, 2, steps);
  for (int64_t i = 0; i < p.m; i++)
    for (int64_t j = 0; j < p.n; j++) {
      size_t at = (size_t)(i * p.n + j), from = (size_t)(i * steps[0] + j * steps[1]);
      if (graph_is_real(y->type)) {
        double more = bias != NULL ? beta * graph_real_at(bias->type, bias->data, from) : 0;
        graph_put_real(y->type, c->to[0], at, alpha * graph_real_at(y->type, c->to[0], at) + more);
      } else {
        double more = bias != NULL ? beta * (double)graph_int_at(bias->type, bias->data, from) : 0;
        graph_put_int(y->type, c->to[0], at, (int64_t)(alpha * (double)graph_int_at(y->type, c->to[0], at) + more));
      }
    }
  return true;
}

// ---- bytes, with zero points

static int64_t zero_at(const graph_tensor *zero, int64_t i) {
  if (zero == NULL) return 0;
  return graph_int_at(zero->type, zero->data, graph_elements(zero) > 1 ? (size_t)i : 0);
}

static void widen(const graph_tensor *t, int64_t at, int64_t by, int64_t count, int64_t zero, int16_t *to,
                  int64_t to_by) {
  if (t->type == GRAPH_I8) {
    const int8_t *from = (const int8_t *)t->data + at;
    for (int64_t e = 0; e < count; e++) to[e * to_by] = (int16_t)(from[e * by] - zero);
  } else {
    const uint8_t *from = (const uint8_t *)t->data + at;
    for (int64_t e = 0; e < count; e++) to[e * to_by] = (int16_t)(from[e * by] - zero);
  }
}

// rows x k of 16 bits, `row` and `column` elements apart. What lies together is read together.
static int16_t *bytes_together(graph_call *c, const graph_tensor *t, int64_t at, const graph_tensor *zero, int64_t rows,
                               int64_t k, int64_t row, int64_t column) {
  int16_t *to = graph_call_scratch(c, rows * k, sizeof to[0]);
  bool by_column = row == 1 && (zero == NULL || graph_elements(zero) == 1);
  for (int64_t i = 0; i < rows && to != NULL && !by_column; i++)
    widen(t, at + i * row, column, k, zero_at(zero, i), to + i * k, 1);
  for (int64_t block = 0; block < rows && to != NULL && by_column; block += TURNED_ROWS) {
    int64_t count = rows - block < TURNED_ROWS ? rows - block : TURNED_ROWS;
    for (int64_t e = 0; e < k; e++)
      widen(t, at + block + e * column, 1, count, zero_at(zero, 0), to + block * k + e, k);
  }
  return to;
}

static bool matrix_bytes(graph_call *c, const graph_matrices *p, const void *context, int64_t a, int64_t b, int64_t y) {
  const graph_bytes_product *v = context;
  int16_t *x = bytes_together(c, v->a, a, v->a_zero, p->m, p->k, p->a_row, p->a_column);
  int16_t *w = bytes_together(c, v->b, b, v->b_zero, p->n, p->k, p->b_column, p->b_row);
  if (x != NULL && w != NULL) graph_kernel_i16(p->m, p->n, p->k, x, w, v->y + y, p->n, 1);
  bool ok = x != NULL && w != NULL;
  wf_free(x);
  wf_free(w);
  return ok;
}

bool graph_bytes_product_run(graph_call *c, const graph_matrices *p, const graph_bytes_product *v) {
  return each_matrix(c, p, v, matrix_bytes);
}

static bool check_zero(graph_call *c, const graph_tensor *zero, graph_type type, int64_t most) {
  if (zero == NULL) return true;
  int64_t count = graph_elements(zero);
  return (zero->type == type && (count == 1 || count == most)) ||
         graph_call_fail(c, "a scale or zero point does not fit its tensor");
}

bool graph_infer_mat_mul_integer(graph_call *c) {
  const graph_tensor *a = c->in[0], *b = c->in[1];
  graph_matrices p;
  if ((GRAPH_SET_BYTE >> b->type & 1) == 0) return graph_call_fail(c, "it takes bytes");
  return graph_matrices_find(c, &p, a, b, false, false) && check_zero(c, c->in[2], a->type, p.m) &&
         check_zero(c, c->in[3], b->type, p.n) && graph_matrices_result(c, &p, GRAPH_I32);
}

bool graph_run_mat_mul_integer(graph_call *c) {
  const graph_bytes_product v = {c->in[0], c->in[1], c->in[2], c->in[3], c->to[0]};
  graph_matrices p;
  return graph_matrices_find(c, &p, v.a, v.b, false, false) && graph_bytes_product_run(c, &p, &v);
}

// QLinearMatMul: a, scale, zero, b, scale, zero, scale and zero of the result.
bool graph_infer_qlinear_mat_mul(graph_call *c) {
  const graph_tensor *a = c->in[0], *b = c->in[3];
  graph_matrices p;
  if ((GRAPH_SET_BYTE >> b->type & 1) == 0 || (GRAPH_SET_BYTE >> c->in[7]->type & 1) == 0)
    return graph_call_fail(c, "it takes bytes");
  return graph_matrices_find(c, &p, a, b, false, false) && check_zero(c, c->in[1], GRAPH_F32, p.m) &&
         check_zero(c, c->in[2], a->type, p.m) && check_zero(c, c->in[4], GRAPH_F32, p.n) &&
         check_zero(c, c->in[5], b->type, p.n) && check_zero(c, c->in[6], GRAPH_F32, 1) &&
         check_zero(c, c->in[7], c->in[7]->type, 1) && graph_matrices_result(c, &p, c->in[7]->type);
}

static float scale_at(const graph_tensor *scale, int64_t i) {
  return ((const float *)scale->data)[graph_elements(scale) > 1 ? i : 0];
}

bool graph_run_qlinear_mat_mul(graph_call *c) {
  const graph_tensor *y = c->out[0];
  int32_t *sums = graph_call_scratch(c, graph_elements(y), sizeof sums[0]);
  if (sums == NULL) return false;
  const graph_bytes_product v = {c->in[0], c->in[3], c->in[2], c->in[5], sums};
  graph_matrices p;
  bool ok = graph_matrices_find(c, &p, v.a, v.b, false, false) && graph_bytes_product_run(c, &p, &v);
  int64_t zero = graph_int_at(y->type, c->in[7]->data, 0);
  for (int64_t i = 0, n = graph_elements(y); i < n && ok; i++) {
    float scale = scale_at(c->in[1], i / p.n % p.m) * scale_at(c->in[4], i % p.n) / scale_at(c->in[6], 0);
    graph_put_int(y->type, c->to[0], (size_t)i, graph_saturate(y->type, graph_rounded(scale * (float)sums[i]) + zero));
  }
  wf_free(sums);
  return ok;
}
