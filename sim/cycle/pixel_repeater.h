// SPDX-License-Identifier: Apache-2.0
// The end of a path of loaded rows, with or without the pixel repeater. See pixel_repeater.c.
#ifndef SIM_CYCLE_PIXEL_REPEATER_H
#define SIM_CYCLE_PIXEL_REPEATER_H

#include "sim/cycle/engine.h"
#include "sim/cycle/load_row.h"

typedef struct cycle_path_end {
  bool valid;
  bool repeats;    // there is a pixel_repeater
  uint8_t copy;    // copies still to come after this one
  uint64_t at;     // valid: the cycle in which the write is asked for next
  uint64_t freed;  // cycle of the last write of the item before
  cycle_item item;
  uint32_t half, row_mask;
} cycle_path_end;

void cycle_path_end_init(const cycle_engine *c, cycle_path_end *e, bool repeats);
// Puts in an item; with a repeater it leaves the stage before in the cycle returned, else with its write.
uint64_t cycle_path_end_put(cycle_path_end *e, const cycle_item *item);
// The write of this cycle was taken; returns whether the item has left.
bool cycle_path_end_taken(cycle_path_end *e, uint64_t now);

static inline uint32_t cycle_path_end_row(const cycle_path_end *e) { return (e->item.to - e->copy) & e->row_mask; }
static inline bool cycle_path_end_last(const cycle_path_end *e) { return e->item.last && e->copy == 0; }
static inline bool cycle_path_end_offers(const cycle_path_end *e, uint64_t now) { return e->valid && e->at <= now; }

#endif
