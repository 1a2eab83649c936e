// SPDX-License-Identifier: Apache-2.0
// The loops of an Einsum: one for each label of its equation, those of the result first.
#ifndef COMPILER_GRAPH_EINSUM_H
#define COMPILER_GRAPH_EINSUM_H

#include "compiler/graph/call.h"

enum { GRAPH_EINSUM_LABELS = GRAPH_ROW_RANK, GRAPH_EINSUM_OPERANDS = GRAPH_OPERANDS - 1 };

// Dimensions are named by a letter, those of the ellipsis by 1, 2, ... counted from the last.
typedef struct graph_einsum {
  char label[GRAPH_EINSUM_LABELS];
  int64_t dim[GRAPH_EINSUM_LABELS];
  int labels;
  int64_t step[GRAPH_OPERANDS][GRAPH_EINSUM_LABELS];  // in elements: of the inputs, then of the result
  bool is_result[GRAPH_EINSUM_LABELS];                // the label is one of the result's
} graph_einsum;

// Of a node whose inputs have shapes; also the result's dimensions. False after a failure.
bool graph_einsum_of(graph_call *c, graph_einsum *e, int64_t *dim, int *rank);

#endif
