// SPDX-License-Identifier: Apache-2.0
// The walk of an operation through the rows of its operands, cycle by cycle, as hw/rtl/weft_operand_fetch.sv has it.
// For operations of which two operands meet in a bank, or one lies in several, or in the accumulator.
#ifndef SIM_FLOW_WALK_H
#define SIM_FLOW_WALK_H

#include "sim/flow/engine.h"

// What an operation reads, NULL where there is none.
typedef struct flow_operands {
  const flow_operand *a, *b, *d;
} flow_operands;

// Each operand stays in a bank of the scratchpad of its own: rows pass one in a cycle.
bool flow_walk_is_plain(const flow_engine *e, const flow_operands *o, uint32_t total);
void flow_walk_begin(flow_engine *e, const flow_operands *o, uint32_t total);
// Goes on in the cycles from `at` up to `known`, and returns the cycle behind them or behind the last row; `left` is
// set to the rows that are left, `passed` to those that passed.
uint64_t flow_walk_on(flow_engine *e, uint64_t at, uint64_t known, uint64_t *left, uint64_t *passed);

#endif
