// SPDX-License-Identifier: Apache-2.0
// Multiply-accumulates and parameters of a graph.
#include "workloads/networks/networks.h"

static double elements(const graph *g, int tensor) { return (double)graph_elements(&g->tensors[tensor]); }

// Of a convolution: each result is a sum over the window and the channels of its group.
static double conv_macs(const graph *g, const graph_node *node, bool channels_first) {
  const graph_tensor *w = &g->tensors[node->inputs[1]];
  const int64_t results = channels_first ? w->dim[0] : w->dim[w->rank - 1];
  return elements(g, node->outputs[0]) * ((double)graph_elements(w) / (double)results);
}

static double product_macs(const graph *g, const graph_node *node, bool transposed) {
  const graph_tensor *a = &g->tensors[node->inputs[0]];
  return elements(g, node->outputs[0]) * (double)a->dim[transposed && a->rank > 1 ? a->rank - 2 : a->rank - 1];
}

static double lstm_macs(const graph *g, const graph_node *node) {
  const graph_tensor *x = &g->tensors[node->inputs[0]];
  return (double)(x->dim[0] * x->dim[1]) * (elements(g, node->inputs[1]) + elements(g, node->inputs[2]));
}

// QConv before pooling: its results are more than its output tensor has.
static double qconv_macs(const graph *g, const graph_node *node) {
  const graph_tensor *x = &g->tensors[node->inputs[0]], *w = &g->tensors[node->inputs[1]];
  int64_t pads[4] = {0}, strides[2] = {1, 1}, dilations[2] = {1, 1}, results = x->dim[0] * w->dim[3];
  graph_ints(node, "pads", pads, 4);
  graph_ints(node, "strides", strides, 2);
  graph_ints(node, "dilations", dilations, 2);
  for (int i = 0; i < 2; i++)
    results *= (x->dim[1 + i] + pads[i] + pads[2 + i] - dilations[i] * (w->dim[i] - 1) - 1) / strides[i] + 1;
  return (double)results * (double)(w->dim[0] * w->dim[1] * w->dim[2]);
}

double networks_node_macs(const graph *g, const graph_node *node) {
  switch (node->op) {
    case GRAPH_OP_CONV:
    case GRAPH_OP_CONV_INTEGER:
      return conv_macs(g, node, true);
    case GRAPH_OP_CONV_TRANSPOSE:  // each input meets the window
      return elements(g, node->inputs[0]) * elements(g, node->inputs[1]) / (double)g->tensors[node->inputs[1]].dim[0];
    case GRAPH_OP_GEMM:
    case GRAPH_OP_QMAT_MUL:
      return product_macs(g, node, graph_int(node, "transA", 0) != 0);
    case GRAPH_OP_MAT_MUL:
    case GRAPH_OP_MAT_MUL_INTEGER:
      return product_macs(g, node, false);
    case GRAPH_OP_LSTM:
      return lstm_macs(g, node);
    case GRAPH_OP_QCONV:
      return qconv_macs(g, node);
    default:
      return 0;
  }
}

double networks_macs(const graph *g) {
  double sum = 0;
  for (int i = 0; i < g->node_count; i++) sum += networks_node_macs(g, &g->nodes[i]);
  return sum;
}

// Constants of more than one number; a batch normalisation's statistics (inputs 3 and 4) are not trained, nor are
// masks and tables of positions, which are constants of an element-wise operator of four dimensions or more.
static bool is_parameter(const graph *g, const graph_node *node, int input) {
  if (node->inputs[input] == GRAPH_NONE) return false;
  const graph_tensor *t = &g->tensors[node->inputs[input]];
  if (t->data == NULL || t->type != GRAPH_F32 || graph_elements(t) == 1) return false;
  if (node->op == GRAPH_OP_BATCH_NORMALIZATION && input > 2) return false;
  return !((node->op == GRAPH_OP_ADD || node->op == GRAPH_OP_MUL) && t->rank >= 4);
}

double networks_parameters(const graph *g) {
  bool *seen = WF_ARENA_ARRAY(g->arena, (size_t)g->tensor_count + 1, bool);
  double sum = 0;
  for (int i = 0; i < g->node_count; i++)
    for (int k = 0; k < g->nodes[i].input_count; k++)
      if (is_parameter(g, &g->nodes[i], k) && !seen[g->nodes[i].inputs[k]]) {
        seen[g->nodes[i].inputs[k]] = true;
        sum += elements(g, g->nodes[i].inputs[k]);
      }
  return sum;
}
