// SPDX-License-Identifier: Apache-2.0
// Rows of int32 that are repeated, as an actor: repeats.c.
#ifndef SIM_FLOW_REPEATS_H
#define SIM_FLOW_REPEATS_H

#include "sim/flow/engine.h"

void flow_repeats_create(flow_engine *e);
// `count` writes from cycle `from` on, behind those of the command so far; `whole`: they are its last.
void flow_repeats_add(flow_engine *e, uint8_t slot, uint32_t row, flow_time from, uint64_t count, bool whole);
void flow_repeats_wake(flow_engine *e);
// A load has ended (load.c).
void flow_load_end(flow_engine *e, uint8_t slot, flow_time at);

#endif
