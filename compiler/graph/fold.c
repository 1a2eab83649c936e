// SPDX-License-Identifier: Apache-2.0
// Computes constants beforehand and removes nodes without readers.
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/call.h"
#include "compiler/graph/run.h"

// Folding these would cost time or hide from later stages how a constant is quantised.
static bool stays(graph_op op) {
  switch (op) {
    case GRAPH_OP_DEQUANTIZE_LINEAR:
    case GRAPH_OP_DEQUANTIZE:
    case GRAPH_OP_CONV:
    case GRAPH_OP_CONV_TRANSPOSE:
    case GRAPH_OP_CONV_INTEGER:
    case GRAPH_OP_QLINEAR_CONV:
    case GRAPH_OP_LSTM:
    case GRAPH_OP_GRU:
    case GRAPH_OP_RNN:
    case GRAPH_OP_EINSUM:
    case GRAPH_OP_LRN:
    case GRAPH_OP_LP_POOL:
    case GRAPH_OP_GRID_SAMPLE:
    case GRAPH_OP_ROI_ALIGN:
    case GRAPH_OP_MAX_POOL:
    case GRAPH_OP_AVERAGE_POOL:
      return true;
    default:
      return !graph_op_info(op)->of_onnx;
  }
}

// Products of small matrices fold: work is what both operands and the result suggest.
static bool is_cheap(const graph *g, const graph_node *node) {
  if (node->op != GRAPH_OP_MAT_MUL && node->op != GRAPH_OP_GEMM && node->op != GRAPH_OP_MAT_MUL_INTEGER &&
      node->op != GRAPH_OP_QLINEAR_MAT_MUL)
    return true;
  double work = 1;
  for (int i = 0; i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE) work *= (double)graph_elements(&g->tensors[node->inputs[i]]) + 1;
  return work < 1e12;
}

static bool can_fold(const graph *g, const graph_node *node, size_t limit) {
  bool of_shape = node->op == GRAPH_OP_SHAPE || node->op == GRAPH_OP_SIZE;
  if (stays(node->op) || !is_cheap(g, node)) return false;
  for (int i = 0; i < node->input_count && !of_shape; i++)
    if (node->inputs[i] != GRAPH_NONE && g->tensors[node->inputs[i]].data == NULL) return false;
  for (int o = 0; o < node->output_count; o++)
    if (node->outputs[o] != GRAPH_NONE && graph_bytes(&g->tensors[node->outputs[o]]) > limit) return false;
  return true;
}

bool graph_fold_node(graph *g, const graph_node *node, size_t limit) {
  if (!can_fold(g, node, limit)) return false;
  wf_arena *arena = wf_arena_create();
  graph_call c;
  graph_call_prepare(&c, g, node, arena);
  for (int o = 0; o < node->output_count; o++)
    if (node->outputs[o] != GRAPH_NONE) c.to[o] = wf_arena_alloc(g->arena, graph_bytes(c.out[o]) + 1, 1);
  bool ok = graph_call_run(&c);
  for (int o = 0; o < node->output_count && ok; o++)
    if (node->outputs[o] != GRAPH_NONE) g->tensors[node->outputs[o]].data = c.to[o];
  wf_arena_destroy(arena);
  return ok;
}

int graph_fold(graph *g, size_t limit) {
  int kept = 0, count = g->node_count;
  for (int n = 0; n < count; n++)
    if (!graph_fold_node(g, &g->nodes[n], limit)) g->nodes[kept++] = g->nodes[n];
  g->node_count = kept;
  graph_index_nodes(g);
  return count - kept;
}

static bool is_needed(const graph_node *node, const bool *needed) {
  for (int o = 0; o < node->output_count; o++)
    if (node->outputs[o] != GRAPH_NONE && needed[node->outputs[o]]) return true;
  return false;
}

void graph_drop_unused(graph *g) {
  bool *needed = WF_NEW_ARRAY((size_t)g->tensor_count + 1, bool), *keep = WF_NEW_ARRAY((size_t)g->node_count + 1, bool);
  int kept = 0;
  for (int o = 0; o < g->output_count; o++) needed[g->outputs[o]] = true;
  for (int n = g->node_count - 1; n >= 0; n--) {
    const graph_node *node = &g->nodes[n];
    keep[n] = is_needed(node, needed);
    for (int i = 0; i < node->input_count && keep[n]; i++)
      if (node->inputs[i] != GRAPH_NONE) needed[node->inputs[i]] = true;
  }
  for (int n = 0; n < g->node_count; n++)
    if (keep[n]) g->nodes[kept++] = g->nodes[n];
  g->node_count = kept;
  graph_index_nodes(g);
  wf_free(needed);
  wf_free(keep);
}

static void mark(bool *used, const int *tensors, int count) {
  for (int i = 0; i < count; i++)
    if (tensors[i] != GRAPH_NONE) used[tensors[i]] = true;
}

static void renumber(int *tensors, int count, const int *to) {
  for (int i = 0; i < count; i++)
    if (tensors[i] != GRAPH_NONE) tensors[i] = to[tensors[i]];
}

void graph_compact(graph *g) {
  size_t count = (size_t)g->tensor_count + 1;
  bool *used = WF_NEW_ARRAY(count, bool);
  int *to = WF_NEW_ARRAY(count, int), kept = 0;
  mark(used, g->inputs, g->input_count);
  mark(used, g->outputs, g->output_count);
  for (int n = 0; n < g->node_count; n++) {
    mark(used, g->nodes[n].inputs, g->nodes[n].input_count);
    mark(used, g->nodes[n].outputs, g->nodes[n].output_count);
  }
  for (int t = 0; t < g->tensor_count; t++) {
    to[t] = kept;
    if (used[t]) g->tensors[kept++] = g->tensors[t];
  }
  g->tensor_count = kept;
  graph_index_tensors(g);
  renumber(g->inputs, g->input_count, to);
  renumber(g->outputs, g->output_count, to);
  for (int n = 0; n < g->node_count; n++) {
    renumber(g->nodes[n].inputs, g->nodes[n].input_count, to);
    renumber(g->nodes[n].outputs, g->nodes[n].output_count, to);
  }
  wf_free(used);
  wf_free(to);
}
