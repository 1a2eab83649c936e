// SPDX-License-Identifier: Apache-2.0
// Helpers of the passes: see rewrite.h.
#include "compiler/quantise/rewrite.h"

#include <string.h>

#include "compiler/graph/names.h"

quantise_rewrite_index quantise_rewrite_index_of(const graph *g) {
  const size_t count = (size_t)g->tensor_count + 1;
  quantise_rewrite_index index = {WF_ARENA_ARRAY(g->arena, count, int), WF_ARENA_ARRAY(g->arena, count, int),
                                  WF_ARENA_ARRAY(g->arena, count, int), g->nodes};
  for (int t = 0; t < g->tensor_count; t++) index.maker[t] = index.reader[t] = GRAPH_NONE;
  for (int n = 0; n < g->node_count; n++) {
    const graph_node *node = &g->nodes[n];
    for (int i = 0; i < node->input_count; i++) {
      if (node->inputs[i] == GRAPH_NONE) continue;
      index.reader[node->inputs[i]] = n;
      index.uses[node->inputs[i]]++;
    }
    for (int i = 0; i < node->output_count; i++)
      if (node->outputs[i] != GRAPH_NONE) index.maker[node->outputs[i]] = n;
  }
  for (int i = 0; i < g->output_count; i++) index.uses[g->outputs[i]]++;
  return index;
}

graph_node *quantise_rewrite_begin(graph *g, int *count) {
  graph_node *nodes = g->nodes;
  *count = g->node_count;
  g->nodes = NULL;
  g->node_count = 0;
  g->node_room = 0;
  graph_index_nodes(g);
  return nodes;
}

graph_node *quantise_rewrite_keep(graph *g, const graph_node *node) {
  g->nodes = wf_arena_grow(g->arena, g->nodes, (size_t)g->node_count, &g->node_room, sizeof g->nodes[0]);
  g->nodes[g->node_count] = *node;
  graph_names_add(g->node_names, node->name, g->node_count);
  return &g->nodes[g->node_count++];
}

const float *quantise_rewrite_floats(const graph *g, int tensor) {
  if (tensor == GRAPH_NONE || g->tensors[tensor].type != GRAPH_F32) return NULL;
  return g->tensors[tensor].data;
}

static int64_t integer_at(const graph_tensor *t, int64_t i) {
  switch (t->type) {
    case GRAPH_I64:
      return ((const int64_t *)t->data)[i];
    case GRAPH_I32:
      return ((const int32_t *)t->data)[i];
    case GRAPH_I8:
      return ((const int8_t *)t->data)[i];
    case GRAPH_U8:
      return ((const uint8_t *)t->data)[i];
    default:
      return 0;
  }
}

bool quantise_rewrite_number(const graph *g, int tensor, float *value) {
  if (tensor == GRAPH_NONE) return false;
  const graph_tensor *t = &g->tensors[tensor];
  if (t->data == NULL || graph_elements(t) != 1) return false;
  if (t->type == GRAPH_F32)
    *value = *(const float *)t->data;
  else if (t->type == GRAPH_F64)
    *value = (float)*(const double *)t->data;
  else
    *value = (float)integer_at(t, 0);
  return true;
}

int quantise_rewrite_integers(const graph *g, int tensor, int64_t *values, int room) {
  if (tensor == GRAPH_NONE || g->tensors[tensor].data == NULL) return -1;
  const graph_tensor *t = &g->tensors[tensor];
  if (t->type != GRAPH_I64 && t->type != GRAPH_I32 && t->type != GRAPH_I8 && t->type != GRAPH_U8) return -1;
  const int64_t count = graph_elements(t);
  for (int i = 0; i < count && i < room; i++) values[i] = integer_at(t, i);
  return (int)count;
}

static const char *unused_name(const graph *g, graph_names *names, const char *base, const char *suffix) {
  return graph_names_unused(names, g->arena, wf_arena_format(g->arena, "%s%s", base, suffix), "_", 2);
}

const char *quantise_rewrite_name(graph *g, const char *base, const char *suffix) {
  return unused_name(g, g->node_names, base, suffix);
}

int quantise_rewrite_tensor(graph *g, const char *base, const char *suffix, graph_type type, int rank,
                            const int64_t *dims) {
  graph_tensor tensor = {.name = unused_name(g, g->tensor_names, base, suffix), .type = type, .rank = rank};
  for (int i = 0; i < rank; i++) tensor.dim[i] = dims[i];
  return graph_add_tensor(g, &tensor);
}

int quantise_rewrite_add_floats(graph *g, const char *name, int rank, const int64_t *dims, const float *values) {
  const int tensor = quantise_rewrite_tensor(g, name, "", GRAPH_F32, rank, dims);
  g->tensors[tensor].data = values;
  return tensor;
}

int quantise_rewrite_add_integers(graph *g, const char *name, const int64_t *values, int count) {
  int64_t *copy = WF_ARENA_ARRAY(g->arena, (size_t)count + 1, int64_t);
  if (count != 0) memcpy(copy, values, (size_t)count * sizeof *copy);
  const int tensor = quantise_rewrite_tensor(g, name, "", GRAPH_I64, 1, (int64_t[]){count});
  g->tensors[tensor].data = copy;
  return tensor;
}

graph_node *quantise_rewrite_only_reader(const graph *g, const quantise_rewrite_index *index, int tensor) {
  if (index->uses[tensor] != 1 || index->reader[tensor] == GRAPH_NONE) return NULL;
  return &g->nodes[index->reader[tensor]];
}

graph_node *quantise_rewrite_maker(const graph *g, const quantise_rewrite_index *index, int tensor) {
  if (tensor == GRAPH_NONE || index->maker[tensor] == GRAPH_NONE) return NULL;
  return &g->nodes[index->maker[tensor]];
}

int quantise_rewrite_drop_dead(graph *g) {
  bool *live = WF_ARENA_ARRAY(g->arena, (size_t)g->tensor_count + 1, bool);
  bool *keep = WF_ARENA_ARRAY(g->arena, (size_t)g->node_count + 1, bool);
  for (int i = 0; i < g->output_count; i++) live[g->outputs[i]] = true;
  for (int n = g->node_count - 1; n >= 0; n--) {
    const graph_node *node = &g->nodes[n];
    for (int i = 0; i < node->output_count; i++) keep[n] |= node->outputs[i] != GRAPH_NONE && live[node->outputs[i]];
    for (int i = 0; keep[n] && i < node->input_count; i++)
      if (node->inputs[i] != GRAPH_NONE) live[node->inputs[i]] = true;
  }
  int count, dropped = 0;
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++) {
    if (keep[n])
      quantise_rewrite_keep(g, &nodes[n]);
    else
      dropped++;
  }
  return dropped;
}

// What auto_pad says: the padding that makes ceil(size / stride) results, its odd row in front or behind.
static void automatic_pads(const graph_tensor *x, const char *how, quantise_rewrite_window *w) {
  for (int i = 0; i < 2; i++) {
    const int64_t size = x->dim[2 + i], results = (size + w->strides[i] - 1) / w->strides[i];
    const int64_t all = (results - 1) * w->strides[i] + w->dilations[i] * (w->kernel[i] - 1) + 1 - size;
    const int64_t sum = all < 0 ? 0 : all, small = sum / 2, large = sum - small;
    w->pads[i] = strcmp(how, "SAME_LOWER") == 0 ? large : small;
    w->pads[2 + i] = sum - w->pads[i];
  }
}

// The right and lower padding that a pooling with ceil_mode has.
static void ceil_pads(const graph_tensor *x, const graph_tensor *y, quantise_rewrite_window *w) {
  for (int i = 0; i < 2; i++) {
    const int64_t reach = (y->dim[2 + i] - 1) * w->strides[i] + w->dilations[i] * (w->kernel[i] - 1) + 1;
    const int64_t more = reach - x->dim[2 + i] - w->pads[i];
    if (more > w->pads[2 + i]) w->pads[2 + i] = more;
  }
}

bool quantise_rewrite_window_of(const graph *g, const graph_node *node, quantise_rewrite_window *w) {
  const graph_tensor *x = &g->tensors[node->inputs[0]];
  if (x->rank != 4) return false;
  *w = (quantise_rewrite_window){.strides = {1, 1}, .dilations = {1, 1}, .groups = graph_int(node, "group", 1)};
  if (graph_ints(node, "kernel_shape", w->kernel, 2) == 0 && node->input_count > 1)
    for (int i = 0; i < 2; i++) w->kernel[i] = g->tensors[node->inputs[1]].dim[2 + i];
  graph_ints(node, "strides", w->strides, 2);
  graph_ints(node, "dilations", w->dilations, 2);
  graph_ints(node, "pads", w->pads, 4);
  const char *how = graph_text(node, "auto_pad", "NOTSET");
  if (strncmp(how, "SAME", 4) == 0) automatic_pads(x, how, w);
  if (graph_int(node, "ceil_mode", 0) != 0) ceil_pads(x, &g->tensors[node->outputs[0]], w);
  return true;
}
