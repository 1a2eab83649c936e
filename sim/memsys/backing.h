// SPDX-License-Identifier: Apache-2.0
// What lies behind the L2, or behind the port when there is none: a latency and a bus, or DRAM and a bus. Requests
// share one channel, a beat per cycle: reads take one, writes one per bus word. Cycles given to the functions never go
// back.
//
//   read asked for in `cycle`   fixed: the first word arrives in max(cycle + memory.latency_cycles - spacing, cycle +
//   1,
//                               bus free); DRAM: in max(data complete + memory.path_cycles - spacing, bus free), where
//                               spacing is the number of cycles that memory needs for a beat of the port: the beat is
//                               there when its last word is. Words follow each other; the bus is taken until the last.
//   last word written in `cycle - 1`    fixed: memory has it in cycle + memory.latency_cycles; DRAM: memory.path_cycles
//                               after its data is complete
#ifndef SIM_MEMSYS_BACKING_H
#define SIM_MEMSYS_BACKING_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

#define BACKING_UNKNOWN UINT64_MAX

typedef struct memsys_backing memsys_backing;

// For `most` reads and writes that wait for a decision, with tags below `most`; the caller keeps within it.
memsys_backing *memsys_backing_create(const hw_array *array, unsigned most);
void memsys_backing_destroy(memsys_backing *b);

// Cycles that memory needs for a beat of the port, and for `bytes`.
uint64_t memsys_backing_spacing(const memsys_backing *b);
uint64_t memsys_backing_cycles(const memsys_backing *b, unsigned bytes);

// Earliest first word of a read, in cycles after its request; earliest effect of a decision, in cycles after it.
uint64_t memsys_backing_soonest(const memsys_backing *b);
uint64_t memsys_backing_decided_soonest(const memsys_backing *b);

// What memory decides on: the cycle of a read's first word; that from which on memory has what is written.
typedef struct memsys_backing_decision {
  unsigned tag;
  bool write;
  uint64_t cycle;
} memsys_backing_decision;

// The cycle of the decision; BACKING_UNKNOWN: memsys_backing_decide will tell. Reads and writes have tags of their own.
uint64_t memsys_backing_read(memsys_backing *b, uint64_t cycle, uint64_t address, unsigned bytes, unsigned tag);
uint64_t memsys_backing_write(memsys_backing *b, uint64_t cycle, uint64_t address, unsigned bytes, unsigned tag);
// A write whose first word can go in the cycle behind that at hand. With DRAM reads that are asked for in the three
// cycles from then on go first. memsys_backing_decide, which is called for every cycle in which a read is asked for,
// tells the rest.
void memsys_backing_write_behind(memsys_backing *b, uint64_t cycle, uint64_t address, unsigned bytes, unsigned tag);

// The next decision up to and including `cycle`. False: none.
bool memsys_backing_decide(memsys_backing *b, uint64_t cycle, memsys_backing_decision *decision);
// The cycle of the next decision, UINT64_MAX when nothing waits for one.
uint64_t memsys_backing_next(const memsys_backing *b);

#endif
