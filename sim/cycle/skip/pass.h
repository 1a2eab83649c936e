// SPDX-License-Identifier: Apache-2.0
// Commands that only pass the front end, kept as times. See pass.c.
#ifndef SIM_CYCLE_SKIP_PASS_H
#define SIM_CYCLE_SKIP_PASS_H

#include "sim/cycle/engine.h"

enum { CYCLE_PASS_QUEUES = 4, CYCLE_PASS_RING = 16, CYCLE_PASS_ROOM = 2 };

typedef struct cycle_pass_command {
  cycle_front_command command;
  sim_class unit;  // SIM_CLASSES: it does not go to the station
  uint64_t pushed;
  uint64_t left[CYCLE_PASS_QUEUES];  // CYCLE_NEVER: not known
} cycle_pass_command;

typedef struct cycle_pass {
  bool open;
  bool refused;  // the head found no entry
  uint32_t last;
  uint32_t pushed, taken;  // commands; their difference is in the chain
  // The earliest cycle in which a command is at the head of the last queue; CYCLE_NEVER: there is none in the chain.
  // And that in which the command queue has room; CYCLE_NEVER: not known.
  uint64_t head_at, room_at;
  uint64_t later_at;  // from then on cycles are spent on `later`; CYCLE_NEVER: nothing is planned
  unsigned later;
  cycle_pass_command of[CYCLE_PASS_RING];
} cycle_pass;

void cycle_pass_create(cycle_engine *c);
void cycle_pass_destroy(cycle_engine *c);
// The command of this cycle is kept as times; false: it goes into the command queue, and with it all that was kept.
bool cycle_pass_push(cycle_engine *c, uint64_t now, const cycle_front_command *command);
// The front end's step, while commands are kept as times; false: they are not.
bool cycle_pass_step(cycle_engine *c, uint64_t now);
bool cycle_pass_enter(cycle_engine *c, uint64_t from);
// What the cycles before this one were spent on is noted.
void cycle_pass_catch_up(cycle_engine *c, uint64_t now);
// From cycle `at` on commands are in their queues.
void cycle_pass_leave(cycle_engine *c, uint64_t at);

static inline bool cycle_pass_is_open(const cycle_engine *c) { return c->pass->open; }
static inline bool cycle_pass_busy(const cycle_engine *c) { return c->pass->pushed != c->pass->taken; }
static inline bool cycle_pass_refused(const cycle_engine *c) { return c->pass->refused; }
// The command queue has room from then on.
static inline uint64_t cycle_pass_ready_at(const cycle_engine *c) {
  return c->pass->open ? c->pass->room_at : CYCLE_NEVER;
}

#endif
