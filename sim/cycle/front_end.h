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

extern const char *const cycle_front_end_causes[CYCLE_CAUSES];

void cycle_front_create(cycle_engine *c);
void cycle_front_destroy(cycle_engine *c);
bool cycle_front_step(cycle_engine *c, uint64_t now);
// cmd_ready of cycle `now`, asked for before the cycle is carried out; the earliest cycle in which it is set,
// CYCLE_NEVER: not known.
bool cycle_front_ready(const cycle_engine *c, uint64_t now);
uint64_t cycle_front_ready_at(const cycle_engine *c);
// The handshake of cycle `now`.
void cycle_front_push(cycle_engine *c, uint64_t now, const arch_command *command);
bool cycle_front_busy(const cycle_engine *c);
// It has to be stepped in this cycle.
static inline bool cycle_front_awake(const cycle_engine *c, uint64_t now) {
  return c->wake[CYCLE_FRONT_END] <= now || c->eager || c->counting;
}
// What the cycles before this one were spent on is noted.
void cycle_front_settle(cycle_engine *c, uint64_t now);
// The station: a command completed, and the front end is not awake.
void cycle_front_completed(cycle_engine *c, uint64_t now);

#endif
