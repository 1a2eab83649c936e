// SPDX-License-Identifier: Apache-2.0
// Rows of int32 that are repeated over an accumulator bank (REPEATS): each write waits for a cycle in which no result
// of the mesh goes to its bank, and in which no burst of int8 ends. What has not been timed yet counts as well, so the
// rows are an actor that goes no further than is known: results and loaded rows come `lead` after the time of their
// actor at the earliest, so this one offers the cycle of its next write less that.
#include "sim/flow/repeats.h"

#include "sim/flow/units.h"

void flow_repeats_create(flow_engine *e) {
  const uint64_t answer = e->array->l2.present ? e->array->l2.hit_latency : 1;
  e->repeats.lead = wf_min(e->execute.result_delay, answer + e->load.lag);
  e->next[FLOW_REPEATS] = FLOW_NEVER;
}

static flow_repeated *head_of(flow_repeats *r) { return &r->of[r->first % FLOW_TRACKED]; }

void flow_repeats_wake(flow_engine *e) {
  flow_repeats *r = &e->repeats;
  e->next[FLOW_REPEATS] = FLOW_NEVER;
  if (r->count == 0 || head_of(r)->count == 0) return;
  r->at = flow_later(r->at, head_of(r)->from);
  const uint64_t at = flow_cycle(r->at);
  e->next[FLOW_REPEATS] = at > r->lead ? at - r->lead : 0;
}

void flow_repeats_add(flow_engine *e, uint8_t slot, uint32_t row, flow_time from, uint64_t count, bool whole) {
  flow_repeats *r = &e->repeats;
  flow_repeated *last = &r->of[(r->first + r->count - 1) % FLOW_TRACKED];
  if (r->count == 0 || last->slot != slot || last->whole) {
    last = &r->of[(r->first + r->count++) % FLOW_TRACKED];
    *last = (flow_repeated){.slot = slot, .bank = (uint8_t)((row & (e->d.acc_rows - 1)) >> e->acc_shift)};
  }
  if (last->count == 0) last->from = from;
  last->count += count;
  last->whole = whole;
  flow_repeats_wake(e);
}

static void end(flow_engine *e) {
  flow_repeats *r = &e->repeats;
  const flow_repeated done = *head_of(r);
  if (!done.whole) return;
  r->first = (r->first + 1) % FLOW_TRACKED;
  r->count--;
  r->at = flow_event(e->log, r->at);
  flow_load_end(e, done.slot, r->at);
  flow_load_wake(e);
}

// Goes on through at most 64 cycles.
void flow_repeats_step(flow_engine *e) {
  flow_repeats *r = &e->repeats;
  flow_repeated *h = head_of(r);
  uint64_t horizon = FLOW_NEVER;
  for (unsigned actor = 0; actor < FLOW_ACTORS; actor++)
    if (actor != FLOW_REPEATS) horizon = wf_min(horizon, e->next[actor]);
  const uint64_t known = horizon == FLOW_NEVER ? FLOW_NEVER : horizon + r->lead;
  const uint64_t from = flow_cycle(r->at),
                 taken = flow_calendar_from(&e->acc_results[h->bank], from) | flow_calendar_from(&e->narrow_ends, from);
  unsigned passed = 0;
  for (; passed < FLOW_CALENDAR_BITS && h->count > 0 && from + passed <= known; passed++)
    h->count -= (taken >> passed & 1) == 0;
  r->at = flow_after(r->at, passed, FLOW_W_REPEATS);
  if (h->count == 0) end(e);
  flow_repeats_wake(e);
}
