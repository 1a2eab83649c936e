// SPDX-License-Identifier: Apache-2.0
// Scales int8 rows and repeats them. See mvin_scale.c.
#ifndef SIM_CYCLE_MVIN_SCALE_H
#define SIM_CYCLE_MVIN_SCALE_H

#include "sim/cycle/engine.h"
#include "sim/cycle/load_row.h"
#include "sim/cycle/row_scheduler.h"

typedef struct cycle_mvin_scale {
  bool held;           // a row is in the input register
  uint16_t repeats;    // of it, still to come
  uint64_t since;      // first cycle in the register
  uint64_t free_from;  // not held: a row can enter the register from this cycle on
  const cycle_row *in;
  // rows at work, by entry of the scheduler, and when the entry was last emptied
  uint32_t units, dim, head, count;
  uint64_t last_push;
  uint64_t popped[CYCLE_SCHEDULER_ROWS];
  cycle_item items[CYCLE_SCHEDULER_ROWS];
  cycle_row_scheduler scheduler;
  // results: one more than entries, for the row that the pixel repeater holds
  uint8_t *results[CYCLE_SCHEDULER_ROWS + 1];
  uint32_t next_result;
  int32_t *operands;
} cycle_mvin_scale;

// units 0: rows pass unscaled and unbuffered.
void cycle_mvin_scale_init(cycle_engine *c, cycle_mvin_scale *s, uint32_t units, uint32_t latency);
void cycle_mvin_scale_free(cycle_mvin_scale *s);
// A row enters the input register in cycle `at`; only if !s->held and free_from is not later.
void cycle_mvin_scale_put(cycle_mvin_scale *s, const cycle_row *row, uint64_t at);
// The next item, if there is one.
bool cycle_mvin_scale_next(const cycle_mvin_scale *s, cycle_item *item);
// It leaves in cycle `at`.
void cycle_mvin_scale_pop(cycle_mvin_scale *s, uint64_t at);

#endif
