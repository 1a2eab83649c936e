// SPDX-License-Identifier: Apache-2.0
// Commands of kernels that are no text (normalise.c, curve.c, curve_row.c, gate.c, held.c, mesh_norm.c, multiply.c):
// operands, moves, configurations.
#ifndef COMPILER_NETWORK_COMMANDS_H
#define COMPILER_NETWORK_COMMANDS_H

#include "compiler/command/command.h"

command_insn network_command(unsigned funct);
// Rows and columns from a local address on.
uint64_t network_command_operand(uint32_t local, uint32_t cols, uint32_t rows);
// A load or store: bytes `offset` on from the start of a tensor, and a local operand.
command_insn network_command_move(unsigned funct, int tensor, int64_t offset, uint64_t local);
// Loads of one load state as they are: rows `stride` bytes apart, blocks of columns `block_stride` local rows.
command_insn network_command_load_state(unsigned state, uint32_t block_stride, int64_t stride);
// Weight-stationary products, with the activation for what leaves the mesh for the scratchpad.
command_insn network_command_execute(unsigned activation);
uint32_t network_command_bits(float value);

// A product: a preload and a compute. Weights ISA_LOCAL_GARBAGE are those of the product before.
typedef struct network_command_product {
  uint64_t weights, a, added, c;
} network_command_product;
void network_command_multiply(command_program *out, const network_command_product *p);

#endif
