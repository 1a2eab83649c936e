// SPDX-License-Identifier: Apache-2.0
// The zeros of a mvin without a source. See zero_writer.c.
#ifndef SIM_CYCLE_ZERO_WRITER_H
#define SIM_CYCLE_ZERO_WRITER_H

#include "sim/cycle/engine.h"
#include "sim/cycle/load_row.h"

typedef struct cycle_zero_writer {
  bool held;           // blocks of the request have to leave
  uint64_t since;      // earliest cycle in which the next block can leave
  uint64_t free_from;  // not held: a request is taken from this cycle on
  uint32_t row, left;  // of the next block; columns from it on
  uint32_t block_stride, dim, row_mask;
  cycle_row request;
  cycle_row block;  // the one at the end of the path
} cycle_zero_writer;

void cycle_zero_writer_init(cycle_engine *c, cycle_zero_writer *z);
// A request of cycle `now`; only if !z->held and free_from is not later.
void cycle_zero_writer_put(cycle_zero_writer *z, const cycle_load_row *request, uint64_t now);
bool cycle_zero_writer_next(cycle_zero_writer *z, cycle_item *item);
void cycle_zero_writer_pop(cycle_zero_writer *z, uint64_t at);

#endif
