// SPDX-License-Identifier: Apache-2.0
// When a load may read what a store of the same program wrote.
//
// The hardware orders accesses to its own memories, not to main memory: a store is done when its last row has been read
// from the accumulator, and the row is on its way through the store unit then. What is certain without a fence:
//
//   - a load enters the reservation station behind all stores in front of it in the program, and then at most as many
//     stores as the station holds are not done;
//   - stores begin in order, and their rows leave the store unit in the order in which they were read;
//   - the store unit and the DMA writer hold a bounded number of rows, and what the bus has granted a later read sees.
//
// So bytes are settled for a load if, of the stores between, all but as many as the station holds have more rows than
// the way to the bus. This holds for any times of main memory, and is what `command_check_order` asks of programs.
#ifndef COMPILER_COMMAND_ORDER_H
#define COMPILER_COMMAND_ORDER_H

#include "arch/settle.h"
#include "compiler/command/command.h"

// The stores of a program so far, by numbers from 1.
typedef struct command_stores {
  arch_settling distance;
  uint64_t *rows;  // of the first n stores
  size_t count, room;
  size_t settled;  // the last store whose bytes every load behind it sees
} command_stores;

command_stores command_stores_begin(const hw_array *array);
void command_stores_end(command_stores *s);
// The next store, which writes at least so many rows; its number.
uint32_t command_stores_add(command_stores *s, uint32_t rows);
static inline void command_stores_fence(command_stores *s) { s->settled = s->count; }

// Whether every load of a tensor that the program writes, too, reads settled bytes. Reports the first that does not.
// Commands of loop unrollers are not looked at: they end with a fence.
bool command_check_order(const command_program *program, wf_diag *diag);

#endif
