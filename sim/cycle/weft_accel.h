// SPDX-License-Identifier: Apache-2.0
// The accelerator as a whole: one cycle of all units, and many.
#ifndef SIM_CYCLE_WEFT_ACCEL_H
#define SIM_CYCLE_WEFT_ACCEL_H

#include "sim/cycle/engine.h"

void cycle_accel_create(cycle_engine *c);
// Carries out the cycle of the clock, which then stands at the next one.
void cycle_accel_step(cycle_engine *c);
// Where a run ends, if it does not reach its limit: nowhere, where a command can be pushed, where nothing is busy.
typedef enum { CYCLE_TO_LIMIT, CYCLE_TO_ROOM, CYCLE_TO_IDLE } cycle_goal;
// Carries out cycles before `limit` until the goal or a fault, and leaves out those in which nothing changes. False:
// the goal is not reached, and nothing will ever change; without a goal only if there is no limit (CYCLE_NEVER) either.
bool cycle_accel_run(cycle_engine *c, uint64_t limit, cycle_goal goal);
bool cycle_accel_busy(cycle_engine *c);
// The earliest cycle, at least that of the clock, in which anything can change; CYCLE_NEVER: nothing will.
uint64_t cycle_accel_next(const cycle_engine *c);

const char *cycle_unit_name(cycle_unit_id unit);
// The names of what a unit spends its cycles on, CYCLE_CAUSES of them, NULL past the last; NULL: not reported.
const char *const *cycle_unit_causes(cycle_unit_id unit);

// The engine stops with this message, unless it has stopped already.
void cycle_fail(cycle_engine *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
