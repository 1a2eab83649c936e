// SPDX-License-Identifier: Apache-2.0
// What the load controller, the DMA reader and the port ask of the load path. See load_path.c.
#ifndef SIM_CYCLE_LOAD_PATH_H
#define SIM_CYCLE_LOAD_PATH_H

#include "sim/cycle/engine.h"

void cycle_load_path_create(cycle_engine *c);
void cycle_load_path_destroy(cycle_engine *c);
// True: an answer was given, or zeros made room.
bool cycle_load_path_step(cycle_engine *c, uint64_t now);
// ld_req_ready, after the reader's step; only then it takes a row request.
bool cycle_load_path_ready(const cycle_engine *c, uint64_t now, bool zeros);
void cycle_load_path_request(cycle_engine *c, uint64_t now, const cycle_load_row *row);
// rd_req: the head of the issue queue, NULL: none; there will be one in the next cycle.
const cycle_load_row *cycle_load_path_offer(const cycle_engine *c, uint64_t now);
bool cycle_load_path_offers(const cycle_engine *c);
void cycle_load_path_offer_taken(cycle_engine *c, uint64_t now);
// All that was taken and not answered is bursts that are written as a whole; the wake time is that of an answer that
// ends a command.
bool cycle_load_path_whole(const cycle_engine *c);

#endif
