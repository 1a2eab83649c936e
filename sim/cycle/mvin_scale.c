// SPDX-License-Identifier: Apache-2.0
// Scales int8 rows and repeats them over local rows. See hw/rtl/weft_mvin_scale.sv.
//
// A row waits in the input register and enters the scheduler repeats + 1 times, the farthest row first. Its results are
// computed when it enters; the scheduler knows when the hardware has them. Rows pass in cycles that may lie ahead: each
// entry remembers when it was emptied, so the cycle of the next push is known as soon as an entry is.
// Invariants: `last` comes with the row itself, never with a repeat before it.
#include "sim/cycle/mvin_scale.h"

#include <assert.h>

#include "arch/config.h"
#include "base/alloc.h"
#include "base/number.h"
#include "sim/ref/numeric.h"

void cycle_mvin_scale_init(cycle_engine *c, cycle_mvin_scale *s, uint32_t units, uint32_t latency) {
  *s = (cycle_mvin_scale){.units = units, .dim = c->d.dim};
  if (units == 0) return;
  cycle_scheduler_init(&s->scheduler, c->d.dim, units, latency, false);
  if (!c->data) return;
  for (unsigned i = 0; i <= CYCLE_SCHEDULER_ROWS; i++) s->results[i] = wf_alloc(c->d.dim, 1);
  s->operands = WF_NEW_ARRAY(c->d.dim, int32_t);
}

void cycle_mvin_scale_free(cycle_mvin_scale *s) {
  if (s->units != 0) cycle_scheduler_free(&s->scheduler);
  for (unsigned i = 0; i <= CYCLE_SCHEDULER_ROWS; i++) wf_free(s->results[i]);
  wf_free(s->operands);
}

// The row in the input register was sent on in cycle `at`.
static void sent(cycle_mvin_scale *s, uint64_t at) {
  if (s->repeats == 0) {
    s->held = false;
    s->free_from = at;
  } else {
    s->repeats--;
  }
}

static cycle_item at_input(const cycle_mvin_scale *s) {
  return (cycle_item){.row = s->in,
                      .bytes = s->in->bytes,
                      .to = s->in->row + s->repeats,
                      .last = s->in->last && s->repeats == 0,
                      .ready = s->since};
}

static const uint8_t *scaled(cycle_mvin_scale *s) {
  const int8_t *in = (const int8_t *)s->in->bytes;
  uint8_t *out = s->results[s->next_result];
  s->next_result = (s->next_result + 1) % (CYCLE_SCHEDULER_ROWS + 1);
  for (uint32_t i = 0; i < s->in->count; i++) s->operands[i] = in[i];
  ref_scale_row(s->in->count, s->operands, ref_float_of_bits(s->in->scale), false, (int8_t *)out);
  return out;
}

static uint32_t entry_at(const cycle_mvin_scale *s, uint32_t place) {
  uint32_t entry = s->head + place;
  return entry >= CYCLE_SCHEDULER_ROWS ? entry - CYCLE_SCHEDULER_ROWS : entry;
}

static void push(cycle_mvin_scale *s) {
  uint32_t entry = entry_at(s, s->count);
  uint64_t at = wf_max(wf_max(s->since, s->last_push + 1), s->popped[entry] + 1);
  bool skip = s->in->scale == ARCH_SCALE_ONE;
  cycle_item *item = &s->items[entry];
  *item = at_input(s);
  item->ready = skip ? at + 1 : cycle_scheduler_done(&s->scheduler, at, entry);
  if (!skip && item->bytes != NULL) item->bytes = scaled(s);
  s->count++;
  s->last_push = at;
  sent(s, at);
}

static void push_all(cycle_mvin_scale *s) {
  while (s->held && s->count < CYCLE_SCHEDULER_ROWS) push(s);
}

void cycle_mvin_scale_put(cycle_mvin_scale *s, const cycle_row *row, uint64_t at) {
  assert(!s->held && s->free_from <= at);
  s->held = true;
  s->in = row;
  s->repeats = row->repeats;
  s->since = at + 1;
  if (s->units != 0) push_all(s);
}

bool cycle_mvin_scale_next(const cycle_mvin_scale *s, cycle_item *item) {
  if (s->units == 0) {
    if (s->held) *item = at_input(s);
    return s->held;
  }
  if (s->count > 0) *item = s->items[s->head];
  return s->count > 0;
}

void cycle_mvin_scale_pop(cycle_mvin_scale *s, uint64_t at) {
  if (s->units == 0) {
    s->since = at + 1;
    sent(s, at);
    return;
  }
  s->popped[s->head] = at;
  s->head = entry_at(s, 1);
  s->count--;
  push_all(s);
}
