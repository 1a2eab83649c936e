// SPDX-License-Identifier: Apache-2.0
// Kernels for QCurve: functions of one int8 on the mesh, as commands.
#ifndef COMPILER_NETWORK_CURVE_H
#define COMPILER_NETWORK_CURVE_H

#include "compiler/graph/curve.h"
#include "compiler/network/unit.h"

// Whether the array can: its mesh writes to the scratchpad, and what a batch needs fits.
bool network_curve_fits(const graph_curve *curve, const hw_array *array);
// Of rows that lie one after the other in memory; operands NETWORK_UNIT_X and NETWORK_UNIT_Y.
command_program *network_curve_program(const graph_curve *curve, int64_t rows, int64_t cols, const hw_array *array);

#endif
