// What the load path needs of the bus besides weft_accel.h.
#ifndef SIM_CYCLE_BUS_H
#define SIM_CYCLE_BUS_H

#include "sim/cycle/weft_accel.h"

// The bytes of read burst `id`, whose first beat is there; the id gets `spare` (max_burst_bytes) for its next burst.
// Full mode only.
uint8_t *cycle_bus_exchange(cycle_engine *c, unsigned id, uint8_t *spare);
// What is shown is a read that nobody takes before `cycle`.
void cycle_bus_show_from(cycle_engine *c, uint64_t now, uint64_t cycle);
// Takes the read burst whose first beat is there, with all its beats.
memsys_burst cycle_bus_take_burst(cycle_engine *c, uint64_t now);

#endif
