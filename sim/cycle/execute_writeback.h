// SPDX-License-Identifier: Apache-2.0
// Sends result rows to local memory. See execute_writeback.c.
#ifndef SIM_CYCLE_EXECUTE_WRITEBACK_H
#define SIM_CYCLE_EXECUTE_WRITEBACK_H

#include "sim/cycle/mesh_with_delays.h"

// Sets w.ex_*, w.product_*; writes the row. True: a product is done that execute has to report.
bool cycle_writeback_step(cycle_engine *c, uint64_t now);

// Row n of the results of a request that carries a product goes to its place in this cycle.
void cycle_execute_write_row(cycle_engine *c, uint64_t now, const cycle_mesh_request *request, uint32_t n);
// The same of rows n, n + 1, ... that left in the cycles from `at` on, all before this one, and went to the
// accumulator.
void cycle_execute_write_past_rows(cycle_engine *c, uint64_t now, const cycle_mesh_request *request, uint32_t n,
                                   uint64_t at, uint32_t rows);

#endif
