// SPDX-License-Identifier: Apache-2.0
// Cycles of the execute unit that only move a row, carried out together. See execute_stream.c.
#ifndef SIM_CYCLE_EXECUTE_STREAM_H
#define SIM_CYCLE_EXECUTE_STREAM_H

#include "sim/cycle/execute.h"

// ---- for the other units

// A scratchpad bank of c->execute_banks is written in this cycle, before c->execute_until; before execute is stepped.
void cycle_execute_disturbed(cycle_engine *c, uint64_t now);
// Results of this cycle are needed (c->results_at <= now): they are written, and the wires set.
void cycle_writeback_catch_up(cycle_engine *c, uint64_t now);

// ---- for the execute unit

// Fetch and mesh as they are at the start of this cycle.
void cycle_execute_stream_to_now(cycle_engine *c, uint64_t now, cycle_execute *x);
// The mesh as it is after this cycle, if it sleeps through it.
void cycle_execute_stream_mesh(cycle_engine *c, uint64_t now, cycle_execute *x);
// Lets fetch, or the mesh, stream from cycle `from` on if nothing else can happen in it. Fetch must be stepped in
// stream_until; the mesh's wake time is set.
bool cycle_execute_stream_fetch_from(cycle_engine *c, uint64_t now, cycle_execute *x, uint64_t from);
bool cycle_execute_stream_mesh_from(cycle_engine *c, cycle_execute *x, uint64_t from);
// Fetch must be stepped in `cycle` if it streams still.
void cycle_execute_stream_end(cycle_engine *c, cycle_execute *x, uint64_t cycle);
// The rows of the request need no cycle of their own, but for the last.
bool cycle_execute_stream_is_quiet(const cycle_execute *x, const cycle_mesh_request *r);
// Rows that left before this cycle are written. Sets write-back's wake time.
void cycle_execute_stream_results(cycle_engine *c, uint64_t now, cycle_execute *x);
void cycle_execute_stream_results_sleep(cycle_engine *c, uint64_t now, cycle_execute *x);

#endif
