// SPDX-License-Identifier: Apache-2.0
// Kernels for QNormMesh: rows times whole factors of their own on the mesh, as commands.
//
// A block of as many rows as the mesh has is the weights of a product with the diagonal of their factors. The operand
// NETWORK_MESH_NORM_FACTORS has for each row, as the hart's QNORM_FACTORS leaves them: a diagonal per copy, and what
// the row's offset is made of. Results are sums in the accumulator, stored with the scale.
#ifndef COMPILER_NETWORK_MESH_NORM_H
#define COMPILER_NETWORK_MESH_NORM_H

#include "compiler/network/unit.h"

#define NETWORK_MESH_NORM_FACTORS "factors_ptr"

// Whether the array can, with factors of `copies` bytes.
bool network_mesh_norm_fits(int copies, const hw_array *array);
// `what` of the unit has the copies as its first gain, and the scale.
command_program *network_mesh_norm_program(const network_unit *unit, const hw_array *array);

#endif
