// SPDX-License-Identifier: Apache-2.0
// DRAM behind a controller: banks, open rows, refresh, and an order that takes what is ready first, the oldest of that
// (first ready, first come first served). Times inside are ticks of the DRAM's clock, at the interface cycles of
// memory.clock_mhz.
//
// Address: line (64 bytes) | bank | column | row, from low to high, so that a stream visits all banks.
// A write goes where the bytes behind it lie: the memory of the reference takes its address when the last word is
// there. Reads and writes wait in one queue in the order of their arrival; one enters per tick. It has 32 places: a
// transaction takes two of them until it has opened its row, one after that; a transaction without a place waits before
// it. In a tick one command is issued, the first of
//   - that of the oldest transaction that may issue one: to open its row in a closed bank, or to read or write in the
//     open row, never before an older one to the same row
//   - closing a row that no transaction in the queue goes to, or that memory.row_accesses of them found open
// within tRCD, tRP, tRAS, tRRD, tFAW, tRTP, tWR, tWTR and what keeps the data bus free. Data is complete CL, that of a
// write CWL, and a burst behind the command. Every tREFI all banks close for tRFC.
#ifndef SIM_MEMSYS_DRAM_H
#define SIM_MEMSYS_DRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

typedef struct dram dram;

// A read or a write asked for its data: when the last of it is there, or in the bank.
typedef struct dram_decision {
  unsigned tag;
  bool write;
  uint64_t complete;  // cycle
} dram_decision;

// For `most` requests under way: the caller waits for decisions before it sends more.
dram *dram_create(const hw_array *array, unsigned most);
void dram_destroy(dram *d);

// Earliest completion of a read's data, in cycles after its request; of a read or a write, after the decision.
uint64_t dram_soonest(const dram *d);
uint64_t dram_decided_soonest(const dram *d, bool write);

// A request that reaches the controller in `cycle`; cycles of requests do not go back. The tag is given back with the
// decision.
void dram_ask(dram *d, uint64_t cycle, uint64_t address, unsigned bytes, bool write, unsigned tag);

// The next decision up to and including `cycle`. False: none.
bool dram_decide(dram *d, uint64_t cycle, dram_decision *decision);
// The cycle of the next decision, UINT64_MAX when nothing waits.
uint64_t dram_next(const dram *d);

#endif
