// SPDX-License-Identifier: Apache-2.0
// What the store controller and the mesh ask of the store path. See store_path.c.
#ifndef SIM_CYCLE_STORE_PATH_H
#define SIM_CYCLE_STORE_PATH_H

#include "sim/cycle/engine.h"

void cycle_store_path_create(cycle_engine *c);
void cycle_store_path_destroy(cycle_engine *c);
// Issue stage, scale units, normaliser, and their queues.
bool cycle_store_path_step(cycle_engine *c, uint64_t now);
// Bank reads, after those of execute; sets w.store_answered.
bool cycle_store_dispatch_step(cycle_engine *c, uint64_t now);
// st_req_ready, after the dispatch step.
bool cycle_store_path_ready(const cycle_engine *c, uint64_t now);
void cycle_store_path_request(cycle_engine *c, uint64_t now, const cycle_store_row *row);
bool cycle_store_path_busy(const cycle_engine *c, uint64_t now);

// Accumulator operands of the execute unit (acc_rsp_*): a scaled row of this bank is there; the mesh takes it before
// the store path is stepped. `row` gets dim bytes in full mode.
bool cycle_store_path_operand(const cycle_engine *c, uint64_t now, unsigned bank);
void cycle_store_path_operand_taken(cycle_engine *c, uint64_t now, unsigned bank, int8_t *row);

#endif
