// SPDX-License-Identifier: Apache-2.0
// Tables of functions of one element: the operators between two tensors, run by the interpreter on all 256 values.
#include <math.h>

#include "compiler/graph/run.h"
#include "compiler/quantise/convert.h"

enum { VALUES = 256 };

// The model's nodes that `tensor` needs beyond `source`, copied into a graph on rows of 256 numbers.
static graph *chain_graph(const quantise_converter *c, int tensor, int source) {
  const graph *g = c->model;
  graph *small = graph_create("table");
  bool *needed = WF_ARENA_ARRAY(small->arena, (size_t)g->tensor_count, bool);
  int *copy = WF_ARENA_ARRAY(small->arena, (size_t)g->tensor_count, int);
  const int last = c->index.maker[tensor];
  needed[tensor] = true;
  for (int n = last; n >= 0; n--)
    for (int i = 0; needed[g->nodes[n].outputs[0]] && g->nodes[n].outputs[0] != source && i < g->nodes[n].input_count;
         i++)
      if (g->nodes[n].inputs[i] != GRAPH_NONE) needed[g->nodes[n].inputs[i]] = true;
  for (int t = 0; t < g->tensor_count; t++) {
    if (!needed[t]) continue;
    graph_tensor copied = g->tensors[t];
    if (copied.data == NULL) {
      copied.rank = 1;
      copied.dim[0] = VALUES;
    } else if (graph_elements(&copied) == 1) {
      copied.rank = 0;  // it may have had more dimensions than the row
    }
    copy[t] = graph_add_tensor(small, &copied);
  }
  for (int n = 0; n <= last; n++) {
    const graph_node *node = &g->nodes[n];
    if (!needed[node->outputs[0]] || node->outputs[0] == source) continue;
    int inputs[4];
    for (int i = 0; i < node->input_count; i++)
      inputs[i] = node->inputs[i] == GRAPH_NONE ? GRAPH_NONE : copy[node->inputs[i]];
    graph_node *made =
        graph_add_node(small, node->op, node->name, inputs, node->input_count, &copy[node->outputs[0]], 1);
    made->attributes = node->attributes;
    made->attribute_count = made->attribute_room = node->attribute_count;
  }
  graph_set_ends(small, &copy[source], 1, &copy[tensor], 1);
  return small;
}

bool quantise_convert_real_table(quantise_converter *c, int tensor, float table[256]) {
  const int source = c->derived[tensor];
  const quantise_convert_value *v = &c->values[source];
  graph *small = chain_graph(c, tensor, source);
  float from[VALUES];
  for (int q = 0; q < VALUES; q++) from[q] = v->scale * (float)(q - 128 - v->zero);
  const graph_run_options options = {.file = c->model->name};
  const bool ran = graph_run(small, (const void *[]){from}, (void *[]){table}, &options, c->diag);
  graph_destroy(small);
  return ran;
}

bool quantise_convert_table(quantise_converter *c, int tensor, float scale, int32_t zero, int8_t table[256]) {
  float numbers[VALUES];
  if (!quantise_convert_real_table(c, tensor, numbers)) return false;
  for (int q = 0; q < VALUES; q++) {
    const float result = isnan(numbers[q]) ? 0 : rintf(numbers[q] / scale) + (float)zero;
    table[q] = (int8_t)(result < -128 ? -128 : result > 127 ? 127 : result);
  }
  return true;
}
