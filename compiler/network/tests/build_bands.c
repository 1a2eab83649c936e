// SPDX-License-Identifier: Apache-2.0
// See build_bands.h.
#include "compiler/network/tests/build_bands.h"

#include <string.h>

#include "base/test.h"
#include "compiler/network/tests/build.h"

typedef struct builder {
  graph *g;
  const build_bands_sizes *n;
  int inputs[3], input_count;
} builder;

static int node(builder *b, graph_op op, const int *inputs, int count, graph_type type, int rank, const int64_t *dim) {
  const int y = build_result(b->g, type, rank, dim);
  graph_add_node(b->g, op, b->g->tensors[y].name, inputs, count, &y, 1);
  return y;
}

static graph_node *last(builder *b) { return &b->g->nodes[b->g->node_count - 1]; }

// [images, heads, rows, columns], perhaps by another name of [images, rows, heads, columns].
static int operand(builder *b, int64_t rows, int64_t columns) {
  const build_bands_sizes *n = b->n;
  const int64_t dim[4] = {n->images, n->heads, rows, columns}, lies[4] = {n->images, rows, n->heads, columns};
  const int x = build_input(b->g, GRAPH_I8, 4, n->turned ? lies : dim);
  b->inputs[b->input_count++] = x;
  if (!n->turned) return x;
  const int y = node(b, GRAPH_OP_TRANSPOSE, &x, 1, GRAPH_I8, 4, dim);
  graph_set_ints(b->g, last(b), "perm", (int64_t[]){0, 2, 1, 3}, 4);
  return y;
}

static int rows_of(builder *b, graph_op op, const int *inputs, int count, graph_type type, int64_t width) {
  const build_bands_sizes *n = b->n;
  return node(b, op, inputs, count, type, 4, (int64_t[]){n->images, n->heads, n->rows, width});
}

static int reshaped(builder *b, int x, int rank, const int64_t *dim) {
  int64_t *copy = WF_ARENA_ARRAY(b->g->arena, (size_t)rank, int64_t);
  memcpy(copy, dim, (size_t)rank * sizeof *copy);
  const int shape = build_constant(b->g, GRAPH_I64, 1, (int64_t[]){rank});
  b->g->tensors[shape].data = copy;
  return node(b, GRAPH_OP_RESHAPE, (int[]){x, shape}, 2, GRAPH_I8, rank, dim);
}

static int filled(builder *b, graph_type type, int64_t rows, int64_t columns, int value) {
  const int t = build_constant(b->g, type, 2, (int64_t[]){rows, columns});
  int8_t *bytes = WF_ARENA_ARRAY(b->g->arena, (size_t)(rows * columns), int8_t);
  memset(bytes, value, (size_t)(rows * columns));
  b->g->tensors[t].data = bytes;
  return t;
}

static int sum(builder *b, int x, int other, int rank, const int64_t *dim, float scale) {
  const int y = node(b, GRAPH_OP_QADD, (int[]){x, other}, 2, GRAPH_I8, rank, dim);
  graph_set_float(b->g, last(b), "scale_a", scale);
  graph_set_float(b->g, last(b), "scale_b", 1);
  return y;
}

static int scaled_product(builder *b, int a, int w, int64_t columns, float scale) {
  const int y = rows_of(b, GRAPH_OP_QMAT_MUL, (int[]){a, w}, 2, GRAPH_I8, columns);
  graph_set_float(b->g, last(b), "scale", scale);
  return y;
}

// What is behind the scores, up to the result.
static int softmax(builder *b, int scores, int values) {
  const build_bands_sizes *n = b->n;
  const int table = build_constant(b->g, GRAPH_U8, 2, (int64_t[]){8, 256}),
            mask = build_constant(b->g, GRAPH_I8, 2, (int64_t[]){n->rows, n->columns});
  const int rows = rows_of(b, GRAPH_OP_QSOFTMAX, (int[]){scores, table, mask}, 3, GRAPH_I8, n->columns);
  graph_set_float(b->g, last(b), "scale", 127);
  return scaled_product(b, rows, values, n->results, 0.01F);
}

static int unit(builder *b, int scores, int values) {
  const build_bands_sizes *n = b->n;
  int32_t *lengths = WF_ARENA_ARRAY(b->g->arena, (size_t)n->rows, int32_t);
  for (int64_t r = 0; r < n->rows; r++) lengths[r] = (int32_t)(1 + (r * 5 + 3) % n->columns);
  const int t = build_constant(b->g, GRAPH_I32, 1, (int64_t[]){n->rows});
  b->g->tensors[t].data = lengths;
  const int rows = rows_of(b, GRAPH_OP_QSOFTMAX_UNIT, (int[]){scores, t}, 2, GRAPH_I8, n->columns);
  graph_set_ints(b->g, last(b), "gains", (int64_t[]){1}, 1);
  graph_set_ints(b->g, last(b), "constants", (int64_t[]){54, 1387, 28, 2340}, 4);
  return scaled_product(b, rows, values, n->results, 0.01F);
}

static int largest(builder *b, int x) {
  const build_bands_sizes *n = b->n;
  const int64_t rows = n->images * n->heads * n->rows, quarter = n->columns / 4;
  const int image = reshaped(b, x, 4, (int64_t[]){1, 2 * rows, 2, quarter});
  const int y = node(b, GRAPH_OP_QMAX_POOL, &image, 1, GRAPH_I8, 4, (int64_t[]){1, rows, 1, quarter});
  graph_set_ints(b->g, last(b), "kernel_shape", (int64_t[]){2, 2}, 2);
  graph_set_ints(b->g, last(b), "strides", (int64_t[]){2, 2}, 2);
  return reshaped(b, y, 4, (int64_t[]){n->images, n->heads, n->rows, quarter});
}

static int curve(builder *b, int x) {
  const int y = rows_of(b, GRAPH_OP_QCURVE, &x, 1, GRAPH_I8, b->n->columns);
  graph_set_ints(b->g, last(b), "slopes", (int64_t[]){1, 1}, 2);
  graph_set_ints(b->g, last(b), "starts", (int64_t[]){-63, -100}, 2);
  graph_set_ints(b->g, last(b), "weights", (int64_t[]){40, 90}, 2);
  graph_set_int(b->g, last(b), "offset", 3);
  graph_set_float(b->g, last(b), "scale", 0.02F);
  return y;
}

static int shares(builder *b, int scores, int values, bool masked) {
  const build_bands_sizes *n = b->n;
  const int64_t all[3] = {n->images * n->heads, n->rows, n->columns},
                by_head[4] = {n->images, n->heads, n->rows, n->columns};
  int hidden = GRAPH_NONE, seen;
  if (masked) {
    const int positions = build_constant(b->g, GRAPH_I8, 3, (int64_t[]){n->heads, n->rows, n->columns});
    scores = sum(b, scores, positions, 4, by_head, 0.8F);
    hidden = build_constant(b->g, GRAPH_I8, 2, (int64_t[]){n->rows, n->columns});
  }
  seen = masked ? reshaped(b, sum(b, reshaped(b, scores, 3, all), hidden, 3, all, 0.5F), 4, by_head) : scores;
  const int top = largest(b, seen), room = rows_of(b, GRAPH_OP_QHEADROOM, &top, 1, GRAPH_I8, 1);
  const int up = rows_of(b, GRAPH_OP_QMAT_MUL, (int[]){room, filled(b, GRAPH_I8, 1, n->columns, 2), GRAPH_NONE, scores},
                         4, GRAPH_I8, n->columns);
  graph_set_int(b->g, last(b), "factor", 1);
  graph_set_float(b->g, last(b), "scale", 1);
  int rows = curve(b, up);
  if (masked) rows = reshaped(b, sum(b, reshaped(b, rows, 3, all), hidden, 3, all, 1), 4, by_head);
  const int sums = rows_of(b, GRAPH_OP_QMAT_MUL, (int[]){rows, filled(b, GRAPH_I8, n->columns, 1, 1)}, 2, GRAPH_I32, 1),
            products = rows_of(b, GRAPH_OP_QMAT_MUL, (int[]){rows, values}, 2, GRAPH_I32, n->results);
  const int y = rows_of(b, GRAPH_OP_QSHARE, (int[]){products, sums}, 2, GRAPH_I8, n->results);
  graph_set_float(b->g, last(b), "scale", 0.7F);
  return y;
}

graph *build_bands(const build_bands_sizes *n, build_bands_kind kind) {
  builder b = {.g = graph_create("bands"), .n = n};
  const int q = operand(&b, n->rows, n->depth), k = operand(&b, n->columns, n->depth),
            v = operand(&b, n->columns, n->results);
  const int scores = scaled_product(&b, q, k, n->columns, 0.004F);
  graph_set_int(b.g, last(&b), "transB", 1);
  int y = kind == BUILD_BANDS_SOFTMAX ? softmax(&b, scores, v)
          : kind == BUILD_BANDS_UNIT  ? unit(&b, scores, v)
                                      : shares(&b, scores, v, kind == BUILD_BANDS_MASKED);
  if (n->turned) {
    y = node(&b, GRAPH_OP_TRANSPOSE, &y, 1, GRAPH_I8, 4, (int64_t[]){n->images, n->rows, n->heads, n->results});
    graph_set_ints(b.g, last(&b), "perm", (int64_t[]){0, 2, 1, 3}, 4);
  }
  y = build_add(b.g, y, y, false);
  graph_set_ends(b.g, b.inputs, b.input_count, &y, 1);
  return b.g;
}
