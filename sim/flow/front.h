// SPDX-License-Identifier: Apache-2.0
// The front end as an actor: front.c.
#ifndef SIM_FLOW_FRONT_H
#define SIM_FLOW_FRONT_H

#include "sim/flow/engine.h"

void flow_front_create(flow_engine *e);
void flow_front_destroy(flow_engine *e);
// The first cycle from `at` on in which the command queue takes a command; FLOW_NEVER: not known.
uint64_t flow_front_room(flow_engine *e, uint64_t at);
// A command enters in cycle `at`, in which there is room.
void flow_front_push(flow_engine *e, uint64_t at, const arch_command *command);
// A command of a loop ends in cycle `at`.
void flow_front_done(flow_engine *e, sim_class unit, bool conv, flow_time at);
void flow_front_wake(flow_engine *e);
void flow_front_step(flow_engine *e);
bool flow_front_busy(const flow_engine *e);

#endif
