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
// What a load writes, from the cycle in which the load controller gets it until the station knows that it is done.
typedef struct cycle_port_use {
  uint64_t banks;      // of the scratchpad
  uint64_t acc_banks;  // of the accumulator, whose rows are not added
  bool other;          // anything else
} cycle_port_use;

void cycle_port_uses(cycle_engine *c, uint64_t now, cycle_port_use use);
void cycle_port_used(cycle_engine *c, cycle_port_use use);

// ---- for skip/lag.c

// A cycle of its parts. True: the load controller changed.
bool cycle_port_carry_out(cycle_engine *c, uint64_t now);
void cycle_port_clear_wires(cycle_wires *w);
// Sets p->next, and the wake time.
void cycle_port_find_next(cycle_engine *c);
void cycle_port_set_wake(cycle_engine *c);

#endif
