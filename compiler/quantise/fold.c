// SPDX-License-Identifier: Apache-2.0
// Batch normalisations and constants per channel into the convolution or product that they follow:
//   s * (w x + b) + t = (s w) x + (s b + t).
// A batch normalisation that follows something else becomes a convolution of 1 x 1 with one channel per group.
#include "compiler/quantise/fold.h"

#include <math.h>

// What is done to each channel of a result.
typedef struct channel_map {
  double *scale, *offset;
  int64_t count;
} channel_map;

static channel_map identity(graph *g, int64_t count) {
  channel_map map = {WF_ARENA_ARRAY(g->arena, (size_t)count, double), WF_ARENA_ARRAY(g->arena, (size_t)count, double),
                     count};
  for (int64_t i = 0; i < count; i++) map.scale[i] = 1;
  return map;
}

bool quantise_fold_per_channel(const graph *g, int constant, const graph_tensor *result, int axis, double *values) {
  const float *data = quantise_rewrite_floats(g, constant);
  if (data == NULL) return false;
  const graph_tensor *t = &g->tensors[constant];
  const int64_t count = result->dim[axis], elements = graph_elements(t);
  const int at = t->rank - (result->rank - axis);
  if (elements != 1 && (elements != count || at < 0 || t->dim[at] != count)) return false;
  if (t->rank > result->rank) return false;
  for (int64_t i = 0; i < count; i++) values[i] = (double)data[elements == 1 ? 0 : i];
  return true;
}

static bool of_batch_norm(graph *g, const graph_node *node, channel_map *map) {
  const float *p[4];
  for (int i = 0; i < 4; i++)
    if ((p[i] = quantise_rewrite_floats(g, node->inputs[1 + i])) == NULL) return false;
  const double epsilon = (double)graph_float(node, "epsilon", 1e-5F);
  *map = identity(g, graph_elements(&g->tensors[node->inputs[1]]));
  for (int64_t i = 0; i < map->count; i++) {
    map->scale[i] = (double)p[0][i] / sqrt((double)p[3][i] + epsilon);
    map->offset[i] = (double)p[1][i] - (double)p[2][i] * map->scale[i];
  }
  return true;
}

// The map of a reader of `x` (dimension `axis` has the channels); false: it is something else.
static bool map_of(graph *g, const graph_node *node, int x, int axis, channel_map *map) {
  const graph_tensor result = g->tensors[x];
  if (node->op == GRAPH_OP_BATCH_NORMALIZATION) return axis == 1 && node->inputs[0] == x && of_batch_norm(g, node, map);
  const bool first = node->input_count == 2 && node->inputs[0] == x;
  if (node->op != GRAPH_OP_MUL && node->op != GRAPH_OP_ADD &&
      !(first && (node->op == GRAPH_OP_DIV || node->op == GRAPH_OP_SUB)))
    return false;
  if (!graph_same_shape(&result, &g->tensors[node->outputs[0]])) return false;
  *map = identity(g, result.dim[axis]);
  const bool scales = node->op == GRAPH_OP_MUL || node->op == GRAPH_OP_DIV;
  double *values = scales ? map->scale : map->offset;
  if (!quantise_fold_per_channel(g, node->inputs[first ? 1 : 0], &result, axis, values)) return false;
  for (int64_t i = 0; i < map->count; i++) {
    if (node->op == GRAPH_OP_DIV) values[i] = 1 / values[i];
    if (node->op == GRAPH_OP_SUB) values[i] = -values[i];
  }
  return true;
}

// The channel of a weight's element, and how many elements from there on have the same one.
static int64_t channel_of(const graph_node *node, const graph_tensor *w, int64_t element, int64_t *run) {
  if (node->op == GRAPH_OP_CONV) return element / (*run = graph_elements(w) / w->dim[0]);
  *run = 1;
  if (node->op == GRAPH_OP_GEMM && graph_int(node, "transB", 0) == 0) return element % w->dim[1];
  if (node->op == GRAPH_OP_GEMM) return element / (*run = w->dim[1]);
  const int64_t window = *run = w->dim[2] * w->dim[3], groups = graph_int(node, "group", 1);
  const int64_t input = element / (window * w->dim[1]), group = input / (w->dim[0] / groups);  // [C,K/g,R,S]
  return group * w->dim[1] + element / window % w->dim[1];
}

static int scaled_weights(graph *g, const graph_node *node, const channel_map *map) {
  const graph_tensor w = g->tensors[node->inputs[1]];
  const float *old = w.data;
  const int64_t count = graph_elements(&w);
  float *values = WF_ARENA_ARRAY(g->arena, (size_t)count, float);
  int64_t run;
  for (int64_t i = 0; i < count; i += run) {
    const double scale = map->scale[channel_of(node, &w, i, &run)];
    for (int64_t k = i; k < i + run; k++) values[k] = (float)((double)old[k] * scale);
  }
  return quantise_rewrite_add_floats(g, w.name, w.rank, w.dim, values);
}

static int mapped_bias(graph *g, const graph_node *node, const channel_map *map) {
  const int old = node->input_count > 2 ? node->inputs[2] : GRAPH_NONE;
  const float *bias = quantise_rewrite_floats(g, old);
  const double beta = node->op == GRAPH_OP_GEMM ? (double)graph_float(node, "beta", 1) : 1;
  const bool single = old != GRAPH_NONE && graph_elements(&g->tensors[old]) == 1;
  float *values = WF_ARENA_ARRAY(g->arena, (size_t)map->count, float);
  for (int64_t i = 0; i < map->count; i++)
    values[i] = (float)((bias == NULL ? 0 : beta * (double)bias[single ? 0 : i]) * map->scale[i] + map->offset[i]);
  return quantise_rewrite_add_floats(g, node->name, 1, &map->count, values);
}

static bool takes_maps(const graph *g, const quantise_pins *pins, const graph_node *node) {
  if (node->op != GRAPH_OP_CONV && node->op != GRAPH_OP_CONV_TRANSPOSE && node->op != GRAPH_OP_GEMM) return false;
  if (quantise_rewrite_floats(g, node->inputs[1]) == NULL || quantise_pin_of(pins, node->inputs[1])->scale > 0)
    return false;
  if (quantise_pin_of(pins, node->outputs[0])->scale > 0) return false;
  if (node->input_count < 3 || node->inputs[2] == GRAPH_NONE) return true;
  const graph_tensor *bias = &g->tensors[node->inputs[2]], *result = &g->tensors[node->outputs[0]];
  const int64_t channels = result->dim[1], elements = graph_elements(bias);
  return quantise_rewrite_floats(g, node->inputs[2]) != NULL && (elements == 1 || elements == channels) &&
         (bias->rank == 0 || bias->dim[bias->rank - 1] == elements);
}

static void apply(graph *g, graph_node *node, const channel_map *map, int result) {
  const int inputs[3] = {node->inputs[0], scaled_weights(g, node, map), mapped_bias(g, node, map)};
  node->inputs = WF_ARENA_ARRAY(g->arena, 3, int);
  for (int i = 0; i < 3; i++) node->inputs[i] = inputs[i];
  node->input_count = 3;
  if (node->op == GRAPH_OP_GEMM) graph_set_float(g, node, "beta", 1);
  node->outputs[0] = result;
}

// One convolution with the chain of constants behind it; `dead` marks the nodes that it swallows.
static void fold_chain(graph *g, const quantise_pins *pins, const quantise_rewrite_index *index, int n, bool *dead) {
  while (takes_maps(g, pins, &g->nodes[n])) {
    graph_node *node = &g->nodes[n];
    const graph_node *reader = quantise_rewrite_only_reader(g, index, node->outputs[0]);
    channel_map map;
    if (reader == NULL || !map_of(g, reader, node->outputs[0], 1, &map)) return;
    dead[reader - g->nodes] = true;
    apply(g, node, &map, reader->outputs[0]);
  }
}

// y = s x + t as a convolution of 1 x 1, one channel per group.
static void to_depthwise(graph *g, graph_node *node) {
  channel_map map;
  if (g->tensors[node->inputs[0]].rank != 4 || !of_batch_norm(g, node, &map)) return;
  float *weights = WF_ARENA_ARRAY(g->arena, (size_t)map.count, float);
  float *bias = WF_ARENA_ARRAY(g->arena, (size_t)map.count, float);
  for (int64_t i = 0; i < map.count; i++) {
    weights[i] = (float)map.scale[i];
    bias[i] = (float)map.offset[i];
  }
  const int inputs[3] = {node->inputs[0],
                         quantise_rewrite_add_floats(g, node->name, 4, (int64_t[]){map.count, 1, 1, 1}, weights),
                         quantise_rewrite_add_floats(g, node->name, 1, &map.count, bias)};
  for (int i = 0; i < 3; i++) node->inputs[i] = inputs[i];
  node->input_count = 3;
  node->op = GRAPH_OP_CONV;
  node->attribute_count = 0;
  graph_set_ints(g, node, "kernel_shape", (int64_t[]){1, 1}, 2);
  graph_set_int(g, node, "group", map.count);
}

void quantise_fold(graph *model, const quantise_pins *pins) {
  const quantise_rewrite_index index = quantise_rewrite_index_of(model);
  bool *dead = WF_ARENA_ARRAY(model->arena, (size_t)model->node_count + 1, bool);
  for (int n = 0; n < model->node_count; n++)
    if (!dead[n]) fold_chain(model, pins, &index, n, dead);
  for (int n = 0; n < model->node_count; n++)
    if (!dead[n] && model->nodes[n].op == GRAPH_OP_BATCH_NORMALIZATION) to_depthwise(model, &model->nodes[n]);
  int count;
  const graph_node *nodes = quantise_rewrite_begin(model, &count);
  for (int n = 0; n < count; n++)
    if (!dead[n]) quantise_rewrite_keep(model, &nodes[n]);
  quantise_fold_factors(model, pins);
  quantise_fold_channels(model, pins);
  quantise_fold_positions(model, pins);
  quantise_fold_repeats(model, pins);
}
