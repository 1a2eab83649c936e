// SPDX-License-Identifier: Apache-2.0
// Turns other forms of operators into forms that the converter knows; all in float, and equal to what they replace.
//   ReduceMean over an image                 GlobalAveragePool
//   Sum, Add of two                          Add
//   ConvTranspose                            Conv and DepthToSpace (transposed.c)
//   LSTM                                     products and gates, step by step (unroll.c)
//   Conv on [N, C, L]                        Conv on [N, C, 1, L]
//   Reshape, Transpose of channels to the end    Transpose to channels last, Reshape
//   QuantizeLinear, QLinearConv, ...         float operators between pinned tensors (pins.c)
#include "compiler/quantise/prepare.h"

#include <string.h>

#include "compiler/quantise/expand.h"
#include "compiler/quantise/quantise.h"

static int reshape_to(graph *g, const char *name, int x, int rank, const int64_t *dims, int out) {
  const int shape = quantise_rewrite_add_integers(g, wf_arena_format(g->arena, "%s.shape", name), dims, rank);
  if (out == GRAPH_NONE) out = quantise_rewrite_tensor(g, name, "", g->tensors[x].type, rank, dims);
  graph_add_node(g, GRAPH_OP_RESHAPE, quantise_rewrite_name(g, name, ""), (int[]){x, shape}, 2, &out, 1);
  return out;
}

static bool prepare_mean(graph *g, const quantise_rewrite_index *index, const graph_node *node) {
  (void)index;
  int64_t axes[GRAPH_RANK_MAX];
  const graph_tensor x = g->tensors[node->inputs[0]];
  const int count = graph_ints(node, "axes", axes, GRAPH_RANK_MAX);
  if (x.rank != 4 || count != 2) return false;
  for (int i = 0; i < 2; i++) axes[i] += axes[i] < 0 ? 4 : 0;
  if (axes[0] + axes[1] != 5 || axes[0] == axes[1] || axes[0] == 1 || axes[1] == 1) return false;
  const int64_t pooled[4] = {x.dim[0], x.dim[1], 1, 1};
  const bool keeps = graph_int(node, "keepdims", 1) != 0;
  const int mean = keeps ? node->outputs[0] : quantise_rewrite_tensor(g, node->name, ".pooled", GRAPH_F32, 4, pooled);
  graph_add_node(g, GRAPH_OP_GLOBAL_AVERAGE_POOL, node->name, node->inputs, 1, &mean, 1);
  if (!keeps) reshape_to(g, wf_arena_format(g->arena, "%s.squeezed", node->name), mean, 2, pooled, node->outputs[0]);
  return true;
}

static bool prepare_sum(graph *g, const quantise_rewrite_index *index, const graph_node *node) {
  (void)index;
  if (node->input_count != 2) return false;
  graph_add_node(g, GRAPH_OP_ADD, node->name, node->inputs, 2, node->outputs, 1);
  return true;
}

static void copy_attributes(graph *g, graph_node *to, const graph_node *from) {
  to->attributes = WF_ARENA_ARRAY(g->arena, (size_t)from->attribute_count + 1, graph_attribute);
  if (from->attribute_count != 0)
    memcpy(to->attributes, from->attributes, (size_t)from->attribute_count * sizeof *to->attributes);
  to->attribute_count = from->attribute_count;
  to->attribute_room = from->attribute_count + 1;
}

// One number of a list becomes two: the missing rows' one in front.
static void lift_attribute(graph *g, graph_node *node, const char *name, int64_t row) {
  int64_t old[2], values[4];
  const int count = graph_ints(node, name, old, 2);
  if (count == 0) return;
  for (int i = 0; i < count; i++) {
    values[2 * i] = row;
    values[2 * i + 1] = old[i];
  }
  graph_set_ints(g, node, name, values, 2 * count);
}

// One row has no neighbours, so its dilation is free: the array takes equal ones.
static void lift_dilation(graph *g, graph_node *node) {
  int64_t old = 1;
  if (graph_ints(node, "dilations", &old, 1) == 1) graph_set_ints(g, node, "dilations", (int64_t[]){old, old}, 2);
}

static bool prepare_conv1d(graph *g, const quantise_rewrite_index *index, const graph_node *node) {
  (void)index;
  const graph_tensor x = g->tensors[node->inputs[0]], w = g->tensors[node->inputs[1]], y = g->tensors[node->outputs[0]];
  if (x.rank != 3 || w.data == NULL || w.type != GRAPH_F32) return false;
  const int weights = quantise_rewrite_add_floats(g, w.name, 4, (int64_t[]){w.dim[0], w.dim[1], 1, w.dim[2]}, w.data);
  const int image = reshape_to(g, wf_arena_format(g->arena, "%s.image", node->name), node->inputs[0], 4,
                               (int64_t[]){x.dim[0], x.dim[1], 1, x.dim[2]}, GRAPH_NONE);
  const int64_t dims[4] = {y.dim[0], y.dim[1], 1, y.dim[2]};
  const int result = quantise_rewrite_tensor(g, node->name, ".result", GRAPH_F32, 4, dims);
  const int inputs[3] = {image, weights, node->input_count > 2 ? node->inputs[2] : GRAPH_NONE};
  graph_node *conv = graph_add_node(g, GRAPH_OP_CONV, node->name, inputs, node->input_count, &result, 1);
  copy_attributes(g, conv, node);
  lift_attribute(g, conv, "kernel_shape", 1);
  lift_attribute(g, conv, "strides", 1);
  lift_dilation(g, conv);
  lift_attribute(g, conv, "pads", 0);
  reshape_to(g, wf_arena_format(g->arena, "%s.line", node->name), result, 3, y.dim, node->outputs[0]);
  return true;
}

// The channels are dimensions 1 to `last` of a reshaped image; 0: they are not whole dimensions.
static int channel_dimensions(const graph_tensor *image, const graph_tensor *shaped) {
  int64_t product = 1;
  if (image->rank != 4 || shaped->dim[0] != image->dim[0]) return 0;
  for (int i = 1; i < shaped->rank; i++)
    if ((product *= shaped->dim[i]) == image->dim[1] && i + 1 < shaped->rank) return i;
  return 0;
}

// Reshape(image), then its channels to the end: the other way round the image's channels go last first, which costs
// nothing where images lie that way.
static bool prepare_transpose(graph *g, const quantise_rewrite_index *index, const graph_node *node) {
  const int maker = index->maker[node->inputs[0]];
  if (maker == GRAPH_NONE || index->uses[node->inputs[0]] != 1) return false;
  const graph_node *shape = &index->nodes[maker];
  if (shape->op != GRAPH_OP_RESHAPE && shape->op != GRAPH_OP_FLATTEN) return false;
  const graph_tensor image = g->tensors[shape->inputs[0]], shaped = g->tensors[node->inputs[0]];
  int64_t perm[GRAPH_RANK_MAX];
  const int rank = graph_ints(node, "perm", perm, GRAPH_RANK_MAX), channels = channel_dimensions(&image, &shaped);
  if (channels == 0 || rank != shaped.rank || perm[0] != 0) return false;
  for (int i = 1; i < rank; i++)
    if (perm[i] != (i < rank - channels ? channels + i : i - (rank - channels) + 1)) return false;
  const int64_t last[4] = {image.dim[0], image.dim[2], image.dim[3], image.dim[1]};
  const int moved = quantise_rewrite_tensor(g, node->name, ".nhwc", GRAPH_F32, 4, last);
  graph_node *move =
      graph_add_node(g, GRAPH_OP_TRANSPOSE, quantise_rewrite_name(g, node->name, ".nhwc"), shape->inputs, 1, &moved, 1);
  graph_set_ints(g, move, "perm", (int64_t[]){0, 2, 3, 1}, 4);
  reshape_to(g, node->name, moved, rank, g->tensors[node->outputs[0]].dim, node->outputs[0]);
  return true;
}

// Behind the folding of constants into it.
static bool prepare_conv3d(graph *g, const quantise_rewrite_index *index, const graph_node *node) {
  (void)index;
  return quantise_expand_conv(g, node);
}

// What does not go by phases: groups, dilations, two strides.
static bool prepare_spread(graph *g, const quantise_rewrite_index *index, const graph_node *node) {
  (void)index;
  return quantise_expand_spread(g, node);
}

// What is left of them: not of an image.
static bool prepare_batch_norm(graph *g, const quantise_rewrite_index *index, const graph_node *node) {
  (void)index;
  return quantise_expand_any_batch_norm(g, node);
}

static const struct {
  graph_op op;
  bool (*prepare)(graph *, const quantise_rewrite_index *, const graph_node *);
} rules[] = {
    {GRAPH_OP_REDUCE_MEAN, prepare_mean},
    {GRAPH_OP_SUM, prepare_sum},
    {GRAPH_OP_CONV, prepare_conv1d},
    {GRAPH_OP_CONV, prepare_conv3d},
    {GRAPH_OP_BATCH_NORMALIZATION, prepare_batch_norm},
    {GRAPH_OP_TRANSPOSE, prepare_transpose},
    {GRAPH_OP_CONV_TRANSPOSE, quantise_prepare_conv_transpose},
    {GRAPH_OP_CONV_TRANSPOSE, prepare_spread},
    {GRAPH_OP_LSTM, quantise_prepare_lstm},
};

static bool prepare_node(graph *g, const quantise_rewrite_index *index, const graph_node *node) {
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
    if (rules[i].op == node->op && rules[i].prepare(g, index, node)) return true;
  return false;
}

bool quantise_prepare(graph *model, quantise_pins *pins, wf_diag *diag) {
  quantise_narrow(model);
  quantise_expand(model);
  if (!quantise_prepare_pins(model, pins, diag)) return false;
  quantise_expand(model);  // what QLinear operators with computed scales have become
  quantise_fold(model, pins);
  const quantise_rewrite_index index = quantise_rewrite_index_of(model);
  int count;
  const graph_node *nodes = quantise_rewrite_begin(model, &count);
  for (int n = 0; n < count; n++)
    if (!prepare_node(model, &index, &nodes[n])) quantise_rewrite_keep(model, &nodes[n]);
  quantise_rewrite_drop_dead(model);
  return graph_verify(model, diag);
}
