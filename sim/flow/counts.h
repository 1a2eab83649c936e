// SPDX-License-Identifier: Apache-2.0
// What commands move and compute, for the energy of a run: counted when they enter the station, but for rows that are
// loaded, which two bursts may share: each writes them.
#ifndef SIM_FLOW_COUNTS_H
#define SIM_FLOW_COUNTS_H

#include "sim/flow/engine.h"

void flow_counts_reset(flow_engine *e);
// The configuration that it needs is that of the commands counted before.
void flow_counts_command(flow_engine *e, const cycle_front_command *command);
// The same of a preload or compute, whose registers are taken apart.
void flow_counts_product(flow_engine *e, const cycle_front_command *command, const flow_operand operands[2]);

// Rows that a burst of a load, or a load of zeros, writes from a local address on.
void flow_counts_loaded(flow_engine *e, uint32_t laddr, uint64_t rows);

#endif
