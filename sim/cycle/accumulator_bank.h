// SPDX-License-Identifier: Apache-2.0
// One accumulator bank: rows on their way through its stages, the write queues of a single-ported one, and a response
// register for each reader.
//
// A write taken in cycle t is in stages 0 to LATENCY - 1 in the cycles t + 1 to t + LATENCY. There is no shifting: a
// ring holds the last LATENCY + 1 writes with their cycles. Data is none of the bank's business (local_memory.h).
#ifndef SIM_CYCLE_ACCUMULATOR_BANK_H
#define SIM_CYCLE_ACCUMULATOR_BANK_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

typedef struct cycle_acc_stage {
  uint64_t taken;  // cycle
  uint32_t row;
} cycle_acc_stage;

// A sub-bank of a single-ported bank: one access per cycle, the row read of an accumulating write first, then queued
// writes. Its state is that at the start of cycle `at`; each call brings it up to date.
enum { CYCLE_SUB_BANK_COMING = 32 };
typedef struct cycle_sub_bank {
  uint64_t at;
  uint64_t adds;                           // last cycle in which an accumulating write read its row
  uint32_t queued;                         // writes in the queue
  uint32_t head, count;                    // of `coming`
  uint64_t coming[CYCLE_SUB_BANK_COMING];  // writes in the stages: the cycle in which each enters the queue
} cycle_sub_bank;

typedef struct cycle_accumulator_bank {
  uint64_t execute_since, store_since;  // response register: the cycle from which it is valid; CYCLE_NEVER: free
  uint64_t settled;                     // from this cycle on no row is on its way
  cycle_acc_stage *stages;
  uint32_t next, latency;
  uint32_t sub_mask;
  uint32_t scale;       // of execute's read
  uint8_t act;          // likewise
  bool overflow;        // execute visited a sub-bank too often: a write was lost
  cycle_sub_bank *sub;  // NULL: two-ported
  int32_t *row;         // execute's response in full mode
} cycle_accumulator_bank;

void cycle_accumulator_bank_init(cycle_accumulator_bank *b, const hw_array *array, bool data);
void cycle_accumulator_bank_free(cycle_accumulator_bank *b);

// wr_row_pending, rd_row_pending
static inline bool cycle_accumulator_bank_pending(const cycle_accumulator_bank *b, uint64_t now, uint32_t row) {
  if (now >= b->settled) return false;
  for (uint32_t n = 0; n <= b->latency; n++)
    if (b->stages[n].row == row && now - b->stages[n].taken - 1 < b->latency) return true;
  return false;
}

// wr_ready_o of a write that is not urgent.
bool cycle_accumulator_bank_writable(cycle_accumulator_bank *b, uint64_t now, uint32_t row, bool accumulate);
// The write is taken.
void cycle_accumulator_bank_write(cycle_accumulator_bank *b, uint64_t now, uint32_t row, bool accumulate);
// rd_blocked but for accumulating writes that ask in this cycle.
bool cycle_accumulator_bank_readable(cycle_accumulator_bank *b, uint64_t now, uint32_t row);

#endif
