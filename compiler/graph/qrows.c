// SPDX-License-Identifier: Apache-2.0
// Q operators over the last dimension: QSoftmax, QLayerNorm and QNormMesh. Their sums are exact in integers, so that
// only the last steps round: docs/networks.md.
#include <math.h>

#include "compiler/graph/convolution.h"

enum { TABLE = 256, PHASES = 8 };

static int64_t last_dim(const graph_tensor *t) { return t->dim[t->rank - 1]; }

static int8_t floor_byte(float value) {
  if (!(value < INT8_MAX)) return INT8_MAX;
  return (int8_t)(value < INT8_MIN ? INT8_MIN : floorf(value));
}

// ---- QSoftmax

bool graph_infer_qsoftmax(graph_call *c) {
  const graph_tensor *x = c->in[0], *table = c->in[1], *mask = c->in[2];
  if (x->rank == 0) return graph_call_fail(c, "it takes rows of int8");
  if (table->type != GRAPH_U8 || graph_elements(table) != PHASES * TABLE)
    return graph_call_fail(c, "its table has to be %d times 256 numbers of u8", PHASES);
  if (mask != NULL && (mask->type != GRAPH_I8 || mask->rank != 2 || last_dim(mask) != last_dim(x) || mask->dim[0] < 1 ||
                       graph_elements(mask) == 0 || graph_elements(x) % graph_elements(mask) != 0))
    return graph_call_fail(c, "its mask does not fit its rows");
  return graph_call_like(c, 0, 0);
}

// Shares of a sum: e * factor / 2^shift. The factor is at most 240, and with shifts up to 13 as large as can be.
typedef struct share {
  int64_t factor;
  int shift;
} share;

static share share_of(float one) {
  enum { FACTOR_MAX = 240, SHIFT_MAX = 13 };
  if (!(one > 0)) return (share){0};
  int shift = SHIFT_MAX;
  while (shift > 0 && ldexpf(one, shift) > FACTOR_MAX) shift--;
  const float factor = ldexpf(one, shift);
  return (share){factor > FACTOR_MAX ? FACTOR_MAX : (int64_t)lrintf(factor), shift};
}

static int8_t shared(share s, int64_t e) {
  const int64_t y = s.shift == 0 ? e * s.factor : (e * s.factor + (INT64_C(1) << (s.shift - 1))) >> s.shift;
  return (int8_t)(y > INT8_MAX ? INT8_MAX : y);
}

static void softmax_row(const int8_t *x, const int8_t *mask, const uint8_t *table, int64_t count, float scale,
                        int8_t *y) {
  int largest = INT8_MIN;
  int64_t sum = 0;
  for (int64_t i = 0; i < count; i++)
    if ((mask == NULL || mask[i] != 0) && x[i] > largest) largest = x[i];
  largest |= 1;
  for (int64_t i = 0; i < count; i++)
    if (mask == NULL || mask[i] != 0) sum += table[i % PHASES * TABLE + TABLE - 1 + x[i] - largest];
  const share s = share_of(sum == 0 ? 0 : scale / (float)sum);
  for (int64_t i = 0; i < count; i++)
    y[i] = mask == NULL || mask[i] != 0 ? shared(s, table[i % PHASES * TABLE + TABLE - 1 + x[i] - largest]) : 0;
}

bool graph_run_qsoftmax(graph_call *c) {
  const graph_tensor *x = c->in[0], *mask = c->in[2];
  const int64_t width = last_dim(x), rows = width == 0 ? 0 : graph_elements(x) / width;
  const float scale = graph_float(c->node, "scale", 1);
  for (int64_t r = 0; r < rows; r++)
    softmax_row((const int8_t *)x->data + r * width,
                mask == NULL ? NULL : (const int8_t *)mask->data + r % mask->dim[0] * width, c->in[1]->data, width,
                scale, (int8_t *)c->to[0] + r * width);
  return true;
}

// ---- QLayerNorm

enum { WIDTH_MAX = 1 << 15 };  // N * q is exact in binary32

bool graph_infer_qlayer_norm(graph_call *c) {
  const graph_tensor *x = c->in[0];
  if (x->rank == 0 || last_dim(x) < 1 || last_dim(x) > WIDTH_MAX)
    return graph_call_fail(c, "it takes rows of 1 to %d int8", WIDTH_MAX);
  for (int i = 1; i < 3; i++)
    if (c->in[i] != NULL && (c->in[i]->type != GRAPH_F32 || c->in[i]->rank != 1 || last_dim(c->in[i]) != last_dim(x)))
      return graph_call_fail(c, "factors and offsets have to be one f32 per column");
  return graph_call_like(c, 0, 0);
}

// The sum of a row, 0 without centring, and k = 1 / sqrt(N squares - sum^2 + epsilon).
static float root_of(const graph_node *node, const int8_t *x, int64_t count, int64_t *sum) {
  int64_t squares = 0;
  *sum = 0;
  for (int64_t i = 0; i < count; i++) {
    *sum += x[i];
    squares += x[i] * x[i];
  }
  if (graph_int(node, "center", 1) == 0) *sum = 0;
  return 1.0f / sqrtf((float)(count * squares - *sum * *sum) + graph_float(node, "epsilon", 0));
}

static void norm_row(const graph_call *c, const int8_t *x, int64_t count, int8_t *y) {
  const float *gamma = c->in[1]->data, *beta = c->in[2] == NULL ? NULL : c->in[2]->data;
  int64_t sum;
  const float root = root_of(c->node, x, count, &sum), factor = (float)count * root, shift = (float)-sum * root;
  for (int64_t i = 0; i < count; i++) {
    const float centred = fmaf(x[i], factor, shift);
    y[i] = floor_byte(fmaf(centred, gamma[i], (beta == NULL ? 0 : beta[i]) + 0.5f));
  }
}

bool graph_run_qlayer_norm(graph_call *c) {
  const graph_tensor *x = c->in[0];
  const int64_t width = last_dim(x), rows = graph_elements(x) / width;
  for (int64_t r = 0; r < rows; r++)
    norm_row(c, (const int8_t *)x->data + r * width, width, (int8_t *)c->to[0] + r * width);
  return true;
}

// ---- QNormMesh

bool graph_infer_qnorm_mesh(graph_call *c) {
  enum { MOST_MAX = 127 * 8 };
  const graph_tensor *x = c->in[0];
  const int64_t most = graph_int(c->node, "most", 0);
  if (x->rank == 0 || last_dim(x) < 1 || last_dim(x) > WIDTH_MAX)
    return graph_call_fail(c, "it takes rows of 1 to %d int8", WIDTH_MAX);
  if (most < INT8_MAX || most > MOST_MAX || most % INT8_MAX != 0)
    return graph_call_fail(c, "its largest factor is no multiple of %d up to %d", INT8_MAX, MOST_MAX);
  return graph_call_like(c, 0, 0);
}

static void norm_mesh_row(const graph_node *node, const int8_t *x, int64_t count, int8_t *y) {
  int64_t sum;
  const float wanted = root_of(node, x, count, &sum) * graph_float(node, "gain", 1);
  const float most = (float)graph_int(node, "most", 0), scale = graph_float(node, "scale", 1);
  const int64_t factor = lrintf(wanted < most ? wanted : most);
  const int64_t offset = -lrintf((float)(factor * sum) * (1.0f / (float)count));
  for (int64_t i = 0; i < count; i++)
    y[i] = (int8_t)graph_saturate(GRAPH_I8, graph_rounded(scale * (float)(factor * x[i] + offset)));
}

bool graph_run_qnorm_mesh(graph_call *c) {
  const graph_tensor *x = c->in[0];
  const int64_t width = last_dim(x), rows = graph_elements(x) / width;
  for (int64_t r = 0; r < rows; r++)
    norm_mesh_row(c->node, (const int8_t *)x->data + r * width, width, (int8_t *)c->to[0] + r * width);
  return true;
}
