// SPDX-License-Identifier: Apache-2.0
// The port, whose cycles are carried out when another unit looks. See lag.c.
#ifndef SIM_CYCLE_SKIP_LAG_H
#define SIM_CYCLE_SKIP_LAG_H

#include "sim/cycle/engine.h"

enum { CYCLE_LONGEST_LAG = 256 };

bool cycle_lag_enter(cycle_engine *c, uint64_t from);
// Before another unit looks at a part.
void cycle_lag_catch_up(cycle_engine *c, uint64_t now);
// This cycle is carried out, too; from the port's place in the order on.
void cycle_lag_through(cycle_engine *c, uint64_t now);
// With the cycle before `at` carried out.
void cycle_lag_leave(cycle_engine *c, uint64_t at);
// The port may lag after this cycle.
bool cycle_lag_may(const cycle_engine *c, uint64_t now);
// While it lags: the earliest cycle in which another unit may have to see what it does.
uint64_t cycle_lag_visible(const cycle_engine *c);
// A scratchpad bank of port.banks is asked for in this cycle: by write-back, before the port's place in the order; by a
// unit after that place.
void cycle_lag_share_next(cycle_engine *c, uint64_t now);
void cycle_lag_share(cycle_engine *c, uint64_t now);
// The latest row that the load path wrote to the scratchpad while the port lags, in cycle `at`.
void cycle_lag_wrote(cycle_engine *c, uint32_t row, uint64_t at);

#endif
