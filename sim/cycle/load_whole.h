// SPDX-License-Identifier: Apache-2.0
// Bursts that are written as a whole while the port lags. See load_whole.c.
#ifndef SIM_CYCLE_LOAD_WHOLE_H
#define SIM_CYCLE_LOAD_WHOLE_H

#include "sim/cycle/load_path_inside.h"

// Whole bursts alone are on their way while the port lags, and stay so in this cycle.
bool cycle_load_path_only_bursts(const cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The cycle, then. True: an answer was given.
bool cycle_load_path_step_whole(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// Rows of the cycles before `end` are written; later rows ask for their banks one by one.
void cycle_load_path_end_whole(cycle_engine *c, struct cycle_load_path *p, uint64_t end);

#endif
