// SPDX-License-Identifier: Apache-2.0
// Tensors that one program of a mix (mix.h) leaves in the scratchpad for a later one. What the earlier one would store
// moves out of the accumulator to the rows that the later one's loads would fill, with the scale and activation of the
// store; the loads fall away.
//
// Moves stand where the store does: its results are complete there and not overwritten yet. They have to follow the
// products of the later program that still read the rows, and its first product that needs a load all moves of it.
// Which bytes lie where is known from both streams, so a tensor is forwarded as a whole or not at all.
#ifndef COMPILER_SCHEDULE_FORWARD_H
#define COMPILER_SCHEDULE_FORWARD_H

#include "compiler/schedule/streams.h"

// A program of the mix.
typedef struct sched_forward_part {
  const sched_streams *streams;
  const int *tensors;  // numbers in the mix of its tensors
} sched_forward_part;

// A command that does rows of column blocks of a load.
typedef struct sched_move {
  uint32_t from, to;              // local rows
  uint32_t stride, block_stride;  // in the scratchpad, between rows and between column blocks of a row
  uint16_t rows, cols, blocks;    // of columns
  int part, queue;
  uint32_t load;
} sched_move;

typedef struct sched_forwards sched_forwards;

// The arena owns it; `parts` is borrowed.
sched_forwards *sched_forwards_create(const sched_forward_part *parts, int count, int tensor_count, wf_arena *arena);
// Forwards a tensor of so many bytes from its writer to the programs behind it. False: some load reads bytes other than
// stores leave them, or does something else with them; nothing is changed.
bool sched_forwards_add(sched_forwards *f, int tensor, uint64_t bytes, int writer);
bool sched_forwards_has(const sched_forwards *f, int tensor);

// The moves of a store.
size_t sched_forwards_moves(const sched_forwards *f, int part, uint32_t store, const sched_move **moves);
// A move was written.
void sched_forwards_note(sched_forwards *f, const sched_move *move);
// Whether moves do the load, and whether all of them were written.
bool sched_forwards_takes(const sched_forwards *f, int part, int queue, uint32_t load);
bool sched_forwards_is_filled(const sched_forwards *f, int part, int queue, uint32_t load);

#endif
