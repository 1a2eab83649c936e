// SPDX-License-Identifier: Apache-2.0
// What the station asks of the store controller. See store_controller.c.
#ifndef SIM_CYCLE_STORE_CONTROLLER_H
#define SIM_CYCLE_STORE_CONTROLLER_H

#include "sim/cycle/engine.h"

extern const char *const cycle_store_controller_causes[CYCLE_CAUSES];

void cycle_store_create(cycle_engine *c);
void cycle_store_destroy(cycle_engine *c);
bool cycle_store_step(cycle_engine *c, uint64_t now);
bool cycle_store_ready(const cycle_engine *c, uint64_t now);
void cycle_store_take(cycle_engine *c, uint64_t now, const cycle_issue *command);
// The station took w.done[STORE].
void cycle_store_done_taken(cycle_engine *c);
bool cycle_store_busy(const cycle_engine *c);

#endif
