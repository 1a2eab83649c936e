// SPDX-License-Identifier: Apache-2.0
// The rows that one entry of the control queue feeds to the mesh. See operand_select.c.
#ifndef SIM_CYCLE_OPERAND_SELECT_H
#define SIM_CYCLE_OPERAND_SELECT_H

#include "sim/cycle/execute.h"

// Operands of the first entry whose rows are not there.
unsigned cycle_operand_select_missing(const cycle_engine *c, uint64_t now, const cycle_execute *x);
// Takes the answers of that entry.
void cycle_operand_select_take(cycle_engine *c, uint64_t now, const cycle_execute *x);

#endif
