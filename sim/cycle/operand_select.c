// SPDX-License-Identifier: Apache-2.0
// Operand select: the rows that one entry of the control queue feeds to the mesh, taken from the banks' answers.
//
// An operand that fired without a row feeds zeros; otherwise its row is the head of its bank's answers. The entry is
// taken as a whole, when every answer that it needs is there and the mesh takes every row.
// Scratchpad rows were copied when they were read, all those of an entry in one cycle, and answers of a bank leave in
// the order of the entries; so an entry's scratchpad answers are there from its `ready` on. Accumulator rows come out
// of the scale units here and are cut to the operand's columns.
#include "sim/cycle/operand_select.h"

#include <string.h>

#include "sim/cycle/store_path.h"

unsigned cycle_operand_select_missing(const cycle_engine *c, uint64_t now, const cycle_execute *x) {
  const cycle_execute_control *entry = &x->control[x->control_head];
  const uint8_t *bank = x->control_bank[x->control_head];
  unsigned missing = entry->ready <= now ? 0 : entry->waits & (unsigned)~entry->from_acc;
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS && entry->from_acc != 0; o++)
    if ((entry->from_acc >> o & 1) != 0 && !cycle_store_path_operand(c, now, bank[o])) missing |= 1U << o;
  return missing;
}

static void take_scaled(cycle_engine *c, uint64_t now, const cycle_execute_operation *op, unsigned row, unsigned bank,
                        unsigned o) {
  uint32_t dim = c->d.dim, index = o == CYCLE_MESH_D ? dim - 1 - row : row, cols = op->cols[o];
  int8_t *to = c->data ? op->tile[o] + (size_t)index * dim : NULL;
  cycle_store_path_operand_taken(c, now, bank, to);
  if (to != NULL && cols < dim) memset(to + cols, 0, dim - cols);
}

void cycle_operand_select_take(cycle_engine *c, uint64_t now, const cycle_execute *x) {
  const cycle_execute_control *entry = &x->control[x->control_head];
  const uint8_t *bank = x->control_bank[x->control_head];
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS; o++)
    if ((entry->from_acc >> o & 1) != 0) take_scaled(c, now, &x->ops[entry->op], entry->row, bank[o], o);
}
