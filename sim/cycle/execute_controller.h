// SPDX-License-Identifier: Apache-2.0
// What the station and the counters ask of the execute unit. See execute_controller.c.
#ifndef SIM_CYCLE_EXECUTE_CONTROLLER_H
#define SIM_CYCLE_EXECUTE_CONTROLLER_H

#include "sim/cycle/engine.h"

extern const char *const cycle_execute_causes[CYCLE_CAUSES];

void cycle_execute_create(cycle_engine *c);
void cycle_execute_destroy(cycle_engine *c);
// Starts operations, reads rows, reports completions, takes an issued command. True: another unit can see a change.
bool cycle_execute_step(cycle_engine *c, uint64_t now);
// ex_ready: takes a command in this cycle; the earliest cycle in which it does, CYCLE_NEVER: not known.
bool cycle_execute_ready(const cycle_engine *c, uint64_t now);
uint64_t cycle_execute_ready_at(const cycle_engine *c);
void cycle_execute_take(cycle_engine *c, uint64_t now, const cycle_issue *command);
bool cycle_execute_busy(const cycle_engine *c, uint64_t now);
// A single preload waits for its compute, by the registers at the start of the cycle.
bool cycle_execute_solitary_preload(const cycle_engine *c);

#endif
