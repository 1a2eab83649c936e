// From a placed block program to the commands that carry it out.
//
// `sched_commands` walks the loops of the program, cuts each statement into commands, gives loads, products and stores
// one order, and writes them; or, in style `loop`, writes commands of the hardware's loop unrollers. The commands end
// with a fence and mean what the program means (block_run).
#ifndef COMPILER_SCHEDULE_SCHEDULE_H
#define COMPILER_SCHEDULE_SCHEDULE_H

#include <stdbool.h>

#include "base/diag.h"
#include "compiler/block/block.h"
#include "compiler/command/command.h"
#include "hw/array.h"

// The caller destroys the result; NULL after the reason was reported. `whole_stores`: stores stay whole even where
// cutting them would let banks of main memory take turns.
command_program *sched_commands(const block_program *program, const hw_array *array, bool whole_stores, wf_diag *diag);

#endif
