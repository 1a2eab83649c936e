// SPDX-License-Identifier: Apache-2.0
// Cycles in which operand fetch only reads the next row of each operand. See fetch.c.
#ifndef SIM_CYCLE_SKIP_FETCH_H
#define SIM_CYCLE_SKIP_FETCH_H

#include "sim/cycle/engine.h"

// Execute must then be stepped in cycle stream_until.
bool cycle_fetch_enter(cycle_engine *c, uint64_t from);
void cycle_fetch_catch_up(cycle_engine *c, uint64_t now);
void cycle_fetch_leave(cycle_engine *c, uint64_t at);

#endif
