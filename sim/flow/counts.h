// SPDX-License-Identifier: Apache-2.0
// What commands move and compute, for the energy of a run: counted when they enter the station, but for rows that are
// loaded, which two bursts may share: each writes them.
#ifndef SIM_FLOW_COUNTS_H
#define SIM_FLOW_COUNTS_H

#include "sim/flow/engine.h"

void flow_counts_reset(flow_engine *e);
// The configuration that it needs is that of the commands counted before.
void flow_counts_command(flow_engine *e, const cycle_front_command *command);
// What a preload or compute of the shape counts; those alike are counted in e->alike.
flow_counts flow_counts_product(const flow_engine *e, const cycle_front_command *command, const flow_shape shape[2]);
// Adds those so far: products of other shapes take their place.
void flow_counts_close(flow_engine *e, flow_alike *alike);

// Rows that a burst of a load, or a load of zeros, writes from a local address on.
void flow_counts_loaded(flow_engine *e, uint32_t laddr, uint64_t rows);

#endif
