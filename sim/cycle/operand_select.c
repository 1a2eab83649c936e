// Operand select: the rows that one entry of the control queue feeds to the mesh, taken from the banks' answers.
//
// An operand that fired without a row feeds zeros; otherwise its row is the head of its bank's answers. The entry is
// taken as a whole, when every answer that it needs is there and the mesh takes every row. Scratchpad rows were copied
// when they were read; accumulator rows come out of the scale units here and are cut to the operand's columns.
#include <string.h>

#include "sim/cycle/execute.h"

unsigned operand_select_ready(const cycle_engine *c, const execute_operation *op, const execute_control *entry) {
  unsigned ready = EXECUTE_ALL;
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) {
    if ((entry->live >> o & 1) == 0) continue;
    bool there = (op->acc >> o & 1) != 0 ? cycle_store_path_operand(c, entry->bank[o])
                                         : cycle_local_sp_execute_answer(c, entry->bank[o]);
    if (!there) ready &= ~(1U << o);
  }
  return ready;
}

static void take_scaled(cycle_engine *c, const execute_operation *op, const execute_control *entry, unsigned o) {
  uint32_t dim = c->d.dim, index = o == MESH_D ? dim - 1 - entry->row : entry->row, cols = op->cols[o];
  int8_t *to = c->data ? op->tile[o] + (size_t)index * dim : NULL;
  cycle_store_path_operand_taken(c, entry->bank[o], to);
  if (to != NULL && cols < dim) memset(to + cols, 0, dim - cols);
}

void operand_select_take(cycle_engine *c, const execute_operation *op, const execute_control *entry) {
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) {
    if ((entry->live >> o & 1) == 0) continue;
    if ((op->acc >> o & 1) != 0)
      take_scaled(c, op, entry, o);
    else
      cycle_local_sp_execute_taken(c, entry->bank[o]);
  }
}
