// SPDX-License-Identifier: Apache-2.0
// Tables of functions of one element: the operators between two tensors, run by the interpreter on all 256 values.
#include <math.h>
#include <stdlib.h>

#include "compiler/graph/run.h"
#include "compiler/quantise/convert.h"

enum { VALUES = 256 };

// The tensors between `source` and `tensor`, these included, each with its place in the table's graph plus 1 in
// c->in_table; constants, too. A list stands for the stack.
typedef struct needs {
  int *tensors;
  size_t count, room;
} needs;

static void need(quantise_converter *c, needs *list, int tensor) {
  if (tensor == GRAPH_NONE || c->in_table[tensor] != 0) return;
  c->in_table[tensor] = 1;
  *WF_ARENA_PUSH(c->arena, list->tensors, list->count, &list->room) = tensor;
}

static needs find_needs(quantise_converter *c, int tensor, int source) {
  needs list = {0};
  need(c, &list, source);
  need(c, &list, tensor);
  for (size_t i = 1; i < list.count; i++) {
    const int maker = c->model->tensors[list.tensors[i]].data != NULL ? GRAPH_NONE : c->index.maker[list.tensors[i]];
    for (int n = 0; maker != GRAPH_NONE && n < c->model->nodes[maker].input_count; n++)
      need(c, &list, c->model->nodes[maker].inputs[n]);
  }
  return list;
}

static int by_number(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

// As it is in the table's graph: rows of 256 numbers.
static graph_tensor as_row(const graph_tensor *t) {
  graph_tensor row = *t;
  if (row.data == NULL) {
    row.rank = 1;
    row.dim[0] = VALUES;
  } else if (graph_elements(&row) == 1) {
    row.rank = 0;  // it may have had more dimensions than the row
  }
  return row;
}

static void copy_node(const quantise_converter *c, graph *small, const graph_node *node) {
  int *inputs = WF_ARENA_ARRAY(small->arena, (size_t)node->input_count + 1, int);
  for (int i = 0; i < node->input_count; i++)
    inputs[i] = node->inputs[i] == GRAPH_NONE ? GRAPH_NONE : c->in_table[node->inputs[i]] - 1;
  const int output = c->in_table[node->outputs[0]] - 1;
  graph_node *made = graph_add_node(small, node->op, node->name, inputs, node->input_count, &output, 1);
  made->attributes = node->attributes;
  made->attribute_count = made->attribute_room = node->attribute_count;
}

// The model's nodes that `tensor` needs beyond `source`, copied into a graph. It costs what it holds: a network may
// have as many tables as tensors.
static graph *chain_graph(quantise_converter *c, int tensor, int source) {
  const graph *g = c->model;
  graph *small = graph_create("table");
  const needs list = find_needs(c, tensor, source);
  int *nodes = WF_ARENA_ARRAY(small->arena, list.count + 1, int);
  size_t count = 0;
  for (size_t i = 0; i < list.count; i++) {
    const int t = list.tensors[i];
    const graph_tensor row = as_row(&g->tensors[t]);
    c->in_table[t] = graph_add_tensor(small, &row) + 1;
    if (t != source && g->tensors[t].data == NULL) nodes[count++] = c->index.maker[t];
  }
  qsort(nodes, count, sizeof *nodes, by_number);
  for (size_t i = 0; i < count; i++) copy_node(c, small, &g->nodes[nodes[i]]);
  const int in = c->in_table[source] - 1, out = c->in_table[tensor] - 1;
  graph_set_ends(small, &in, 1, &out, 1);
  for (size_t i = 0; i < list.count; i++) c->in_table[list.tensors[i]] = 0;
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
