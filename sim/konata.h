// SPDX-License-Identifier: Apache-2.0
// Commands as a pipeline log (Kanata 0004), which Konata opens. A line per command that enters the reservation station:
// it starts when it is allocated, waits in stage W, is at work in stage L, X or S (load, execute, store) from its issue
// on, and retires when it is done; the thread is its class. What completes at its issue retires there. What is not done
// at the end, or where recording stops, is flushed. A log goes forward in time: it is written as events come.
#ifndef SIM_KONATA_H
#define SIM_KONATA_H

#include <stdio.h>

#include "hw/array.h"
#include "sim/engine.h"

typedef struct sim_konata sim_konata;

// Writes to `out`, which stays the caller's, as does the array.
sim_konata *sim_konata_open(FILE *out, const hw_array *array);
// Whether events from here on are written; at first they are.
void sim_konata_record(sim_konata *konata, bool on);
// A sink of sim_events; the context is the log.
void sim_konata_event(void *context, const sim_event *event);
// Ends the log at `cycles`. False: writing failed.
bool sim_konata_close(sim_konata *konata, uint64_t cycles);

#endif
