// SPDX-License-Identifier: Apache-2.0
// Performance counters. See counters.c.
#ifndef SIM_CYCLE_COUNTERS_H
#define SIM_CYCLE_COUNTERS_H

#include "sim/cycle/engine.h"

void cycle_counters_create(cycle_engine *c);
void cycle_counters_destroy(cycle_engine *c);
// While counting, before the steps of a cycle: clears c->ev and notes which controllers are busy.
void cycle_counters_begin(cycle_engine *c, uint64_t now);
// While counting, after the steps of all other units.
bool cycle_counters_step(cycle_engine *c, uint64_t now);
// In the front end's step: whether it takes a command, and the command.
bool cycle_counters_ready(const cycle_engine *c, uint64_t now);
void cycle_counters_command(cycle_engine *c, uint64_t now, uint64_t rs1, bool returns);
// The response of a command taken in t is there once cycle t + 1 was carried out; it is given once.
bool cycle_counters_response(cycle_engine *c, uint64_t now, uint64_t *value);

#endif
