// SPDX-License-Identifier: Apache-2.0
// Cycles in which only a row of results is written. See results.c.
#ifndef SIM_CYCLE_SKIP_RESULTS_H
#define SIM_CYCLE_SKIP_RESULTS_H

#include "sim/cycle/mesh_with_delays.h"

// Sets write-back's wake time.
bool cycle_results_enter(cycle_engine *c, uint64_t from);
void cycle_results_catch_up(cycle_engine *c, uint64_t now);
void cycle_results_leave(cycle_engine *c, uint64_t at);
// Results of this cycle are needed (c->results_at <= now): they are written, and the wires set.
void cycle_results_show(cycle_engine *c, uint64_t now);
// The rows of the request have no cycle of their own, but for the last.
bool cycle_results_quiet(const cycle_engine *c, const cycle_mesh_request *request);

#endif
