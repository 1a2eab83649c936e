// SPDX-License-Identifier: Apache-2.0
// The memory port and what is in front of it on its side: bus, load_path, dma_writer, dma_reader, load_controller, in
// this order in a cycle. To the other units they are one unit, which has a clock of its own. See port.c.
#ifndef SIM_CYCLE_PORT_H
#define SIM_CYCLE_PORT_H

#include "sim/cycle/engine.h"

// Returns the units that have to look in this cycle, a bit each.
uint32_t cycle_port_step(cycle_engine *c, uint64_t now);
// A unit outside the port set the wake time of a part.
void cycle_port_touch(cycle_engine *c);
// A unit gave the part something for the next cycle.
void cycle_port_given(cycle_engine *c, uint64_t now, unsigned part);
// The station's oldest load waits only for room in the load controller's queue.
void cycle_port_room(cycle_engine *c);
// The store path has a row that the writer does not take in this cycle.
void cycle_port_wants_writer(cycle_engine *c);
// Before another unit looks at a part: carries out the port's cycles before `now`, or `now` too (from the port's place
// in the order on).
void cycle_port_to(cycle_engine *c, uint64_t now);
void cycle_port_through(cycle_engine *c, uint64_t now);
// A scratchpad bank of port.banks is asked for in this cycle: by write-back, before the port's place in the order; by a
// unit after that place.
void cycle_port_shares_next(cycle_engine *c, uint64_t now);
void cycle_port_shares(cycle_engine *c, uint64_t now);
// The port stops lagging, with this cycle carried out.
void cycle_port_end(cycle_engine *c, uint64_t now);
// The latest row that the load path wrote to the scratchpad while the port lags, in cycle `at`.
void cycle_port_wrote(cycle_engine *c, uint32_t row, uint64_t at);

// What a load writes, from the cycle in which the load controller gets it until the station knows that it is done.
typedef struct cycle_port_use {
  uint64_t banks;      // of the scratchpad
  uint64_t acc_banks;  // of the accumulator, whose rows are not added
  bool other;          // anything else
} cycle_port_use;

void cycle_port_uses(cycle_engine *c, uint64_t now, cycle_port_use use);
void cycle_port_used(cycle_engine *c, cycle_port_use use);

#endif
