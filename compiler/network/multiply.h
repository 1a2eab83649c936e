// SPDX-License-Identifier: Apache-2.0
// Kernels for QMul of two tensors of one shape, element by element, as commands: on arrays with the gate.
#ifndef COMPILER_NETWORK_MULTIPLY_H
#define COMPILER_NETWORK_MULTIPLY_H

#include "compiler/network/unit.h"

#define NETWORK_MULTIPLY_FACTORS "by_ptr"

// Whether the array can: it has the gate.
bool network_multiply_fits(const hw_array *array);
// Of unit->cols elements that lie one after the other; the rows are 1.
command_program *network_multiply_program(const network_unit *unit, const hw_array *array);

#endif
