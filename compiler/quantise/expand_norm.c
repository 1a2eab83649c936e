// SPDX-License-Identifier: Apache-2.0
// Normalisations in terms of what the converter knows:
//   BatchNormalization     with parameters that are computed, or not of an image: x k + (b - mean k), k = s / sqrt(v +
//   e) InstanceNormalization  LayerNormalization of [N, C, all], times scale plus bias per channel LayerNormalization
//   whose mean or deviation is wanted: these in simple operators LRN                    the sum of neighbouring squares
//   is a 1 x 1 convolution with a band of weights; to a power, times x
#include <math.h>

#include "compiler/quantise/expand.h"

// A list per channel as [C, 1, ..] beside a tensor.
static int beside(const quantise_maker *m, int list, const graph_tensor *x) {
  int64_t dim[GRAPH_RANK_MAX] = {x->rank > 1 ? x->dim[1] : 1};
  for (int d = 1; d < GRAPH_RANK_MAX; d++) dim[d] = 1;
  return quantise_make_reshape(m, list, x->rank > 1 ? x->rank - 1 : 1, dim, GRAPH_NONE);
}

static int plus(const quantise_maker *m, int x, float number) {
  return quantise_make_binary(m, GRAPH_OP_ADD, x, quantise_make_number(m, number), GRAPH_NONE);
}

static bool is_constant(const graph *g, const graph_node *node, int from, int to) {
  for (int i = from; i < to; i++)
    if (g->tensors[node->inputs[i]].data == NULL) return false;
  return true;
}

bool quantise_expand_any_batch_norm(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]];
  if (!quantise_make_is_float(g, node, 0)) return false;
  const int root = quantise_make_unary(&m, GRAPH_OP_SQRT,
                                       plus(&m, node->inputs[4], graph_float(node, "epsilon", 1e-5f)), GRAPH_NONE);
  const int factor = quantise_make_binary(&m, GRAPH_OP_DIV, node->inputs[1], root, GRAPH_NONE);
  const int mean = quantise_make_binary(&m, GRAPH_OP_MUL, node->inputs[3], factor, GRAPH_NONE);
  const int offset = quantise_make_binary(&m, GRAPH_OP_SUB, node->inputs[2], mean, GRAPH_NONE);
  const int scaled = quantise_make_binary(&m, GRAPH_OP_MUL, node->inputs[0], beside(&m, factor, &x), GRAPH_NONE);
  quantise_make_binary(&m, GRAPH_OP_ADD, scaled, beside(&m, offset, &x), node->outputs[0]);
  return true;
}

// Constant parameters go into a convolution before or become one (fold.c).
bool quantise_expand_batch_norm(graph *g, const graph_node *node) {
  return !is_constant(g, node, 1, 5) && quantise_expand_any_batch_norm(g, node);
}

static bool is_all(const graph *g, int tensor, float value) {
  const float *values = quantise_rewrite_floats(g, tensor);
  const int64_t count = values == NULL ? 0 : graph_elements(&g->tensors[tensor]);
  for (int64_t i = 0; i < count; i++)
    if (fabsf(values[i] - value) > 0) return false;
  return values != NULL;
}

bool quantise_expand_instance_norm(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]];
  if (!quantise_make_is_float(g, node, 0) || graph_elements(&x) == 0) return false;
  const bool scales = !is_all(g, node->inputs[1], 1), shifts = !is_all(g, node->inputs[2], 0);
  const int64_t rows[3] = {x.dim[0], x.dim[1], graph_elements(&x) / x.dim[0] / x.dim[1]};
  float *ones = WF_ARENA_ARRAY(g->arena, (size_t)rows[2], float);
  for (int64_t i = 0; i < rows[2]; i++) ones[i] = 1;
  graph_node norm = {0};
  graph_set_float(g, &norm, "epsilon", graph_float(node, "epsilon", 1e-5f));
  const int inputs[2] = {quantise_make_reshape(&m, node->inputs[0], 3, rows, GRAPH_NONE),
                         quantise_make_constant(&m, GRAPH_F32, 1, &rows[2], ones)};
  int y = quantise_make(&m, GRAPH_OP_LAYER_NORMALIZATION, &norm, inputs, 2, GRAPH_NONE);
  y = quantise_make_reshape(&m, y, x.rank, x.dim, scales || shifts ? GRAPH_NONE : node->outputs[0]);
  if (scales)
    y = quantise_make_binary(&m, GRAPH_OP_MUL, y, beside(&m, node->inputs[1], &x),
                             shifts ? GRAPH_NONE : node->outputs[0]);
  if (shifts) quantise_make_binary(&m, GRAPH_OP_ADD, y, beside(&m, node->inputs[2], &x), node->outputs[0]);
  return true;
}

bool quantise_expand_layer_norm(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const int x = node->inputs[0], rank = g->tensors[x].rank;
  const int64_t given = graph_int(node, "axis", -1), axis = given < 0 ? given + rank : given;
  int64_t axes[GRAPH_RANK_MAX];
  if (!quantise_make_is_float(g, node, 0) || (!quantise_make_wants(node, 1) && !quantise_make_wants(node, 2)))
    return false;
  for (int d = (int)axis; d < rank; d++) axes[d - axis] = d;
  const int count = rank - (int)axis;
  quantise_make(&m, GRAPH_OP_LAYER_NORMALIZATION, node, node->inputs, node->input_count, node->outputs[0]);
  const int mean = quantise_make_reduce(&m, GRAPH_OP_REDUCE_MEAN, x, axes, count, true,
                                        quantise_make_wants(node, 1) ? node->outputs[1] : GRAPH_NONE);
  if (!quantise_make_wants(node, 2)) return true;
  const int centred = quantise_make_binary(&m, GRAPH_OP_SUB, x, mean, GRAPH_NONE),
            squares = quantise_make_binary(&m, GRAPH_OP_MUL, centred, centred, GRAPH_NONE),
            variance = quantise_make_reduce(&m, GRAPH_OP_REDUCE_MEAN, squares, axes, count, true, GRAPH_NONE),
            root = quantise_make_unary(&m, GRAPH_OP_SQRT, plus(&m, variance, graph_float(node, "epsilon", 1e-5f)),
                                       GRAPH_NONE);
  quantise_make_unary(&m, GRAPH_OP_RECIPROCAL, root, node->outputs[2]);
  return true;
}

// Row k has alpha / size from channel k - (size - 1) / 2 to k + size / 2.
static int band(const quantise_maker *m, int64_t channels, int64_t size, float weight) {
  float *values = WF_ARENA_ARRAY(m->g->arena, (size_t)(channels * channels), float);
  for (int64_t k = 0; k < channels; k++)
    for (int64_t c = 0; c < channels; c++)
      if (c >= k - (size - 1) / 2 && c <= k + size / 2) values[k * channels + c] = weight;
  return quantise_make_constant(m, GRAPH_F32, 4, (int64_t[]){channels, channels, 1, 1}, values);
}

bool quantise_expand_lrn(graph *g, const graph_node *node) {
  enum { CHANNELS_MAX = 2048 };
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]];
  if (!quantise_make_is_float(g, node, 0) || x.rank != 4 || x.dim[1] < 1 || x.dim[1] > CHANNELS_MAX) return false;
  const int64_t channels = x.dim[1], size = graph_int(node, "size", 1);
  const int squares = quantise_make_binary(&m, GRAPH_OP_MUL, node->inputs[0], node->inputs[0], GRAPH_NONE);
  float *bias = WF_ARENA_ARRAY(g->arena, (size_t)channels, float);
  for (int64_t c = 0; c < channels; c++) bias[c] = graph_float(node, "bias", 1);
  const int inputs[3] = {squares, band(&m, channels, size, graph_float(node, "alpha", 1e-4f) / (float)size),
                         quantise_make_constant(&m, GRAPH_F32, 1, &channels, bias)};
  graph_node conv = {0};
  graph_set_ints(g, &conv, "kernel_shape", (int64_t[]){1, 1}, 2);
  const int sums = quantise_make(&m, GRAPH_OP_CONV, &conv, inputs, 3, GRAPH_NONE);
  const int power = quantise_make_binary(&m, GRAPH_OP_POW, sums,
                                         quantise_make_number(&m, -graph_float(node, "beta", 0.75f)), GRAPH_NONE);
  quantise_make_binary(&m, GRAPH_OP_MUL, node->inputs[0], power, node->outputs[0]);
  return true;
}
