// SPDX-License-Identifier: Apache-2.0
// The front end: takes commands from the host and hands them, loops unrolled, to the reservation station.
//
//   command queue (2) -> loop_conv -> loop_matmul -> unrolled queue (2) -> reservation station, counters, flush
//
// In a step, after the station's: the unrolled queue's head leaves; loop_matmul's offer enters the unrolled queue;
// loop_matmul is stepped; loop_conv's offer enters loop_matmul's queue; loop_conv is stepped; the command queue's head
// enters loop_conv's queue. A unit that the array lacks is left out of the chain.
#ifndef SIM_CYCLE_FRONT_END_H
#define SIM_CYCLE_FRONT_END_H

#include "sim/cycle/engine.h"

// CYCLE_FRONT_FULL and the next two: no entry of that class (sim_class).
typedef enum {
  CYCLE_FRONT_IDLE,
  CYCLE_FRONT_WORKING,
  CYCLE_FRONT_FULL,
  CYCLE_FRONT_COUNTER = CYCLE_FRONT_FULL + SIM_CLASSES,
  CYCLE_FRONT_LOOP_WAITS,
  CYCLE_FRONT_CAUSES
} cycle_front_cause;
_Static_assert((int)CYCLE_FRONT_CAUSES <= (int)CYCLE_CAUSES, "more causes than a report has room for");
extern const char *const cycle_front_end_causes[CYCLE_CAUSES];

void cycle_front_create(cycle_engine *c);
void cycle_front_destroy(cycle_engine *c);
bool cycle_front_step(cycle_engine *c, uint64_t now);
// cmd_ready of cycle `now`, asked for before the cycle is carried out.
bool cycle_front_ready(const cycle_engine *c, uint64_t now);
// The handshake of cycle `now`.
void cycle_front_push(cycle_engine *c, uint64_t now, const arch_command *command);
bool cycle_front_busy(const cycle_engine *c);
// A command that completes in this cycle may let one go on.
bool cycle_front_concerned(const cycle_engine *c);

// ---- for skip/pass.c

// Nothing is on its way, and the loop units have nothing to do.
bool cycle_front_rests(const cycle_engine *c);
// A command ends at the head of the unrolled queue. CYCLE_FRONT_WORKING: it left.
cycle_front_cause cycle_front_end_command(cycle_engine *c, uint64_t now, const cycle_front_command *head);
// The loop units count the completions of this cycle.
void cycle_front_count(cycle_engine *c);
// The command entered a queue of the chain (0: the command queue) in a cycle before.
void cycle_front_fill(cycle_engine *c, uint64_t entered, uint32_t queue, const cycle_front_command *command);

#endif
