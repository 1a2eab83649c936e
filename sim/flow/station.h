// SPDX-License-Identifier: Apache-2.0
// The reservation station as times: station.c.
#ifndef SIM_FLOW_STATION_H
#define SIM_FLOW_STATION_H

#include "sim/flow/engine.h"

void flow_station_create(flow_engine *e);
// The class of a command, SIM_CLASSES: it does not enter the station.
static inline sim_class flow_station_class(const flow_engine *e, isa_id insn) { return (sim_class)e->class_of[insn]; }
// The command enters in cycle `at`, in which there is room.
void flow_station_enter(flow_engine *e, flow_time at, sim_class unit, const cycle_front_command *command);
// Entry `slot` ends in cycle `at`.
void flow_station_end(flow_engine *e, sim_class unit, unsigned slot, flow_time at);
// The command that the unit takes next and those behind it: NULL if it has not come or its issue is not known.
static inline const flow_issue *flow_station_head(const flow_engine *e, sim_class unit, unsigned place) {
  const flow_file *f = &e->files[unit];
  if (f->issued - f->taken <= place) return NULL;
  return &f->of[(f->taken + place) & f->ring];
}
// The unit takes the head; returns its slot.
static inline unsigned flow_station_take(flow_engine *e, sim_class unit) {
  flow_file *f = &e->files[unit];
  return f->slot[f->taken++ & f->ring];
}
// The oldest command that has not left the unit's queue leaves it in cycle `at`.
void flow_station_leave(flow_engine *e, sim_class unit, flow_time at);
// On an array with tokens: the entry (command `index` of the program) pops the tokens that the command asks for, and
// pushes those that it gives.
void flow_station_pass_tokens(flow_engine *e, uint64_t at, sim_class unit, unsigned slot, uint32_t index);
// The record of an entry, with the tokens that it came with.
void flow_station_keep_alloc(flow_engine *e, const flow_entry *entry, const cycle_front_command *command);
// Those that wait for the entry's end, which is `at`, are told.
void flow_station_release(flow_engine *e, flow_entry *entry, flow_time at);
// Finds the issue of all commands of the unit for which it follows.
void flow_station_settle(flow_engine *e, sim_class unit);

#endif
