// SPDX-License-Identifier: Apache-2.0
// What the station, the load path and the port ask of the load controller. See load_controller.c.
#ifndef SIM_CYCLE_LOAD_CONTROLLER_H
#define SIM_CYCLE_LOAD_CONTROLLER_H

#include "sim/cycle/engine.h"

extern const char *const cycle_load_controller_causes[CYCLE_CAUSES];

void cycle_load_create(cycle_engine *c);
void cycle_load_destroy(cycle_engine *c);
// Sends a row request, takes w.load_answered, sets w.done[LOAD].
bool cycle_load_step(cycle_engine *c, uint64_t now);
bool cycle_load_ready(const cycle_engine *c, uint64_t now);
void cycle_load_take(cycle_engine *c, uint64_t now, const cycle_issue *command);
// The station took w.done[LOAD].
void cycle_load_done_taken(cycle_engine *c, uint64_t now);
bool cycle_load_busy(const cycle_engine *c);

// The load path has taken bytes of a command from the bus; true: they are its last.
bool cycle_load_comes(cycle_engine *c, uint8_t cmd, uint32_t bytes);
// An answer of an earlier cycle, which does not end the command.
void cycle_load_answered(cycle_engine *c, uint8_t cmd, uint32_t bytes);
// It has a row request that may have been refused.
bool cycle_load_waits(const cycle_engine *c);

// The next cycle shows a command as done or, if `room`, room in the queue; the earliest cycle in which either may
// change.
bool cycle_load_shows(const cycle_engine *c, bool room);
uint64_t cycle_load_visible(const cycle_engine *c, bool room);

#endif
