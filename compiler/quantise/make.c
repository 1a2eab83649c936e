// SPDX-License-Identifier: Apache-2.0
// Making nodes: see make.h.
#include "compiler/quantise/make.h"

#include <math.h>
#include <string.h>

#include "compiler/graph/run.h"

enum { FOLD_BYTES = 1 << 26 };

// What cannot be inferred keeps no shape, which graph_verify reports behind the preparation.
int quantise_make(const quantise_maker *m, graph_op op, const graph_node *attributes, const int *inputs, int count,
                  int out) {
  graph *g = m->g;
  const char *what = wf_arena_format(g->arena, ".%s", graph_op_name(op));
  wf_diag quiet = wf_diag_to(NULL);
  while (count > 0 && inputs[count - 1] == GRAPH_NONE) count--;
  if (out == GRAPH_NONE) out = quantise_rewrite_tensor(g, m->node->name, what, GRAPH_F32, 0, NULL);
  graph_node *node = graph_add_node(g, op, quantise_rewrite_name(g, m->node->name, what), inputs, count, &out, 1);
  for (int a = 0; attributes != NULL && a < attributes->attribute_count; a++) {
    const graph_attribute *from = &attributes->attributes[a];
    if (from->kind == GRAPH_INT) graph_set_int(g, node, from->name, from->integer);
    if (from->kind == GRAPH_FLOAT) graph_set_float(g, node, from->name, from->number);
    if (from->kind == GRAPH_TEXT) graph_set_text(g, node, from->name, from->text);
    if (from->kind == GRAPH_INTS) graph_set_ints(g, node, from->name, from->integers, from->count);
    if (from->kind == GRAPH_FLOATS) graph_set_floats(g, node, from->name, from->numbers, from->count);
  }
  if (graph_infer(g, node, g->name, &quiet) && graph_fold_node(g, node, FOLD_BYTES)) g->node_count--;
  return out;
}

int quantise_make_unary(const quantise_maker *m, graph_op op, int x, int out) {
  return quantise_make(m, op, NULL, &x, 1, out);
}

int quantise_make_binary(const quantise_maker *m, graph_op op, int a, int b, int out) {
  return quantise_make(m, op, NULL, (int[]){a, b}, 2, out);
}

int quantise_make_along(const quantise_maker *m, graph_op op, const int *inputs, int count, int64_t axis, int out) {
  graph_node attributes = {0};
  graph_set_int(m->g, &attributes, "axis", axis);
  return quantise_make(m, op, &attributes, inputs, count, out);
}

int quantise_make_reshape(const quantise_maker *m, int x, int rank, const int64_t *dim, int out) {
  return quantise_make_binary(m, GRAPH_OP_RESHAPE, x, quantise_make_integers(m, dim, rank), out);
}

int quantise_make_transpose(const quantise_maker *m, int x, const int64_t *perm, int out) {
  graph_node attributes = {0};
  graph_set_ints(m->g, &attributes, "perm", perm, m->g->tensors[x].rank);
  return quantise_make(m, GRAPH_OP_TRANSPOSE, &attributes, &x, 1, out);
}

int quantise_make_slice(const quantise_maker *m, int x, int axis, int64_t from, int64_t to, int64_t step, int out) {
  const int64_t values[4] = {from, to, axis, step};
  int inputs[5] = {x};
  for (int i = 0; i < 4; i++) inputs[1 + i] = quantise_make_integers(m, &values[i], 1);
  return quantise_make(m, GRAPH_OP_SLICE, NULL, inputs, 5, out);
}

int quantise_make_reduce(const quantise_maker *m, graph_op op, int x, const int64_t *axes, int count, bool keepdims,
                         int out) {
  graph_node attributes = {0};
  int inputs[2] = {x, GRAPH_NONE};
  graph_set_int(m->g, &attributes, "keepdims", keepdims);
  if (op == GRAPH_OP_REDUCE_SUM && count > 0) inputs[1] = quantise_make_integers(m, axes, count);
  if (op != GRAPH_OP_REDUCE_SUM && count > 0) graph_set_ints(m->g, &attributes, "axes", axes, count);
  return quantise_make(m, op, &attributes, inputs, 2, out);
}

int quantise_make_cast(const quantise_maker *m, int x, graph_type type, int out) {
  graph_node attributes = {0};
  if (out == GRAPH_NONE && m->g->tensors[x].type == type) return x;
  graph_set_text(m->g, &attributes, "to", graph_type_names[type]);
  return quantise_make(m, GRAPH_OP_CAST, &attributes, &x, 1, out);
}

int quantise_make_clip(const quantise_maker *m, int x, float low, float high, int out) {
  const int inputs[3] = {x, quantise_make_number(m, low), quantise_make_number(m, high)};
  return quantise_make(m, GRAPH_OP_CLIP, NULL, inputs, 3, out);
}

int quantise_make_constant(const quantise_maker *m, graph_type type, int rank, const int64_t *dim, const void *values) {
  graph *g = m->g;
  const int tensor = quantise_rewrite_tensor(g, m->node->name, ".constant", type, rank, dim);
  const size_t bytes = graph_bytes(&g->tensors[tensor]);
  void *copy = wf_arena_alloc(g->arena, bytes + 1, 1);
  if (bytes != 0) memcpy(copy, values, bytes);
  g->tensors[tensor].data = copy;
  return tensor;
}

int quantise_make_number(const quantise_maker *m, float value) {
  return quantise_make_constant(m, GRAPH_F32, 0, NULL, &value);
}

int quantise_make_integers(const quantise_maker *m, const int64_t *values, int count) {
  return quantise_make_constant(m, GRAPH_I64, 1, (int64_t[]){count}, values);
}

bool quantise_make_has(const graph_node *node, int input) {
  return node->input_count > input && node->inputs[input] != GRAPH_NONE;
}

bool quantise_make_wants(const graph_node *node, int output) {
  return node->output_count > output && node->outputs[output] != GRAPH_NONE;
}

graph_tensor quantise_make_tensor(const quantise_maker *m, int tensor) { return m->g->tensors[tensor]; }

bool quantise_make_is_float(const graph *g, const graph_node *node, int i) {
  return quantise_make_has(node, i) && g->tensors[node->inputs[i]].type == GRAPH_F32;
}
