// SPDX-License-Identifier: Apache-2.0
// Between real numbers and bytes: Quantize, Dequantize and Requantize of docs/networks.md, and QuantizeLinear,
// DequantizeLinear and DynamicQuantizeLinear of ONNX. Rounding is to nearest even in binary32 arithmetic.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/graph/convolution.h"

// ---- Quantize: its input may be transposed (perm) and the result padded (pads) with the zero point. Dequantize: its
// result may be transposed.

// Attributes `scale` and `zero`, or what the int8 tensor says of itself.
static void scale_of(const graph_node *node, const graph_tensor *bytes, float *scale, int64_t *zero) {
  *scale = graph_float(node, "scale", bytes->scale);
  *zero = graph_int(node, "zero", bytes->zero);
}

static bool check_scale(graph_call *c, const graph_tensor *bytes) {
  float scale;
  int64_t zero;
  scale_of(c->node, bytes, &scale, &zero);
  return (scale > 0 && zero >= INT8_MIN && zero <= UINT8_MAX) || graph_call_fail(c, "it has no scale");
}

// Shape of the transposed input, and the steps of its elements in the input.
static bool permuted(graph_call *c, int64_t *dim, int64_t *steps) {
  const graph_tensor *x = c->in[0];
  int64_t perm[GRAPH_RANK_MAX], own[GRAPH_RANK_MAX];
  int count = graph_ints(c->node, "perm", perm, GRAPH_RANK_MAX);
  uint32_t seen = 0;
  if (count != 0 && count != x->rank) return graph_call_fail(c, "its perm has %d entries", count);
  graph_steps(x->rank, x->dim, own);
  for (int d = 0; d < x->rank; d++) {
    int64_t from = count != 0 ? perm[d] : d;
    if (from < 0 || from >= x->rank || (seen >> from & 1) != 0) return graph_call_fail(c, "its perm is no permutation");
    seen |= 1u << from;
    dim[d] = x->dim[from];
    steps[d] = own[from];
  }
  return true;
}

static bool padded(graph_call *c, int64_t *dim, int64_t *pads) {
  int rank = c->in[0]->rank, count = graph_ints(c->node, "pads", pads, 2 * GRAPH_RANK_MAX);
  if (count != 0 && count != 2 * rank) return graph_call_fail(c, "its pads have %d entries", count);
  for (int d = 0; d < rank; d++) {
    if (count == 0) pads[d] = pads[d + rank] = 0;
    if (pads[d] < 0 || pads[d + rank] < 0 || pads[d] > INT32_MAX || pads[d + rank] > INT32_MAX)
      return graph_call_fail(c, "its pads of dimension %d are impossible", d);
    dim[d] += pads[d] + pads[d + rank];
  }
  return true;
}

bool graph_infer_quantize(graph_call *c) {
  int64_t dim[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX], pads[2 * GRAPH_RANK_MAX];
  graph_type type = c->out[0]->type == GRAPH_U8 ? GRAPH_U8 : GRAPH_I8;
  return check_scale(c, c->out[0]) && permuted(c, dim, steps) && padded(c, dim, pads) &&
         graph_call_result(c, 0, type, c->in[0]->rank, dim);
}

static float number_at(const graph_tensor *x, int64_t at) {
  if (x->type == GRAPH_U8) return (float)((const uint8_t *)x->data)[at];
  return x->type == GRAPH_F32 ? ((const float *)x->data)[at] : (float)((const int32_t *)x->data)[at];
}

bool graph_run_quantize(graph_call *c) {
  const graph_tensor *x = c->in[0], *y = c->out[0];
  int64_t dim[GRAPH_RANK_MAX], padded_dim[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX], own[GRAPH_RANK_MAX];
  int64_t pads[2 * GRAPH_RANK_MAX], zero, at = 0;
  float scale;
  scale_of(c->node, y, &scale, &zero);
  if (!permuted(c, dim, steps)) return false;
  memcpy(padded_dim, dim, sizeof dim);
  if (!padded(c, padded_dim, pads)) return false;
  graph_steps(y->rank, padded_dim, own);
  for (int d = 0; d < y->rank; d++) at += pads[d] * own[d];
  memset(c->to[0], (int)zero, graph_bytes(y));
  graph_rows r;
  graph_rows_start(&r, x->rank, dim, 2, (const int64_t *[]){own, steps});
  while (graph_rows_next(&r))
    for (int64_t i = 0; i < r.length; i++) {
      int64_t value = graph_rounded(number_at(x, r.at[1] + i * r.by[1]) / scale) + zero;
      ((uint8_t *)c->to[0])[at + r.at[0] + i * r.by[0]] = (uint8_t)graph_saturate(y->type, value);
    }
  return true;
}

bool graph_infer_dequantize(graph_call *c) {
  int64_t dim[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX];
  return check_scale(c, c->in[0]) && permuted(c, dim, steps) && graph_call_result(c, 0, GRAPH_F32, c->in[0]->rank, dim);
}

bool graph_run_dequantize(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t dim[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX], own[GRAPH_RANK_MAX], zero;
  float *y = c->to[0], scale;
  scale_of(c->node, x, &scale, &zero);
  if (!permuted(c, dim, steps)) return false;
  graph_steps(x->rank, dim, own);
  graph_rows r;
  graph_rows_start(&r, x->rank, dim, 2, (const int64_t *[]){own, steps});
  while (graph_rows_next(&r))
    for (int64_t i = 0; i < r.length; i++) {
      int64_t value = graph_int_at(x->type, x->data, (size_t)(r.at[1] + i * r.by[1]));
      y[r.at[0] + i * r.by[0]] = scale * (float)(value - zero);
    }
  return true;
}

bool graph_infer_requantize(graph_call *c) {
  const graph_tensor *x = c->in[0], *scale = c->in[1];
  int64_t count = graph_elements(scale), zero = graph_int(c->node, "zero", 0);
  if (scale->type != GRAPH_F32 || (count != 1 && (x->rank == 0 || count != x->dim[x->rank - 1])) || zero < INT8_MIN ||
      zero > INT8_MAX)
    return graph_call_fail(c, "its scales or its zero point do not fit");
  return graph_call_result(c, 0, GRAPH_I8, x->rank, x->dim);
}

bool graph_run_requantize(graph_call *c) {
  const int32_t *x = c->in[0]->data;
  const float *scale = c->in[1]->data;
  int64_t count = graph_elements(c->in[1]), zero = graph_int(c->node, "zero", 0);
  int8_t *y = c->to[0];
  for (int64_t i = 0, n = graph_elements(c->in[0]); i < n; i++)
    y[i] = (int8_t)graph_saturate(GRAPH_I8, graph_rounded(scale[i % count] * (float)x[i]) + zero);
  return true;
}

// ---- ONNX: scale and zero point are inputs, for the whole tensor or along an axis

typedef struct linear {
  int64_t size, inner;  // entry (i / inner) % size
} linear;

static bool find_linear(graph_call *c, linear *l) {
  const graph_tensor *x = c->in[0], *scale = c->in[1], *zero = c->in[2];
  int64_t count = graph_elements(scale);
  int axis;
  if (scale->type != GRAPH_F32 || (zero != NULL && graph_elements(zero) != count))
    return graph_call_fail(c, "its scale has to be f32, with as many zero points");
  *l = (linear){1, 1};
  if (scale->rank == 0 || count == 1) return true;
  if (!graph_call_axis(c, graph_int(c->node, "axis", 1), x->rank, &axis)) return false;
  if (count != x->dim[axis])
    return graph_call_fail(c, "%" PRId64 " scales for %" PRId64 " slices", count, x->dim[axis]);
  *l = (linear){count, graph_product(x->dim, axis + 1, x->rank)};
  return true;
}

bool graph_infer_quantize_linear(graph_call *c) {
  linear l;
  graph_type type = c->in[2] != NULL ? c->in[2]->type : GRAPH_U8;
  if ((GRAPH_SET_BYTE >> type & 1) == 0) return graph_call_fail(c, "its zero point has to be a byte");
  return find_linear(c, &l) && graph_call_result(c, 0, type, c->in[0]->rank, c->in[0]->dim);
}

bool graph_run_quantize_linear(graph_call *c) {
  const graph_tensor *x = c->in[0], *zero = c->in[2], *y = c->out[0];
  const float *scale = c->in[1]->data;
  linear l;
  if (!find_linear(c, &l)) return false;
  for (int64_t i = 0, n = graph_elements(x); i < n; i++) {
    size_t entry = (size_t)(i / l.inner % l.size);
    int64_t z = zero != NULL ? graph_int_at(zero->type, zero->data, entry) : 0;
    int64_t value = graph_rounded((float)graph_real_at(x->type, x->data, (size_t)i) / scale[entry]);
    graph_put_int(y->type, c->to[0], (size_t)i, graph_saturate(y->type, value + z));
  }
  return true;
}

bool graph_infer_dequantize_linear(graph_call *c) {
  linear l;
  if (c->in[2] != NULL && c->in[2]->type != c->in[0]->type)
    return graph_call_fail(c, "its zero point has another type");
  return find_linear(c, &l) && graph_call_result(c, 0, GRAPH_F32, c->in[0]->rank, c->in[0]->dim);
}

bool graph_run_dequantize_linear(graph_call *c) {
  const graph_tensor *x = c->in[0], *zero = c->in[2];
  const float *scale = c->in[1]->data;
  linear l;
  if (!find_linear(c, &l)) return false;
  for (int64_t i = 0, n = graph_elements(x); i < n; i++) {
    size_t entry = (size_t)(i / l.inner % l.size);
    int64_t z = zero != NULL ? graph_int_at(zero->type, zero->data, entry) : 0;
    ((float *)c->to[0])[i] = (float)(graph_int_at(x->type, x->data, (size_t)i) - z) * scale[entry];
  }
  return true;
}

// y = u8 of x with the scale and zero point that its range gives; the range includes 0.
bool graph_infer_dynamic_quantize(graph_call *c) {
  return graph_call_result(c, 0, GRAPH_U8, c->in[0]->rank, c->in[0]->dim) &&
         graph_call_result(c, 1, GRAPH_F32, 0, NULL) && graph_call_result(c, 2, GRAPH_U8, 0, NULL);
}

bool graph_run_dynamic_quantize(graph_call *c) {
  const float *x = c->in[0]->data;
  float low = 0, high = 0;
  int64_t n = graph_elements(c->in[0]);
  for (int64_t i = 0; i < n; i++) low = fminf(low, x[i]), high = fmaxf(high, x[i]);
  float scale = (high - low) / 255;
  int64_t zero = scale > 0 ? graph_saturate(GRAPH_U8, graph_rounded(-low / scale)) : 0;
  for (int64_t i = 0; i < n && c->to[0] != NULL; i++)
    ((uint8_t *)c->to[0])[i] = (uint8_t)graph_saturate(GRAPH_U8, (scale > 0 ? graph_rounded(x[i] / scale) : 0) + zero);
  if (c->to[1] != NULL) *(float *)c->to[1] = scale;
  if (c->to[2] != NULL) *(uint8_t *)c->to[2] = (uint8_t)zero;
  return true;
}
