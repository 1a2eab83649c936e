// SPDX-License-Identifier: Apache-2.0
// The bus between the DMA units and main memory. It arbitrates the offers of reader and writer, fetches the data of a
// granted read, and counts bus_read_bytes and bus_written_bytes. With write_granted the writer moves the bytes of its
// beat to memory; the bus has then checked that the burst lies inside.
#ifndef SIM_CYCLE_BUS_H
#define SIM_CYCLE_BUS_H

#include "sim/cycle/engine.h"

void cycle_bus_create(cycle_engine *c);
void cycle_bus_destroy(cycle_engine *c);
bool cycle_bus_step(cycle_engine *c, uint64_t now);
// The answer of a write in w.beat is taken in this cycle.
void cycle_bus_take(cycle_engine *c, uint64_t now);
// Bytes read and written before `cycle`, which is the cycle being carried out or the next one: bus_read_bytes counts a
// burst with its first beat.
uint64_t cycle_bus_read_bytes(const cycle_engine *c, uint64_t cycle);
uint64_t cycle_bus_written_bytes(const cycle_engine *c, uint64_t cycle);
// The earliest cycle in which an answer can be there.
uint64_t cycle_bus_answer_at(const cycle_engine *c);

// For the load path. The bytes of read burst `id`, whose first beat is there; the id gets `spare` (max_burst_bytes) for
// its next burst. Full mode only.
uint8_t *cycle_bus_exchange(cycle_engine *c, unsigned id, uint8_t *spare);
// The answer shown is a read, which the load path takes in `cycle` at the earliest.
void cycle_bus_show_from(cycle_engine *c, uint64_t cycle);
// Takes the read burst whose first beat is there, with all its beats.
memsys_burst cycle_bus_take_burst(cycle_engine *c, uint64_t now);

#endif
