// SPDX-License-Identifier: Apache-2.0
// Scale units shared by the lanes of up to three rows. Element (entry e, lane w) belongs to unit (e * lanes + w) %
// units.
//
// A row that enters at t is visible to the units at t + 1. A unit takes one element per cycle, the oldest row's first;
// an element granted at g counts as done at g + unit_latency + 2. Of a row, the unit `first + k` (modulo units, with
// first = e * lanes % units) serves the lanes k, k + units, ...: lanes / units of them, one more for k < lanes % units.
#include "sim/cycle/row_scheduler.h"

#include <assert.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/number.h"

void cycle_scheduler_init(cycle_row_scheduler *s, uint32_t lanes, uint32_t units, uint32_t unit_latency, bool reuse) {
  assert(lanes >= 1 && units >= 1);
  *s = (cycle_row_scheduler){.lanes = lanes, .units = units, .latency = unit_latency, .reuse = reuse};
  s->even = lanes % units == 0;
  if (!s->even) s->unit_free = WF_NEW_ARRAY(units, uint64_t);
}

void cycle_scheduler_free(cycle_row_scheduler *s) { wf_free(s->unit_free); }

// The cycle of the row's last grant when units differ in load.
static uint64_t last_grant(cycle_row_scheduler *s, uint64_t first_cycle, uint32_t entry) {
  uint32_t each = s->lanes / s->units, more = s->lanes % s->units, unit = entry * s->lanes % s->units;
  uint64_t last = 0;
  for (uint32_t k = 0; k < s->units && (each > 0 || k < more); k++) {
    s->unit_free[unit] = wf_max(s->unit_free[unit], first_cycle) + each + (k < more);
    last = wf_max(last, s->unit_free[unit] - 1);
    if (++unit == s->units) unit = 0;
  }
  return last;
}

static uint64_t last_grant_even(cycle_row_scheduler *s, uint64_t first_cycle) {
  s->free = wf_max(s->free, first_cycle) + s->lanes / s->units;
  return s->free - 1;
}

uint64_t cycle_scheduler_done(cycle_row_scheduler *s, uint64_t at, uint32_t entry) {
  return (s->even ? last_grant_even(s, at + 1) : last_grant(s, at + 1, entry)) + s->latency + 2;
}

uint32_t cycle_scheduler_push(cycle_row_scheduler *s, uint64_t now, bool skip) {
  assert(cycle_scheduler_room(s, now));
  uint32_t entry = s->tail;
  s->ready[entry] = skip ? now + 1 : cycle_scheduler_done(s, now, entry);
  s->tail = entry + 1 == CYCLE_SCHEDULER_ROWS ? 0 : entry + 1;
  s->count++;
  return entry;
}

void cycle_scheduler_pop(cycle_row_scheduler *s, uint64_t now) {
  assert(cycle_scheduler_valid(s, now));
  s->head = s->head + 1 == CYCLE_SCHEDULER_ROWS ? 0 : s->head + 1;
  s->count--;
  s->popped = now + 1;
}
