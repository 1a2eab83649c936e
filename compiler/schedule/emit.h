// SPDX-License-Identifier: Apache-2.0
// Writes commands.
#ifndef COMPILER_SCHEDULE_EMIT_H
#define COMPILER_SCHEDULE_EMIT_H

#include "compiler/schedule/forward.h"
#include "compiler/schedule/interleave.h"

// A tensor of a program as its commands have it, and all of them.
command_tensor sched_emit_tensor(const block_tensor *tensor);
void sched_emit_tensors(const block_program *program, command_program *out);
// Adds all commands of an order, and a fence; the tensors are there.
void sched_emit(const sched_streams *s, const sched_order *all, command_program *out, wf_arena *arena);

// ---- several programs that take turns, in rows of their own

typedef struct sched_emitter sched_emitter;

// The arena owns it; it has no more than this many programs.
sched_emitter *sched_emitter_create(command_program *out, int programs, wf_arena *arena);
// `tensors`: the numbers in the output of the program's tensors; NULL: they are the same.
void sched_emitter_begin(sched_emitter *m, int program, const sched_streams *s, const int *tensors);
// Writes the next item of a program's order. Between two products that share their weights no other program has a turn.
void sched_emitter_put(sched_emitter *m, int program, const sched_order_item *item);
// Writes a move of what a store of the program would write.
void sched_emitter_move(sched_emitter *m, int program, const sched_store *store, const sched_move *move);

#endif
