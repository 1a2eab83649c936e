// SPDX-License-Identifier: Apache-2.0
// Kernels for rows of int8 that are no layers, and how they are described: rows in the normaliser (normalise.h), and
// rows on the mesh (curve.h, curve_row.h, gate.h, held.h, mesh_norm.h, multiply.h).
#ifndef COMPILER_NETWORK_UNIT_H
#define COMPILER_NETWORK_UNIT_H

#include "compiler/command/command.h"
#include "compiler/graph/curve.h"
#include "compiler/graph/unit_rows.h"

// Rows of a node, all of them one after the other in memory.
typedef struct network_unit {
  graph_unit what;
  const graph_curve *curve;         // a curve instead (curve.h), or NULL
  bool is_row;                      // of few elements (curve_row.h)
  const struct network_held *held;  // a product whose sums stay instead (held.h), or NULL
  int64_t rows, cols;
} network_unit;

#define NETWORK_UNIT_X "x_ptr"
#define NETWORK_UNIT_Y "y_ptr"

// The columns of the widest row with statistics that the array's normaliser can take; 0: it has none that can.
int64_t network_unit_columns(const hw_array *array);
bool network_unit_equal(const network_unit *a, const network_unit *b);
// "softmax_unit rows=128 cols=128 gains=8,64"
const char *network_unit_name(const network_unit *unit);
// The columns are at most network_unit_columns(array), except of GELU.
// NULL after the reason was reported: main memory cannot hold the rows.
command_program *network_unit_program(const network_unit *unit, const hw_array *array, wf_diag *diag);

#endif
