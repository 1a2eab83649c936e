// SPDX-License-Identifier: Apache-2.0
// Kernels for QMul by one number of 0 or more per column, or per row: gates of channels, as commands.
//
// The numbers never stand on diagonals in memory: behind relu a number less 127 is 0, so a column of ones times a row
// of numbers, with 0 on the diagonal and -127 beside it added, leaves the mesh for the scratchpad as the diagonal that
// then multiplies blocks.
#ifndef COMPILER_NETWORK_GATE_H
#define COMPILER_NETWORK_GATE_H

#include "compiler/network/unit.h"

#define NETWORK_GATE_NUMBERS "gate_ptr"

// What has a number each: the second gain of a unit of GRAPH_OP_QMUL. Of elements see multiply.h.
enum { NETWORK_GATE_COLUMNS, NETWORK_GATE_ROWS, NETWORK_GATE_ELEMENTS };

const char *network_gate_name(const network_unit *unit);
// Whether the array can: its mesh writes to the scratchpad.
bool network_gate_fits(const hw_array *array);
command_program *network_gate_program(const network_unit *unit, const hw_array *array);

#endif
