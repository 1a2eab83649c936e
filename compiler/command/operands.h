// SPDX-License-Identifier: Apache-2.0
// Where the operands of commands live on the host: registers that hold a value and advance by constants.
//
// A register's value is, at each place of the program, known up to the iterations of the loops around: `value` counts
// iteration 0. Inside a loop all its users advance by one step per iteration.
#ifndef COMPILER_COMMAND_OPERANDS_H
#define COMPILER_COMMAND_OPERANDS_H

#include "compiler/command/command.h"

// A register in a loop: it holds `first` at the head (in iteration 0) and advances by `step`.
typedef struct command_operand_in_loop {
  uint32_t reg;
  uint64_t first, step;
} command_operand_in_loop;

typedef struct command_operand_loop {
  command_operand_in_loop *used;
  size_t count, room;
} command_operand_loop;

typedef struct command_operand_plan {
  uint32_t (*reg)[2];           // of rs1 and rs2, per node
  command_operand_loop *loops;  // per node that is a loop
  int *tensor;                  // per register
  uint32_t registers;
} command_operand_plan;

// A plan for nodes first..end-1, whole loops, in the arena. Entries of `reg` and `loops` are of node first on.
command_operand_plan command_plan_operands(wf_arena *arena, const command_program *program, size_t first, size_t end);

#endif
