// SPDX-License-Identifier: Apache-2.0
// Writes commands.
#ifndef COMPILER_SCHEDULE_EMIT_H
#define COMPILER_SCHEDULE_EMIT_H

#include "compiler/schedule/interleave.h"

// Adds the tensors of a program to its commands.
void sched_emit_tensors(const block_program *program, command_program *out);
// Adds tensors, all commands of an order, and a fence.
void sched_emit(const sched_streams *s, const block_program *program, const sched_order *all, command_program *out);

#endif
