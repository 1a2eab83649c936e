// First-layer loads: a row goes out once more for each repeated pixel, q rows lower and q * cols lanes higher, the copy
// with the largest q first. A copy that would leave its half of the scratchpad is dropped and costs a cycle.
// See hw/rtl/pixel_repeater.sv; an array without the unit has no such stage.
//
// Invariants: `last` comes with the row itself (copy 0), which is never dropped.
#include <assert.h>

#include "sim/cycle/load_path.h"

static bool dropped(const cycle_repeater *r) {
  uint32_t row = r->in.to & r->row_mask, floor = row >= r->half ? r->half : 0;
  return row < floor + r->copy;
}

bool cycle_repeater_offer(cycle_repeater *r, cycle_row_write *out, bool *changed) {
  if (!r->valid) return false;
  *out = r->in;
  if (r->copy == 0) return true;
  if (dropped(r)) {
    r->copy--;
    *changed = true;
    return false;
  }
  out->to -= r->copy;
  out->shift = (uint32_t)r->copy * r->in.row->cols;
  out->last = false;
  return true;
}

void cycle_repeater_taken(cycle_repeater *r) {
  assert(r->valid);
  if (r->copy == 0)
    r->valid = false;
  else
    r->copy--;
}

void cycle_repeater_put(cycle_repeater *r, const cycle_row_write *in) {
  assert(!r->valid && in->row->pixel_repeats > 0);
  r->valid = true;
  r->copy = (uint8_t)(in->row->pixel_repeats - 1);
  r->in = *in;
}
