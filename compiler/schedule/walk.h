// SPDX-License-Identifier: Apache-2.0
// A walk runs the loops of a block program and tells which instance of each buffer a statement works on.
//
// A buffer lives in the innermost body that holds all its uses, its home: each iteration of that body is a new instance
// of the buffer, which may take another slot.
#ifndef COMPILER_SCHEDULE_WALK_H
#define COMPILER_SCHEDULE_WALK_H

#include "compiler/block/block.h"

typedef struct sched_walk {
  const block_program *program;
  const block_statement **home;  // per buffer: the loop in whose body it lives; NULL: the whole program
  int64_t iteration[BLOCK_LOOPS_MAX];
  uint32_t *instance;  // per buffer: number of its instance, from 0
} sched_walk;

// Returns false to end the walk.
typedef bool sched_walk_visitor(void *context, const sched_walk *w, const block_statement *statement);

// Finds the homes; `arena` owns the result.
void sched_walk_create(sched_walk *w, const block_program *program, wf_arena *arena);
// Runs the program in its own order: calls `visit` for each execution of each statement that is no loop. False after
// `visit` has returned false.
bool sched_walk_run(sched_walk *w, sched_walk_visitor *visit, void *context);
// Whether one of these loops is in an iteration other than its first.
bool sched_walk_repeats(const sched_walk *w, uint32_t loops);

#endif
