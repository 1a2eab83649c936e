// SPDX-License-Identifier: Apache-2.0
// What the front end and the controllers ask of the reservation station. See reservation_station.c.
#ifndef SIM_CYCLE_RESERVATION_STATION_H
#define SIM_CYCLE_RESERVATION_STATION_H

#include "sim/cycle/engine.h"

void cycle_station_create(cycle_engine *c);
void cycle_station_destroy(cycle_engine *c);
// Completions (execute, load, store), issue to ready controllers, events; true: a store was issued. Its wake time is
// that of a command that may issue; one that its controller had no room for (c->issuable) issues after a change of the
// controller.
bool cycle_station_step(cycle_engine *c, uint64_t now);
bool cycle_station_busy(const cycle_engine *c);
// The front end offers a command, after the station's step: room was looked at before this cycle's completions freed
// entries. False: there is none in the command's class, which `unit` tells.
bool cycle_station_take(cycle_engine *c, uint64_t now, const cycle_front_command *command, sim_class *unit);
// At the end of this cycle: the file of the class has no entry for a command in the next one.
bool cycle_station_full(const cycle_engine *c, sim_class unit);
// SIM_CLASSES: of an instruction that does not go there.
sim_class cycle_station_class(isa_id insn);
// Valid entries at the start of cycle `now`, also when asked after its steps.
void cycle_station_counts(const cycle_engine *c, uint64_t now, unsigned counts[SIM_CLASSES]);
// Execute will have room for a command.
void cycle_station_room(cycle_engine *c, uint64_t now);
// An entry became free in this cycle.
bool cycle_station_freed(const cycle_engine *c, uint64_t now);
// When the front end is through: tells the records of this cycle.
void cycle_station_tell(cycle_engine *c, uint64_t now);

#endif
