// SPDX-License-Identifier: Apache-2.0
// Commands that only pass the front end: while no loop unit has a loop, and none is on its way to one, the queues
// between the command queue and the reservation station do nothing but hold commands back. They are then kept as times.
//
// Queue q of the chain (0: the command queue, `last`: the unrolled queue) holds two commands, latency 1, and has room
// in the cycle after one has left. So command n leaves queue q < last in
//   left[q](n) = 1 + max(left[q - 1](n), left[q](n - 1), left[q + 1](n - 2))
// where left[-1](n) is the cycle in which it was pushed; only the last queue is left when the station says so. What
// follows from a command that leaves there is found at once: one time for each queue.
#ifndef SIM_CYCLE_FRONT_PASS_H
#define SIM_CYCLE_FRONT_PASS_H

#include "sim/cycle/engine.h"

enum { CYCLE_PASS_QUEUES = 4, CYCLE_PASS_RING = 16, CYCLE_PASS_ROOM = 2 };

typedef struct cycle_pass_command {
  cycle_front_command command;
  sim_class unit;  // SIM_CLASSES: it does not go to the station
  uint64_t pushed;
  uint64_t left[CYCLE_PASS_QUEUES];  // CYCLE_NEVER: not known
} cycle_pass_command;

typedef struct cycle_front_pass {
  bool open;
  uint32_t last;
  uint32_t pushed, taken;  // commands; their difference is in the chain
  // The earliest cycle in which a command is at the head of the last queue; CYCLE_NEVER: there is none in the chain.
  // And that in which the command queue has room; CYCLE_NEVER: not known.
  uint64_t head_at, room_at;
  cycle_pass_command of[CYCLE_PASS_RING];
} cycle_front_pass;

// The chain is empty, as it has been since the cycle before this one at least.
void cycle_pass_open(cycle_front_pass *p, uint32_t queues);
void cycle_pass_push(cycle_front_pass *p, uint64_t now, const cycle_front_command *command);
// The head of the last queue leaves.
void cycle_pass_take(cycle_front_pass *p, uint64_t now);

static inline cycle_pass_command *cycle_pass_at(cycle_front_pass *p, uint32_t number) {
  return &p->of[number % CYCLE_PASS_RING];
}

static inline bool cycle_pass_empty(const cycle_front_pass *p) { return p->pushed == p->taken; }

static inline const cycle_pass_command *cycle_pass_head(const cycle_front_pass *p) {
  return &p->of[p->taken % CYCLE_PASS_RING];
}

#endif
