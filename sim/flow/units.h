// SPDX-License-Identifier: Apache-2.0
// The units as actors: load.c, store.c, execute.c.
#ifndef SIM_FLOW_UNITS_H
#define SIM_FLOW_UNITS_H

#include "sim/flow/engine.h"

void flow_load_create(flow_engine *e);
void flow_store_create(flow_engine *e);
void flow_execute_create(flow_engine *e);

// Finds the unit's next time after something it waits for became known.
void flow_load_wake(flow_engine *e);
void flow_store_wake(flow_engine *e);
void flow_execute_wake(flow_engine *e);
void flow_unit_wake(flow_engine *e, sim_class unit);

void flow_load_step(flow_engine *e);
void flow_repeats_step(flow_engine *e);
void flow_store_step(flow_engine *e);
void flow_execute_step(flow_engine *e);

#endif
