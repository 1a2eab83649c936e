// SPDX-License-Identifier: Apache-2.0
// Small placed graphs: see build.h.
#include "compiler/network/tests/build.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

void build_random(void *to, size_t bytes, uint64_t seed) {
  uint8_t *at = to;
  uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (size_t i = 0; i < bytes; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    at[i] = (uint8_t)(state >> 24);
  }
}

static int add(graph *g, graph_type type, int rank, const int64_t *dim, const void *data) {
  graph_tensor t = {
      .name = wf_arena_format(g->arena, "t%d", g->tensor_count), .type = type, .rank = rank, .data = data};
  for (int d = 0; d < rank; d++) t.dim[d] = dim[d];
  return graph_add_tensor(g, &t);
}

int build_input(graph *g, graph_type type, int rank, const int64_t *dim) { return add(g, type, rank, dim, NULL); }
int build_result(graph *g, graph_type type, int rank, const int64_t *dim) { return add(g, type, rank, dim, NULL); }

int build_constant(graph *g, graph_type type, int rank, const int64_t *dim) {
  const int t = add(g, type, rank, dim, NULL);
  const size_t elements = (size_t)graph_elements(&g->tensors[t]), bytes = graph_bytes(&g->tensors[t]);
  int8_t *random = wf_arena_alloc(g->arena, elements, 1);
  void *data = wf_arena_alloc(g->arena, bytes, 1);
  build_random(random, elements, (uint64_t)t + 1);
  for (size_t i = 0; i < elements; i++) {
    if (type == GRAPH_I8) ((int8_t *)data)[i] = random[i];
    if (type == GRAPH_U8) ((uint8_t *)data)[i] = (uint8_t)random[i];
    if (type == GRAPH_I32) ((int32_t *)data)[i] = random[i] * 8;
    if (type == GRAPH_F32) ((float *)data)[i] = (float)random[i] / 128;
  }
  g->tensors[t].data = data;
  return t;
}

static graph_node *node_of(graph *g, graph_op op, const int *inputs, int count, int output) {
  return graph_add_node(g, op, wf_arena_format(g->arena, "n%d", g->node_count), inputs, count, &output, 1);
}

// Keeps results of sums over `depth` products in the range of int8.
static float scale_of(int64_t depth) { return 0.5f / (60.0f * sqrtf((float)depth)); }

static void set_pooling(graph *g, graph_node *node, const int64_t *pool, int64_t behind) {
  const int64_t size[2] = {pool[0], pool[0]}, strides[2] = {pool[1], pool[1]};
  const int64_t pads[4] = {pool[2], pool[2], behind, behind};
  graph_set_ints(g, node, "pool_size", size, 2);
  graph_set_ints(g, node, "pool_strides", strides, 2);
  graph_set_ints(g, node, "pool_pads", pads, 4);
}

// Leaves out blocks of a matrix of `columns`.
static void make_holes(int8_t *weights, int64_t rows, int64_t columns, int64_t holes) {
  enum { SIDE = 16, TURN = 4, PRIME = 7 };
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++)
      if ((r / SIDE * PRIME + c / SIDE) % TURN < holes) weights[r * columns + c] = 0;
}

int build_conv2d(graph *g, int x, const build_conv *c) {
  const graph_tensor in = g->tensors[x];
  const int64_t groups = c->groups == 0 ? 1 : c->groups;
  const int64_t weights[4] = {c->kernel, c->kernel, in.dim[3] / groups, c->channels};
  const int64_t p = (in.dim[1] + 2 * c->pad - c->kernel) / c->stride + 1;
  const int64_t q = (in.dim[2] + 2 * c->pad - c->kernel) / c->stride + 1;
  const int64_t *pool = c->pool, behind = (pool[1] < pool[0] ? pool[1] : pool[0]) - 1;
  const int64_t before = pool[0] == 0 ? 0 : pool[2] + (c->no_relu ? 0 : behind) - pool[0];
  const int64_t out[4] = {in.dim[0], pool[0] == 0 ? p : (p + before) / pool[1] + 1,
                          pool[0] == 0 ? q : (q + before) / pool[1] + 1, c->channels};
  const int w = build_constant(g, GRAPH_I8, 4, weights);
  make_holes((int8_t *)g->tensors[w].data, c->kernel * c->kernel * weights[2], c->channels, c->holes);
  const int bias = c->no_bias ? GRAPH_NONE : build_constant(g, GRAPH_I32, 1, &c->channels);
  const int y = build_result(g, GRAPH_I8, 4, out);
  const int inputs[4] = {x, w, bias, c->residual};
  graph_node *node = node_of(g, GRAPH_OP_QCONV, inputs, c->factor != 0 ? 4 : 3, y);
  const int64_t pads[4] = {c->pad, c->pad, c->pad, c->pad}, strides[2] = {c->stride, c->stride};
  graph_set_ints(g, node, "pads", pads, 4);
  graph_set_ints(g, node, "strides", strides, 2);
  graph_set_int(g, node, "groups", groups);
  graph_set_int(g, node, "relu", !c->no_relu);
  graph_set_float(g, node, "scale", scale_of(c->kernel * c->kernel * weights[2]));
  if (c->factor != 0) graph_set_int(g, node, "factor", c->factor);
  if (pool[0] != 0) set_pooling(g, node, pool, c->no_relu ? 0 : behind);
  return y;
}

int build_product(graph *g, int a, int b, bool trans_b, bool bias, bool relu) {
  const graph_tensor left = g->tensors[a], right = g->tensors[b];
  int64_t out[GRAPH_RANK_MAX];
  memcpy(out, left.dim, sizeof out);
  out[left.rank - 1] = right.dim[right.rank - (trans_b ? 2 : 1)];
  const int with = bias ? build_constant(g, GRAPH_I32, 1, &out[left.rank - 1]) : GRAPH_NONE;
  const int y = build_result(g, GRAPH_I8, left.rank, out);
  const int inputs[3] = {a, b, with};
  graph_node *node = node_of(g, GRAPH_OP_QMAT_MUL, inputs, 3, y);
  graph_set_int(g, node, "transB", trans_b);
  graph_set_int(g, node, "relu", relu);
  graph_set_float(g, node, "scale", scale_of(left.dim[left.rank - 1]));
  return y;
}

int build_pool(graph *g, graph_op op, int x, int64_t kernel, int64_t stride, int64_t pad) {
  const graph_tensor in = g->tensors[x];
  const bool global = op == GRAPH_OP_QGLOBAL_AVERAGE_POOL;
  const int64_t p = global ? 1 : (in.dim[1] + 2 * pad - kernel) / stride + 1;
  const int64_t q = global ? 1 : (in.dim[2] + 2 * pad - kernel) / stride + 1;
  const int64_t out[4] = {in.dim[0], p, q, in.dim[3]};
  const int y = build_result(g, GRAPH_I8, 4, out);
  graph_node *node = node_of(g, op, &x, 1, y);
  const int64_t pads[4] = {pad, pad, pad, pad}, strides[2] = {stride, stride}, window[2] = {kernel, kernel};
  const int64_t area = global ? in.dim[1] * in.dim[2] : kernel * kernel;
  if (!global) {
    graph_set_ints(g, node, "kernel_shape", window, 2);
    graph_set_ints(g, node, "strides", strides, 2);
    graph_set_ints(g, node, "pads", pads, 4);
  }
  if (op != GRAPH_OP_QMAX_POOL) graph_set_float(g, node, "scale", 1.7f / (float)area);
  return y;
}

int build_add(graph *g, int a, int b, bool relu) {
  const graph_tensor t = g->tensors[a];
  const int y = build_result(g, GRAPH_I8, t.rank, t.dim), inputs[2] = {a, b};
  graph_node *node = node_of(g, GRAPH_OP_QADD, inputs, 2, y);
  graph_set_float(g, node, "scale_a", 0.625f);
  graph_set_float(g, node, "scale_b", 0.4f);
  graph_set_int(g, node, "relu", relu);
  return y;
}

graph_node *build_like(graph *g, graph_op op, int x, graph_type type, int *y) {
  const graph_tensor t = g->tensors[x];
  *y = build_result(g, type, t.rank, t.dim);
  return node_of(g, op, &x, 1, *y);
}

// 1x1, 3x3, 1x1, and the input added: with its own convolution where shape or width change.
static int bottleneck(graph *g, int x, int64_t width, int64_t stride) {
  const bool changes = stride != 1 || g->tensors[x].dim[3] != 4 * width;
  const int around =
      changes ? build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = stride, .channels = 4 * width, .no_relu = true})
              : x;
  const int a = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = width});
  const int b = build_conv2d(g, a, &(build_conv){.kernel = 3, .stride = stride, .pad = 1, .channels = width});
  return build_conv2d(
      g, b,
      &(build_conv){.kernel = 1, .stride = 1, .channels = 4 * width, .factor = changes ? 1 : 57, .residual = around});
}

graph *build_residual(const int *blocks, int64_t width, int64_t size) {
  graph *g = graph_create("residual");
  const int64_t image[4] = {1, size, size, 3};
  const int input = build_input(g, GRAPH_I8, 4, image);
  int x = build_conv2d(g, input, &(build_conv){.kernel = 7, .stride = 2, .pad = 3, .channels = width});
  x = build_pool(g, GRAPH_OP_QMAX_POOL, x, 3, 2, 1);
  for (int stage = 0; stage < 4; stage++)
    for (int b = 0; b < blocks[stage]; b++) x = bottleneck(g, x, width << stage, stage > 0 && b == 0 ? 2 : 1);
  x = build_pool(g, GRAPH_OP_QGLOBAL_AVERAGE_POOL, x, 0, 0, 0);
  const int64_t channels = g->tensors[x].dim[3];
  const int64_t flat[2] = {1, channels}, classes[2] = {channels, 1000};
  const int y = build_result(g, GRAPH_I8, 2, flat);
  node_of(g, GRAPH_OP_FLATTEN, &x, 1, y);
  const int logits = build_product(g, y, build_constant(g, GRAPH_I8, 2, classes), false, true, false);
  graph_set_ends(g, &input, 1, &logits, 1);
  return g;
}

graph *build_mobile(void) {
  graph *g = graph_create("mobile");
  const int64_t image[4] = {2, 13, 11, 24};
  const int input = build_input(g, GRAPH_I8, 4, image);
  int x = build_conv2d(g, input, &(build_conv){.kernel = 1, .stride = 1, .channels = 40});
  const int a = build_conv2d(g, x, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 40, .groups = 40});
  const int b = build_conv2d(
      g, x, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 40, .groups = 4, .no_relu = true});
  x = build_add(g, a, b, false);
  x = build_pool(g, GRAPH_OP_QMAX_POOL, x, 3, 2, 1);  // of numbers below 0, too
  x = build_conv2d(g, x,
                   &(build_conv){.kernel = 5, .stride = 2, .pad = 2, .channels = 40, .groups = 40, .no_bias = true});
  x = build_pool(g, GRAPH_OP_QAVERAGE_POOL, x, 2, 1, 1);
  x = build_conv2d(g, x, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 7, .no_relu = true});
  x = build_pool(g, GRAPH_OP_QGLOBAL_AVERAGE_POOL, x, 0, 0, 0);
  graph_set_ends(g, &input, 1, &x, 1);
  return g;
}

graph *build_attention(void) {
  graph *g = graph_create("attention");
  const int64_t tokens[3] = {2, 19, 48}, square[2] = {48, 48}, channels[1] = {48};
  const int input = build_input(g, GRAPH_F32, 3, tokens);
  int x, f, y;
  graph_node *node = build_like(g, GRAPH_OP_QUANTIZE, input, GRAPH_I8, &x);
  graph_set_float(g, node, "scale", 0.02f);
  graph_set_int(g, node, "zero", 3);
  const int q = build_product(g, x, build_constant(g, GRAPH_I8, 2, square), false, true, false);
  const int k = build_product(g, x, build_constant(g, GRAPH_I8, 2, square), true, true, false);
  const int v = build_product(g, x, build_constant(g, GRAPH_I8, 2, square), false, false, true);
  const int scores = build_product(g, q, k, true, false, false);
  node = build_like(g, GRAPH_OP_DEQUANTIZE, scores, GRAPH_F32, &f);
  graph_set_float(g, node, "scale", 0.03f);
  build_like(g, GRAPH_OP_SOFTMAX, f, GRAPH_F32, &y);
  node = build_like(g, GRAPH_OP_QUANTIZE, y, GRAPH_I8, &x);
  graph_set_float(g, node, "scale", 1.0f / 127);
  x = build_product(g, x, v, false, false, false);
  node = build_like(g, GRAPH_OP_DEQUANTIZE, x, GRAPH_F32, &f);
  graph_set_float(g, node, "scale", 0.05f);
  build_like(g, GRAPH_OP_GELU, f, GRAPH_F32, &y);
  const int norm[3] = {y, build_constant(g, GRAPH_F32, 1, channels), build_constant(g, GRAPH_F32, 1, channels)};
  const int n = build_result(g, GRAPH_F32, 3, tokens);
  graph_add_node(g, GRAPH_OP_LAYER_NORMALIZATION, "norm", norm, 3, &n, 1);
  graph_set_ends(g, &input, 1, &n, 1);
  return g;
}

void **build_random_inputs(const graph *g) {
  void **inputs = WF_NEW_ARRAY((size_t)g->input_count + 1, void *);
  for (int i = 0; i < g->input_count; i++) {
    const graph_tensor *t = &g->tensors[g->inputs[i]];
    const size_t elements = (size_t)graph_elements(t);
    int8_t *random = wf_alloc(elements, 1);
    build_random(random, elements, 5 + (uint64_t)i);
    inputs[i] = wf_alloc(graph_bytes(t), 1);
    for (size_t e = 0; e < elements; e++) {
      if (t->type == GRAPH_I8) ((int8_t *)inputs[i])[e] = random[e];
      if (t->type == GRAPH_F32) ((float *)inputs[i])[e] = (float)random[e] / 40;
    }
    wf_free(random);
  }
  return inputs;
}

void build_free_inputs(const graph *g, void **inputs) {
  for (int i = 0; i < g->input_count; i++) wf_free(inputs[i]);
  wf_free(inputs);
}
