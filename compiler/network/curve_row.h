// SPDX-License-Identifier: Apache-2.0
// Kernels for QCurve of few elements (curve.h has the others): one row, whose elements are weights.
//
// A block of the row is the weights of two products. A column of slopes makes a row of each ramp, a row of the ramps'
// weights their sum: two small tiles are all that is loaded besides, where blocks as operands take two diagonals a
// ramp.
#ifndef COMPILER_NETWORK_CURVE_ROW_H
#define COMPILER_NETWORK_CURVE_ROW_H

#include "compiler/network/unit.h"

// Whether it is the better kernel for so many elements, and the array can.
bool network_curve_row_fits(const graph_curve *curve, int64_t elements, const hw_array *array);
// Of a unit with a curve and one row.
command_program *network_curve_row_program(const network_unit *unit, const hw_array *array);

#endif
