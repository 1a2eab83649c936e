// SPDX-License-Identifier: Apache-2.0
// Steps in which hart and array work at one time.
//
// The hart gives the array its commands, so it can compute only while the array has commands left. A step of the array
// that is products or convolutions by the hardware's loops has few of them: some thousand cycles each. So a slot of
// steps, some of the array and some of the hart, none of which needs another's results across the two, becomes one step
// of the hart: pieces of its own work, and between them the loops of the array, each given before the one before it has
// ended. At the end of a slot the array is idle and everything is in memory.
//
// Which steps share a slot is a list schedule over the graph of steps with both as resources (slots.c), from the cycles
// that each step takes by itself. One image is a chain of steps, which leaves little to share; several runs of a
// network in one graph (compiler/graph/repeat.h) leave most.
#ifndef COMPILER_NETWORK_OVERLAP_OVERLAP_H
#define COMPILER_NETWORK_OVERLAP_OVERLAP_H

#include "compiler/network/network.h"

// All steps of a network once, slot behind slot. In a slot the steps of the array stand in their order, and those of
// the hart in theirs.
typedef struct network_slots {
  int *steps;              // numbers of steps as they are lowered
  int *counts;             // steps per slot
  int count;               // slots
  const uint64_t *cycles;  // by step, what it takes by itself; borrowed
} network_slots;

// Which step goes first of those that are ready: on the longest way to the end; on the shortest way to a step of the
// hart; the earliest.
typedef enum {
  NETWORK_LONGEST_FIRST,
  NETWORK_NEAREST_FIRST,
  NETWORK_EARLIEST_FIRST,
  NETWORK_SLOT_RULES
} network_slot_rule;

typedef struct network_slot_request {
  const uint64_t *cycles;  // by step, what it takes by itself
  const bool *alone;       // by step: it shares no slot
  network_slot_rule rule;
} network_slot_request;

// The slots for the steps of a network that was created with `loops`, without slots and mixes; memory is the arena's.
network_slots network_find_slots(const network *net, const network_slot_request *request, wf_arena *arena);

#endif
