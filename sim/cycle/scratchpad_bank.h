// SPDX-License-Identifier: Apache-2.0
// One scratchpad bank with what stands behind it: for each reader a response register and a read pipeline.
//
// Response register and pipeline are one queue. A fixed pipeline of DELAY registers and the register before it are a
// pipeline of DELAY + 1; in front of a queue of DELAY entries the register is one more entry and one more cycle. So a
// row is there DELAY + 1 cycles after its read (2 with a queue), and a read is taken while DELAY rows or fewer wait.
#ifndef SIM_CYCLE_SCRATCHPAD_BANK_H
#define SIM_CYCLE_SCRATCHPAD_BANK_H

#include "hw/array.h"
#include "sim/cycle/queue.h"

typedef struct cycle_scratchpad_bank {
  cycle_queue execute, store;
} cycle_scratchpad_bank;

static inline void cycle_scratchpad_bank_init(cycle_scratchpad_bank *b, const hw_array *array) {
  uint32_t delay = array->scratchpad.read_delay;
  uint32_t latency = array->scratchpad.read_pipeline == HW_READ_PIPELINE_FIXED ? delay + 1 : 2;
  cycle_queue_init(&b->execute, delay + 1, latency, true);
  cycle_queue_init(&b->store, delay + 1, latency, true);
}

static inline void cycle_scratchpad_bank_free(cycle_scratchpad_bank *b) {
  cycle_queue_free(&b->execute);
  cycle_queue_free(&b->store);
}

#endif
