// SPDX-License-Identifier: Apache-2.0
// Bursts that are written as a whole while the port lags. See whole.c.
#ifndef SIM_CYCLE_SKIP_WHOLE_H
#define SIM_CYCLE_SKIP_WHOLE_H

#include "sim/cycle/load_path_inside.h"

bool cycle_whole_enter(cycle_engine *c, uint64_t from);
void cycle_whole_catch_up(cycle_engine *c, uint64_t now);
void cycle_whole_leave(cycle_engine *c, uint64_t at);
// Whole bursts alone are on their way while the port lags, and stay so in this cycle.
bool cycle_whole_stays(const cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The cycle, then. True: an answer was given.
bool cycle_whole_step(cycle_engine *c, uint64_t now, struct cycle_load_path *p);

#endif
