// SPDX-License-Identifier: Apache-2.0
// Operators on f64 that the hart has on f32 alone: they are computed in f32, between casts. What moves elements, casts
// and arithmetic of two operands stay: the hart has them in f64.
#include "compiler/graph/call.h"
#include "compiler/quantise/expand.h"

static bool stays(const graph_node *node) {
  static const graph_op ops[] = {GRAPH_OP_ADD,     GRAPH_OP_SUB, GRAPH_OP_MUL,           GRAPH_OP_DIV,
                                 GRAPH_OP_MIN,     GRAPH_OP_MAX, GRAPH_OP_MOD,           GRAPH_OP_LESS,
                                 GRAPH_OP_GREATER, GRAPH_OP_SUM, GRAPH_OP_LESS_OR_EQUAL, GRAPH_OP_GREATER_OR_EQUAL};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (ops[i] == node->op) return true;
  return graph_call_takes_any(node->op);
}

static bool has_wide(const graph *g, const int *tensors, int count) {
  for (int i = 0; i < count; i++)
    if (tensors[i] != GRAPH_NONE && g->tensors[tensors[i]].type == GRAPH_F64) return true;
  return false;
}

static int *narrow_inputs(const quantise_maker *m) {
  const graph_node *node = m->node;
  int *inputs = WF_ARENA_ARRAY(m->g->arena, (size_t)node->input_count + 1, int);
  for (int i = 0; i < node->input_count; i++) {
    inputs[i] = node->inputs[i];
    if (has_wide(m->g, &inputs[i], 1)) inputs[i] = quantise_make_cast(m, inputs[i], GRAPH_F32, GRAPH_NONE);
  }
  return inputs;
}

static void narrow(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  graph_node now = *node;
  now.inputs = narrow_inputs(&m);
  now.outputs = WF_ARENA_ARRAY(g->arena, (size_t)node->output_count + 1, int);
  for (int o = 0; o < node->output_count; o++) {
    const int out = now.outputs[o] = node->outputs[o];
    if (!has_wide(g, &out, 1)) continue;
    const graph_tensor wide = g->tensors[out];
    now.outputs[o] = quantise_rewrite_tensor(g, wide.name, ".f32", GRAPH_F32, wide.rank, wide.dim);
  }
  quantise_rewrite_keep(g, &now);
  for (int o = 0; o < node->output_count; o++)
    if (now.outputs[o] != node->outputs[o]) quantise_make_cast(&m, now.outputs[o], GRAPH_F64, node->outputs[o]);
}

void quantise_narrow(graph *g) {
  int count;
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++) {
    const graph_node *node = &nodes[n];
    if (has_wide(g, node->inputs, node->input_count) && !stays(node))
      narrow(g, node);
    else
      quantise_rewrite_keep(g, node);
  }
}
