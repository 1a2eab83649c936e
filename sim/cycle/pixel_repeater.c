// SPDX-License-Identifier: Apache-2.0
// First-layer loads: a row goes out once more for each repeated pixel, q rows lower and q * cols lanes higher, the copy
// with the largest q first. A copy that would leave its half of the scratchpad is dropped and costs a cycle.
// See hw/rtl/weft_pixel_repeater.sv; in an array without the unit the stage before asks for the write.
//
// Invariants: `last` comes with the row itself (copy 0), which is never dropped.
#include "sim/cycle/pixel_repeater.h"

#include <assert.h>

#include "base/number.h"

void cycle_path_end_init(const cycle_engine *c, cycle_path_end *e, bool repeats) {
  *e = (cycle_path_end){.repeats = repeats, .half = c->d.sp_rows / 2, .row_mask = (UINT32_C(1) << c->d.row_bits) - 1};
}

// Copies that are dropped: the first ones.
static uint32_t dropped(const cycle_path_end *e) {
  uint32_t row = e->item.to & e->row_mask, room = row >= e->half ? row - e->half : row;
  return e->copy > room ? e->copy - room : 0;
}

uint64_t cycle_path_end_put(cycle_path_end *e, const cycle_item *item) {
  assert(!e->valid);
  e->valid = true;
  e->item = *item;
  if (!e->repeats) {
    e->at = wf_max(item->ready, e->freed + 1);
    return e->at;
  }
  uint64_t enters = wf_max(item->ready, e->freed);
  e->copy = (uint8_t)(item->row->pixel_repeats - 1);
  e->at = enters + 1;
  if (e->copy > 0) {
    uint32_t lost = dropped(e);
    e->copy = (uint8_t)(e->copy - lost);
    e->at += lost;
  }
  return enters;
}

bool cycle_path_end_taken(cycle_path_end *e, uint64_t now) {
  assert(cycle_path_end_offers(e, now));
  if (e->copy > 0) {
    e->copy--;
    e->at = now + 1;
    return false;
  }
  e->valid = false;
  e->freed = now;
  return true;
}
