// SPDX-License-Identifier: Apache-2.0
// Nodes that change nothing.
#include <string.h>

#include "compiler/graph/element.h"
#include "compiler/onnx/private.h"

static bool is_positive(const graph *g, const graph_node *node, int input) {
  if (input >= node->input_count || node->inputs[input] == GRAPH_NONE) return true;
  const graph_tensor *t = &g->tensors[node->inputs[input]];
  for (int64_t i = 0; t->data != NULL && i < graph_elements(t); i++)
    if (graph_int_at(t->type, t->data, (size_t)i) < 0) return false;
  return t->data != NULL;
}

static bool keeps_order(const graph_node *node, int rank) {
  int64_t perm[GRAPH_RANK_MAX];
  int count = graph_ints(node, "perm", perm, GRAPH_RANK_MAX);
  for (int d = 0; d < count && d < GRAPH_RANK_MAX; d++)
    if (perm[d] != d) return false;
  return count == rank || rank < 2;
}

bool onnx_is_identity(const graph *g, const graph_node *node) {
  if (node->input_count == 0 || node->output_count != 1 || node->inputs[0] == GRAPH_NONE ||
      node->outputs[0] == GRAPH_NONE)
    return false;
  const graph_tensor *x = &g->tensors[node->inputs[0]], *y = &g->tensors[node->outputs[0]];
  if (x->type != y->type || !graph_same_shape(x, y)) return false;
  switch (node->op) {
    case GRAPH_OP_IDENTITY:
    case GRAPH_OP_DROPOUT:
    case GRAPH_OP_CAST:
    case GRAPH_OP_RESHAPE:
    case GRAPH_OP_FLATTEN:
    case GRAPH_OP_SQUEEZE:
    case GRAPH_OP_UNSQUEEZE:
    case GRAPH_OP_EXPAND:
    case GRAPH_OP_TILE:
      return true;
    case GRAPH_OP_CONCAT:
    case GRAPH_OP_SUM:
    case GRAPH_OP_MAX:
    case GRAPH_OP_MIN:
    case GRAPH_OP_MEAN:
      return node->input_count == 1;
    case GRAPH_OP_SLICE:
      return is_positive(g, node, 4);
    case GRAPH_OP_PAD:
      return is_positive(g, node, 1);
    case GRAPH_OP_TRANSPOSE:
      return keeps_order(node, x->rank);
    default:
      return false;
  }
}
