// DRAM behind a controller: banks, open rows, refresh, and an order that prefers row hits (first ready, first come
// first served). Times inside are picoseconds, at the interface cycles of memory.clock_mhz.
//
// Address: line (64 bytes) | bank | column | row, from low to high, so that a stream visits all banks. One transaction
// (a line, or more of them for wider requests) is decided at a time, at most one per burst slot of the data bus, and
// only while the data bus is not reserved too far ahead; until then it may be overtaken. What is decided at a time
// depends on nothing that arrives later.
//   read decided at T, row open    data end at T + CL + burst at the earliest
//   bank closed                    + tRCD; never against tRAS, tRTP, tWR, tRRD, tFAW
// A row stays open while somebody waits for it, but for memory.row_accesses accesses at most.
// Writes wait in a queue of their own until it is half full or no read is there, then go in a batch.
// Every tREFI all banks close for tRFC.
#ifndef SIM_MEMSYS_DRAM_H
#define SIM_MEMSYS_DRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

typedef struct dram dram;

enum { DRAM_READS = 512 };

dram *dram_create(const hw_array *array);
void dram_destroy(dram *d);

// A request that reaches the controller in `cycle`; cycles of requests do not go back. The tag is given back with the
// decision.
void dram_read(dram *d, uint64_t cycle, uint64_t address, unsigned bytes, unsigned tag);
// Returns the cycle in which the data would be in a closed bank that is idle.
uint64_t dram_write(dram *d, uint64_t cycle, uint64_t address, unsigned bytes);
// A read that goes before everything that waits; the cycle in which its data is complete.
uint64_t dram_read_first(dram *d, uint64_t cycle, uint64_t address, unsigned bytes);

// The next read decided up to and including `cycle`: its tag and the cycle in which its data is complete. False: none.
bool dram_decide(dram *d, uint64_t cycle, unsigned *tag, uint64_t *complete);
// The cycle of the next decision, UINT64_MAX when nothing waits.
uint64_t dram_next(const dram *d);

#endif
