// SPDX-License-Identifier: Apache-2.0
// What stands in for the reservation station on an array with tokens: reservation_station.h says what each function is
// for. See token_queues.c.
#ifndef SIM_CYCLE_TOKEN_QUEUES_H
#define SIM_CYCLE_TOKEN_QUEUES_H

#include "sim/cycle/station_records.h"

void cycle_tokens_create(cycle_engine *c);
// Of an array with a station: nothing.
void cycle_tokens_destroy(cycle_engine *c);
bool cycle_tokens_step(cycle_engine *c, uint64_t now);
bool cycle_tokens_busy(const cycle_engine *c, bool solitary_preload);
bool cycle_tokens_take(cycle_engine *c, uint64_t now, const cycle_front_command *command, sim_class unit);
bool cycle_tokens_full(const cycle_engine *c, sim_class unit);
void cycle_tokens_counts(const cycle_engine *c, uint64_t now, unsigned counts[SIM_CLASSES]);
void cycle_tokens_room(cycle_engine *c, uint64_t now);
// A place became free in this cycle.
bool cycle_tokens_freed(const cycle_engine *c, uint64_t now);
cycle_records *cycle_tokens_records(cycle_engine *c);

#endif
