// SPDX-License-Identifier: Apache-2.0
// The end of an entry of the station, and the way out of a unit's queue, to be taken in where they happen: station.c.
#ifndef SIM_FLOW_STATION_END_H
#define SIM_FLOW_STATION_END_H

#include "sim/flow/front.h"
#include "sim/flow/station.h"

static inline uint64_t flow_slot_bit(unsigned slot) { return UINT64_C(1) << slot; }

static inline uint8_t *flow_ends_at(flow_file *f, uint32_t n) { return &f->by_end[(f->ends_first + n) % FLOW_ENTRIES]; }

// Whether it is the first that ends.
static inline __attribute__((always_inline)) bool flow_note_end(flow_file *f, unsigned slot, flow_time at) {
  uint32_t n = f->ends++;
  for (; n > 0 && flow_cycle(f->end[*flow_ends_at(f, n - 1)]) > flow_cycle(at); n--)
    *flow_ends_at(f, n) = *flow_ends_at(f, n - 1);
  *flow_ends_at(f, n) = (uint8_t)slot;
  if (flow_cycle(at) <= f->asked) {
    f->passed++;
    f->there &= ~flow_slot_bit(slot);
  }
  return n == 0;
}

// As flow_station_end.
static inline __attribute__((always_inline)) void flow_station_ends(flow_engine *e, sim_class unit, unsigned slot,
                                                                    flow_time at) {
  flow_file *f = &e->files[unit];
  flow_entry *entry = &f->entry[slot];
  f->end[slot] = at = flow_event(e->log, at);
  flow_busy_until(e, flow_after(at, 1, FLOW_W_DEPENDENCE));
  if (!entry->ends_at_issue) flow_tell(e, SIM_EVENT_DONE, unit, entry, flow_cycle(at));
  if (entry->from_loop) flow_loops_done(e, unit, entry->from_conv, at);
  const bool first = flow_note_end(f, slot, at);
  if (first && e->front.awaits_room && e->front.kind == unit) flow_front_wake(e);
  if ((entry->dependents[0] | entry->dependents[1] | entry->dependents[2]) != 0) flow_station_release(e, entry, at);
}

// Whether the issue of the next command follows.
static inline __attribute__((always_inline)) bool flow_issue_follows(const flow_file *f) {
  if (f->issued == f->allocated || f->issued - f->left >= f->queue) return false;
  return f->entry[f->slot[f->issued & f->ring]].waits == 0;
}

// The unit takes the head, which leaves its queue in cycle `at`; returns its slot.
static inline __attribute__((always_inline)) unsigned flow_station_take_out(flow_engine *e, sim_class unit,
                                                                            flow_time at) {
  flow_file *f = &e->files[unit];
  const unsigned slot = flow_station_take(e, unit);
  f->leave[f->left++ & f->ring] = flow_event(e->log, at);
  if (flow_issue_follows(f)) flow_station_settle(e, unit);
  return slot;
}

#endif
