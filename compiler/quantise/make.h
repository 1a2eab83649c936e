// SPDX-License-Identifier: Apache-2.0
// Making nodes that stand for a node of the model: shapes come from the operators' own inference, and what depends on
// constants alone is computed at once. `out` is the tensor that the node makes, GRAPH_NONE: a new one, which each
// function gives back.
#ifndef COMPILER_QUANTISE_MAKE_H
#define COMPILER_QUANTISE_MAKE_H

#include "compiler/quantise/rewrite.h"

typedef struct quantise_maker {
  graph *g;
  const graph_node *node;  // that is replaced: new names begin with its name
} quantise_maker;

int quantise_make(const quantise_maker *m, graph_op op, const graph_node *attributes, const int *inputs, int count,
                  int out);
int quantise_make_unary(const quantise_maker *m, graph_op op, int x, int out);
int quantise_make_binary(const quantise_maker *m, graph_op op, int a, int b, int out);
// With the attribute `axis`.
int quantise_make_along(const quantise_maker *m, graph_op op, const int *inputs, int count, int64_t axis, int out);
int quantise_make_reshape(const quantise_maker *m, int x, int rank, const int64_t *dim, int out);
int quantise_make_transpose(const quantise_maker *m, int x, const int64_t *perm, int out);
// Elements from, from + step, .. below `to` of one dimension.
int quantise_make_slice(const quantise_maker *m, int x, int axis, int64_t from, int64_t to, int64_t step, int out);
int quantise_make_reduce(const quantise_maker *m, graph_op op, int x, const int64_t *axes, int count, bool keepdims,
                         int out);
int quantise_make_cast(const quantise_maker *m, int x, graph_type type, int out);
int quantise_make_clip(const quantise_maker *m, int x, float low, float high, int out);

// Constants: their values are copied.
int quantise_make_constant(const quantise_maker *m, graph_type type, int rank, const int64_t *dim, const void *values);
int quantise_make_number(const quantise_maker *m, float value);
int quantise_make_integers(const quantise_maker *m, const int64_t *values, int count);

// Of the node that is replaced: whether it has an input or a wanted output, and the tensor (by value: making nodes
// moves tensors).
bool quantise_make_has(const graph_node *node, int input);
bool quantise_make_wants(const graph_node *node, int output);
graph_tensor quantise_make_tensor(const quantise_maker *m, int tensor);
// Whether input `i` is a tensor of f32.
bool quantise_make_is_float(const graph *g, const graph_node *node, int i);

#endif
