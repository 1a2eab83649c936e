// SPDX-License-Identifier: Apache-2.0
// Walks the rows of A, B and D of one operation. See operand_fetch.c.
#ifndef SIM_CYCLE_OPERAND_FETCH_H
#define SIM_CYCLE_OPERAND_FETCH_H

#include "sim/cycle/execute.h"

// Prepares the walk.
void cycle_operand_fetch_begin(const cycle_engine *c, cycle_execute *x, cycle_execute_operation *op,
                               const uint32_t base[3]);
// One cycle of it: appends what fired to the control queue, and returns the operands that did.
unsigned cycle_operand_fetch_step(cycle_engine *c, uint64_t now, cycle_execute *x, cycle_execute_operation *op);
// Copies the rows of the next `steps` steps from the scratchpad into the tiles.
void cycle_operand_fetch_copy(cycle_engine *c, const cycle_execute *x, const cycle_execute_operation *op,
                              unsigned operands, uint32_t steps);
// Appends `steps` steps of a plain operation, the first of them fired in `cycle`.
void cycle_operand_fetch_append(cycle_engine *c, cycle_execute *x, cycle_execute_operation *op, uint64_t cycle,
                                uint32_t steps);

#endif
