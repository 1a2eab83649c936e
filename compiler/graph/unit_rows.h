// SPDX-License-Identifier: Apache-2.0
// Q operators as the normaliser of the store unit computes them: QSoftmaxUnit, QNormUnit, QGeluUnit (docs/networks.md).
//
// The array multiplies int8 rows by gains into the accumulator, once or twice. One copy of a softmax row is gain[0] *
// x, of which the maximum is taken and which is stored; the other one is `offset` less, and its exponentials are
// summed: the sum is e^(scale * offset) times smaller, and results have as many times more levels. Of a norm the first
// copy gives the mean and the deviation, the second one, with more levels, its own mean and the results.
#ifndef COMPILER_GRAPH_UNIT_ROWS_H
#define COMPILER_GRAPH_UNIT_ROWS_H

#include "compiler/graph/graph.h"

enum { GRAPH_UNIT_GAIN_MAX = 127, GRAPH_UNIT_OFFSET_MAX = 16000 };

// Integer constants of a polynomial: of the exponential, or (b and c alone) of GELU.
typedef struct graph_unit_constants {
  int32_t b, c, ln2, ln2_inverse;
} graph_unit_constants;

typedef struct graph_unit {
  graph_op op;
  int32_t gain[2];
  bool two_copies;
  int32_t offset;  // of QSoftmaxUnit with two copies, which have one gain
  graph_unit_constants constants;
  float scale;             // of results of QGeluUnit
  bool centred;            // QNormUnit takes the mean off
  const int32_t *lengths;  // of QSoftmaxUnit: row r has lengths[r mod length_count] columns, then zeros; or NULL
  int64_t length_count;
} graph_unit;

// What a node says. `lengths`: its input 1, or NULL.
graph_unit graph_unit_of(const graph_node *node, const graph_tensor *lengths);
void graph_unit_set(graph *g, graph_node *node, const graph_unit *unit);

// One row of `count` columns. Stored bytes are those of the unit, whatever the width of the array.
void graph_unit_row(const graph_unit *unit, int64_t row, const int8_t *x, int64_t count, int8_t *y);

#endif
