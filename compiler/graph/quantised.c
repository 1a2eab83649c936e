// SPDX-License-Identifier: Apache-2.0
// Q operators as docs/networks.md defines them, and QuantizeLinear and DequantizeLinear of ONNX. All rounding is to
// nearest even in binary32 arithmetic; sums are modulo 2^32.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/convolution.h"
#include "compiler/graph/kernels.h"
#include "compiler/graph/product.h"

static int8_t to_byte(float value) { return (int8_t)graph_saturate(GRAPH_I8, graph_rounded(value)); }

static bool is_bytes(const graph_tensor *t) { return t->type == GRAPH_I8; }

static bool check_bias(graph_call *c, const graph_tensor *bias, int64_t count) {
  return bias == NULL || (bias->type == GRAPH_I32 && bias->rank == 1 && bias->dim[0] == count) ||
         graph_call_fail(c, "its bias has to be %" PRId64 " numbers of i32", count);
}

static void add_row(int32_t *sums, int64_t count, const int32_t *bias, const int8_t *residual, uint32_t factor) {
  for (int64_t i = 0; i < count && bias != NULL; i++) sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)bias[i]);
  for (int64_t i = 0; i < count && residual != NULL; i++) {
    int32_t more = residual[i];
    sums[i] = (int32_t)((uint32_t)sums[i] + factor * (uint32_t)more);
  }
}

// The last step of QConv and QMatMul on sums of `columns` per row: bias, residual, relu, scale.
static void finish(graph_call *c, int32_t *sums, int64_t count, int64_t columns, void *to) {
  const graph_node *node = c->node;
  const int32_t *bias = c->in[2] != NULL ? c->in[2]->data : NULL;
  const int8_t *residual = c->in[3] != NULL ? c->in[3]->data : NULL;
  uint32_t factor = (uint32_t)graph_int(node, "factor", 1);
  for (int64_t i = 0; i < count; i += columns)
    add_row(sums + i, columns, bias, residual != NULL ? residual + i : NULL, factor);
  if (graph_int(node, "relu", 0) != 0)
    for (int64_t i = 0; i < count; i++) sums[i] = sums[i] < 0 ? 0 : sums[i];
  if (graph_find_attribute(node, "scale") != NULL)
    graph_kernel_scale(count, sums, graph_float(node, "scale", 1), to);
  else
    memcpy(to, sums, (size_t)count * sizeof sums[0]);
}

static graph_type product_type(const graph_call *c) {
  return graph_find_attribute(c->node, "scale") != NULL ? GRAPH_I8 : GRAPH_I32;
}

static bool check_residual(graph_call *c, const graph_tensor *shape) {
  const graph_tensor *residual = c->in[3];
  int64_t factor = graph_int(c->node, "factor", 1);
  if (factor < 1 || factor > INT32_MAX) return graph_call_fail(c, "its factor is %" PRId64, factor);
  return residual == NULL || (is_bytes(residual) && graph_same_shape(residual, shape)) ||
         graph_call_fail(c, "its residual has another shape or type than its result");
}

// ---- QConv: x [N,H,W,C], w [R,S,C/groups,K]

typedef struct qconv {
  graph_conv_int v;
  bool pooled;
  graph_window pool;
  graph_tensor sums;  // shape before pooling
} qconv;

static bool find_qconv(graph_call *c, qconv *q) {
  const graph_tensor *x = c->in[0], *w = c->in[1];
  int64_t groups = graph_int(c->node, "groups", 1), pool[GRAPH_AXES];
  if (x->rank != 4 || w->rank != 4 || !is_bytes(w)) return graph_call_fail(c, "it takes images and kernels of int8");
  if (groups < 1 || groups > INT32_MAX || w->dim[2] > INT32_MAX || w->dim[2] * groups != x->dim[3] ||
      w->dim[3] % groups != 0)
    return graph_call_fail(c, "%" PRId64 " channels and %" PRId64 " groups do not match its weights", x->dim[3],
                           groups);
  *q = (qconv){.v = {.batch = x->dim[0], .groups = groups, .channels = w->dim[2], .filters = w->dim[3] / groups}};
  if (!graph_window_find(c, &q->v.window, 2, &x->dim[1], w->dim)) return false;
  q->sums = (graph_tensor){
      .type = GRAPH_I32, .rank = 4, .dim = {x->dim[0], q->v.window.out[1], q->v.window.out[2], w->dim[3]}};
  int count = graph_ints(c->node, "pool_size", pool, GRAPH_AXES);
  q->pooled = count != 0;
  if (q->pooled && (count != 2 || product_type(c) != GRAPH_I8))
    return graph_call_fail(c, "its pooling does not fit its result");
  return !q->pooled || graph_window_named(c, &q->pool, 2, &q->sums.dim[1], pool, "pool_strides", "pool_pads");
}

bool graph_infer_qconv(graph_call *c) {
  qconv q;
  if (!find_qconv(c, &q) || !check_bias(c, c->in[2], q.sums.dim[3]) || !check_residual(c, &q.sums)) return false;
  if (q.pooled) q.sums.dim[1] = q.pool.out[1], q.sums.dim[2] = q.pool.out[2];
  return graph_call_result(c, 0, product_type(c), 4, q.sums.dim);
}

// [R,S,C,K] to [K][tap][channel] of 16 bits.
static int16_t *turn_weights(graph_call *c, const graph_tensor *w) {
  int64_t rows = w->dim[0] * w->dim[1] * w->dim[2], filters = w->dim[3];
  const int8_t *from = w->data;
  int16_t *to = graph_call_scratch(c, rows * filters, sizeof to[0]);
  for (int64_t r = 0; r < rows && to != NULL; r++)
    for (int64_t f = 0; f < filters; f++) to[f * rows + r] = from[r * filters + f];
  return to;
}

static void take_most(const int8_t *x, int64_t count, int8_t *most) {
  for (int64_t i = 0; i < count; i++) most[i] = x[i] > most[i] ? x[i] : most[i];
}

// Maximum over windows of [N,H,W,C]; outside is -128.
static void pool_bytes(const graph_window *w, int64_t images, int64_t channels, const int8_t *x, int8_t *y) {
  int64_t image = w->in[1] * w->in[2] * channels, r_from, r_to, s_from, s_to;
  memset(y, INT8_MIN, (size_t)(images * graph_window_pixels(w) * channels));
  for (int64_t n = 0; n < images; n++, x += image)
    for (int64_t pixel = 0; pixel < w->out[1] * w->out[2]; pixel++, y += channels) {
      int64_t p = pixel / w->out[2], q = pixel % w->out[2];
      graph_window_inside(w, 1, p, 0, w->in[1], &r_from, &r_to);
      graph_window_inside(w, 2, q, 0, w->in[2], &s_from, &s_to);
      for (int64_t r = r_from; r < r_to; r++)
        for (int64_t s = s_from; s < s_to; s++)
          take_most(x + (graph_window_source(w, 1, p, r) * w->in[2] + graph_window_source(w, 2, q, s)) * channels,
                    channels, y);
    }
}

static bool qconv_sums(graph_call *c, qconv *q, int32_t *sums) {
  const graph_tensor *x = c->in[0];
  int16_t *weights = turn_weights(c, c->in[1]);
  if (weights == NULL) return false;
  graph_conv_int *v = &q->v;
  v->x_type = GRAPH_I8;
  v->x = x->data;
  v->weights = weights;
  v->y = sums;
  v->x_batch = x->dim[1] * x->dim[2] * x->dim[3];
  v->x_channel = v->y_filter = 1;
  v->x_pixel = x->dim[3];
  v->y_pixel = q->sums.dim[3];
  v->y_batch = q->sums.dim[1] * q->sums.dim[2] * q->sums.dim[3];
  bool ok = graph_conv_int_run(c, v);
  wf_free(weights);
  return ok;
}

bool graph_run_qconv(graph_call *c) {
  qconv q;
  if (!find_qconv(c, &q)) return false;
  int64_t count = graph_elements(&q.sums);
  int32_t *sums = graph_call_scratch(c, count, sizeof sums[0]);
  if (sums == NULL) return false;
  int8_t *bytes = q.pooled ? graph_call_scratch(c, count, 1) : NULL;
  bool ok = (!q.pooled || bytes != NULL) && qconv_sums(c, &q, sums);
  if (ok) finish(c, sums, count, q.sums.dim[3], q.pooled ? (void *)bytes : c->to[0]);
  if (ok && q.pooled) pool_bytes(&q.pool, q.sums.dim[0], q.sums.dim[3], bytes, c->to[0]);
  wf_free(sums);
  wf_free(bytes);
  return ok;
}

// ---- QMatMul

static bool find_qmat_mul(graph_call *c, graph_matrices *p) {
  const graph_tensor *a = c->in[0], *b = c->in[1];
  if (!is_bytes(b) || a->rank < 2 || b->rank < 2) return graph_call_fail(c, "it takes matrices of int8");
  return graph_matrices_find(c, p, a, b, graph_int(c->node, "transA", 0) != 0, graph_int(c->node, "transB", 0) != 0);
}

bool graph_infer_qmat_mul(graph_call *c) {
  graph_matrices p;
  return find_qmat_mul(c, &p) && graph_matrices_result(c, &p, product_type(c)) && check_bias(c, c->in[2], p.n) &&
         check_residual(c, c->out[0]);
}

bool graph_run_qmat_mul(graph_call *c) {
  int64_t count = graph_elements(c->out[0]);
  graph_matrices p;
  if (!find_qmat_mul(c, &p)) return false;
  graph_bytes_product v = {.a = c->in[0], .b = c->in[1], .y = graph_call_scratch(c, count, sizeof(int32_t))};
  bool ok = v.y != NULL && graph_bytes_product_run(c, &p, &v);
  if (ok) finish(c, v.y, count, p.n, c->to[0]);
  wf_free(v.y);
  return ok;
}

// ---- QAdd, QLut, pooling

// The last dimensions of a are those of b; b is repeated along the others, in which it has 1 or nothing.
static bool is_repeated(const graph_tensor *a, const graph_tensor *b) {
  bool same = true;
  if (b->rank > a->rank) return false;
  for (int i = 1; i <= b->rank; i++) {
    const int64_t size = b->dim[b->rank - i];
    same = same && size == a->dim[a->rank - i];
    if (!same && size != 1) return false;
  }
  return true;
}

bool graph_infer_qadd(graph_call *c) {
  if (!is_bytes(c->in[1]) || !is_repeated(c->in[0], c->in[1]))
    return graph_call_fail(c, "it adds int8 tensors of one shape, or one that is repeated");
  return graph_call_like(c, 0, 0);
}

bool graph_run_qadd(graph_call *c) {
  const int8_t *a = c->in[0]->data, *b = c->in[1]->data;
  float fa = graph_float(c->node, "scale_a", 1), fb = graph_float(c->node, "scale_b", 1);
  bool relu = graph_int(c->node, "relu", 0) != 0;
  int8_t *y = c->to[0];
  const int64_t period = graph_elements(c->in[1]);
  for (int64_t i = 0, n = graph_elements(c->in[0]); i < n; i++) {
    int sum = to_byte(fa * (float)a[i]) + to_byte(fb * (float)b[i % period]);
    y[i] = (int8_t)graph_saturate(GRAPH_I8, relu && sum < 0 ? 0 : sum);
  }
  return true;
}

bool graph_infer_qlut(graph_call *c) {
  const graph_tensor *x = c->in[0], *table = c->in[1];
  if ((!is_bytes(table) && table->type != GRAPH_F32) || graph_elements(table) != 256)
    return graph_call_fail(c, "its table has to be 256 numbers of i8 or f32");
  return graph_call_result(c, 0, table->type, x->rank, x->dim);
}

bool graph_run_qlut(graph_call *c) {
  const int8_t *x = c->in[0]->data;
  const char *table = c->in[1]->data;
  const size_t size = graph_type_bytes(c->in[1]->type);
  char *y = c->to[0];
  for (int64_t i = 0, n = graph_elements(c->in[0]); i < n; i++)
    memcpy(y + (size_t)i * size, table + (size_t)(x[i] + 128) * size, size);
  return true;
}

// Bytes of two int4 elements, the first in the low half, of int8 elements from -8 to 7 (of others the low half).
bool graph_infer_qpack4(graph_call *c) {
  graph_tensor y = *c->in[0];
  if (y.rank < 1 || y.dim[y.rank - 1] % 2 != 0)
    return graph_call_fail(c, "it packs pairs of the last dimension, which has to be even");
  y.dim[y.rank - 1] /= 2;
  return graph_call_result(c, 0, GRAPH_I8, y.rank, y.dim);
}

bool graph_run_qpack4(graph_call *c) {
  const int8_t *x = c->in[0]->data;
  uint8_t *y = c->to[0];
  for (int64_t i = 0, n = graph_elements(c->in[0]) / 2; i < n; i++)
    y[i] = (uint8_t)((x[2 * i] & 15) | (x[2 * i + 1] & 15) << 4);
  return true;
}

bool graph_infer_qwiden4(graph_call *c) {
  graph_tensor y = *c->in[0];
  if (y.rank < 1) return graph_call_fail(c, "it widens the last dimension");
  y.dim[y.rank - 1] *= 2;
  return graph_call_result(c, 0, GRAPH_I8, y.rank, y.dim);
}

bool graph_run_qwiden4(graph_call *c) {
  const uint8_t *x = c->in[0]->data;
  int8_t *y = c->to[0];
  for (int64_t i = 0, n = graph_elements(c->in[0]); i < n; i++) {
    y[2 * i] = (int8_t)(((x[i] & 15) ^ 8) - 8);
    y[2 * i + 1] = (int8_t)((x[i] >> 4 ^ 8) - 8);
  }
  return true;
}

static bool find_qpool(graph_call *c, graph_window *w) {
  int64_t kernel[GRAPH_AXES];
  if (c->in[0]->rank != 4) return graph_call_fail(c, "it takes images");
  if (c->node->op == GRAPH_OP_QGLOBAL_AVERAGE_POOL)
    return graph_window_named(c, w, 2, &c->in[0]->dim[1], &c->in[0]->dim[1], "", "");
  if (graph_ints(c->node, "kernel_shape", kernel, GRAPH_AXES) != 2)
    return graph_call_fail(c, "it needs a kernel_shape of 2");
  return graph_window_find(c, w, 2, &c->in[0]->dim[1], kernel);
}

bool graph_infer_qpool(graph_call *c) {
  const graph_tensor *x = c->in[0];
  graph_window w;
  return find_qpool(c, &w) &&
         graph_call_result(c, 0, GRAPH_I8, 4, (int64_t[]){x->dim[0], w.out[1], w.out[2], x->dim[3]});
}

bool graph_run_qmax_pool(graph_call *c) {
  graph_window w;
  if (!find_qpool(c, &w)) return false;
  pool_bytes(&w, c->in[0]->dim[0], c->in[0]->dim[3], c->in[0]->data, c->to[0]);
  return true;
}

static int32_t window_sum(const graph_window *w, const int8_t *x, int64_t channels, int64_t pixel) {
  int64_t p = pixel / w->out[2], q = pixel % w->out[2], r_from, r_to, s_from, s_to;
  uint32_t sum = 0;
  graph_window_inside(w, 1, p, 0, w->in[1], &r_from, &r_to);
  graph_window_inside(w, 2, q, 0, w->in[2], &s_from, &s_to);
  for (int64_t r = r_from; r < r_to; r++)
    for (int64_t s = s_from; s < s_to; s++) {
      int32_t value = x[(graph_window_source(w, 1, p, r) * w->in[2] + graph_window_source(w, 2, q, s)) * channels];
      sum += (uint32_t)value;
    }
  return (int32_t)sum;
}

bool graph_run_qaverage_pool(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t channels = x->dim[3], image = x->dim[1] * x->dim[2] * channels;
  float scale = graph_float(c->node, "scale", 1);
  int8_t *y = c->to[0];
  graph_window w;
  if (!find_qpool(c, &w)) return false;
  for (int64_t n = 0; n < x->dim[0]; n++)
    for (int64_t p = 0, pixels = graph_window_pixels(&w); p < pixels; p++)
      for (int64_t ch = 0; ch < channels; ch++)
        *y++ = to_byte(scale * (float)window_sum(&w, (const int8_t *)x->data + n * image + ch, channels, p));
  return true;
}
