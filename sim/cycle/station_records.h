// SPDX-License-Identifier: Apache-2.0
// What happened to commands in a cycle: one may have come, one of each class been issued, one be done. Kept only while
// a listener (c->sink) wants it, and told when the front end is through.
#ifndef SIM_CYCLE_STATION_RECORDS_H
#define SIM_CYCLE_STATION_RECORDS_H

#include "sim/cycle/engine.h"

typedef struct cycle_records {
  bool any, allocated, done;
  uint8_t issued;  // by class
  uint8_t done_class;
  uint32_t done_index, issued_index[SIM_CLASSES], index;
  cycle_front_command command;  // that came
} cycle_records;

void cycle_records_allocated(cycle_records *r, uint32_t index, const cycle_front_command *command);
void cycle_records_issued(cycle_records *r, sim_class unit, uint32_t index);
void cycle_records_done(cycle_records *r, sim_class unit, uint32_t index);
// Tells them and forgets them.
void cycle_records_tell(cycle_engine *c, uint64_t now, cycle_records *r);

#endif
