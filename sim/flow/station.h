// SPDX-License-Identifier: Apache-2.0
// The reservation station as times: station.c.
#ifndef SIM_FLOW_STATION_H
#define SIM_FLOW_STATION_H

#include "sim/flow/engine.h"

void flow_station_create(flow_engine *e);
// The class of a command, SIM_CLASSES: it does not enter the station.
static inline sim_class flow_station_class(const flow_engine *e, isa_id insn) { return (sim_class)e->class_of[insn]; }
// The first cycle in which the class has room; FLOW_AT_NEVER: not known.
flow_time flow_station_room(const flow_engine *e, sim_class unit);
// The event of a command that enters at that time.
flow_time flow_station_event(flow_engine *e, sim_class unit, flow_time at);
// The command enters in cycle `at`, in which there is room.
void flow_station_enter(flow_engine *e, flow_time at, sim_class unit, const cycle_front_command *command);
// Entry `slot` ends in cycle `at`.
void flow_station_end(flow_engine *e, sim_class unit, unsigned slot, flow_time at);
// The command that the unit takes next and those behind it: NULL if it has not come or its issue is not known.
const flow_issue *flow_station_head(const flow_engine *e, sim_class unit, unsigned place);
// The unit takes the head; returns its slot.
unsigned flow_station_take(flow_engine *e, sim_class unit);
// The oldest command that has not left the unit's queue leaves it in cycle `at`.
void flow_station_leave(flow_engine *e, sim_class unit, flow_time at);

#endif
