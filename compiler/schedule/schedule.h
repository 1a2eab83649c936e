// SPDX-License-Identifier: Apache-2.0
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
#include "compiler/cost/cost.h"
#include "hw/array.h"

typedef struct sched_options {
  const hw_array *array;
  const cost_constants *costs;  // by which commands are placed
  bool pack;                    // known weights are packed (zeros.h): sched_commands does so where it can
  bool whole_stores;            // stores stay whole even where cutting them would let banks of main memory take turns
} sched_options;

// A program whose commands its maker adds to the streams, in place of statements: its tensors and placed buffers.
struct sched_streams;
typedef struct sched_source {
  const block_program *program;
  void (*fill)(const void *context, struct sched_streams *s);  // NULL: the program has statements
  const void *context;
} sched_source;

// Whether main memory can hold the tensors, and the schedule the commands; takes no time. False after the reason was
// reported. sched_commands begins with it.
bool sched_check_size(const block_program *program, const hw_array *array, wf_diag *diag);

// The caller destroys the result; NULL after the reason was reported.
command_program *sched_commands(const block_program *program, const sched_options *options, wf_diag *diag);
// The same for any source, in single commands.
command_program *sched_source_commands(const sched_source *source, const sched_options *options, wf_diag *diag);

#endif
