// SPDX-License-Identifier: Apache-2.0
// Shapes of matrix products with leading dimensions, and products of bytes.
#ifndef COMPILER_GRAPH_PRODUCT_H
#define COMPILER_GRAPH_PRODUCT_H

#include "compiler/graph/call.h"

typedef struct graph_matrices {
  int64_t m, k, n;
  int64_t a_row, a_column, b_row, b_column;  // elements apart
  bool drop_m, drop_n;                       // a vector: the result has no such dimension
  int rank;                                  // of the leading dimensions
  int64_t lead[GRAPH_RANK_MAX], a_lead[GRAPH_RANK_MAX], b_lead[GRAPH_RANK_MAX];  // steps in matrices
} graph_matrices;
bool graph_matrices_find(graph_call *c, graph_matrices *p, const graph_tensor *a, const graph_tensor *b, bool trans_a,
                         bool trans_b);
bool graph_matrices_result(graph_call *c, const graph_matrices *p, graph_type type);

typedef struct graph_bytes_product {
  const graph_tensor *a, *b, *a_zero, *b_zero;  // zero points: NULL, one, or one for each row of a, column of b
  int32_t *y;
} graph_bytes_product;
bool graph_bytes_product_run(graph_call *c, const graph_matrices *p, const graph_bytes_product *v);

#endif
