// SPDX-License-Identifier: Apache-2.0
// Cycles in which the mesh only takes a row. See feed.c.
#ifndef SIM_CYCLE_SKIP_FEED_H
#define SIM_CYCLE_SKIP_FEED_H

#include "sim/cycle/engine.h"

bool cycle_feed_enter(cycle_engine *c, uint64_t from);
void cycle_feed_catch_up(cycle_engine *c, uint64_t now);
void cycle_feed_leave(cycle_engine *c, uint64_t at);

#endif
