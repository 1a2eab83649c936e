// SPDX-License-Identifier: Apache-2.0
// The tables of QCell and QHidden, one behind the other (docs/networks.md): of the input, output and forget gates; of
// the update gate; of the hyperbolic tangent within -4 .. 4, which is x + table[floor(256 x) + 1024].
#ifndef COMPILER_GRAPH_QCELLS_H
#define COMPILER_GRAPH_QCELLS_H

enum {
  GRAPH_CELL_STEPS = 256,
  GRAPH_CELL_REACH = 4,
  GRAPH_CELL_UPDATE = 256,  // where the table of the update gate begins
  GRAPH_CELL_TANH = 512,    // and that of the hyperbolic tangent
  GRAPH_CELL_TABLES = GRAPH_CELL_TANH + 2 * GRAPH_CELL_REACH * GRAPH_CELL_STEPS + 1,
};

#endif
