// SPDX-License-Identifier: Apache-2.0
// What is shared and has an order: pipes, which are calendars that remember who held them last, and identifiers.
#ifndef SIM_FLOW_PIPE_H
#define SIM_FLOW_PIPE_H

#include "sim/flow/calendar.h"
#include "sim/flow/log.h"

enum { FLOW_HOLDERS = 4096, FLOW_HOLDS_MOST = 512 };

typedef struct flow_pipe {
  flow_calendar taken;
#ifdef FLOW_RECORDS
  uint32_t holder[FLOW_HOLDERS];  // by the last time that it holds: the event of its first one
#endif
} flow_pipe;

// Who came at `at` gets `count` times from `start` on. If that is later, the last edge comes from the holder before.
static inline flow_time flow_pipe_hold(flow_log *log, flow_pipe *p, flow_time at, uint64_t start, uint64_t count,
                                       flow_weight weight) {
#ifdef FLOW_RECORDS
  flow_time t = at;
  if (start > flow_cycle(at)) {
    const uint32_t holder = p->holder[(start - 1) % FLOW_HOLDERS];
    const uint64_t from = log->edge[holder] >> FLOW_TIME_SHIFT;
    const bool known = from < start && from + FLOW_HOLDS_MOST > start;
    if (known) t = (flow_time){from << FLOW_TIME_SHIFT | (uint64_t)holder << FLOW_WEIGHT_BITS};
    t = flow_at(t, start, weight);
  }
  t = flow_event(log, t);
  p->holder[(start + count - 1) % FLOW_HOLDERS] = flow_event_of(t.bits);
  return t;
#else
  (void)log;
  (void)p;
  (void)count;
  return flow_at(at, start, weight);
#endif
}

// The first `count` times (at most 64) in a row that are free from `at` on.
static inline flow_time flow_pipe_take(flow_log *log, flow_pipe *p, flow_time at, uint64_t count, flow_weight weight) {
  const uint64_t start = flow_calendar_take(&p->taken, flow_cycle(at), count);
  return flow_pipe_hold(log, p, at, start, count, weight);
}

// ---- identifiers

enum { FLOW_IDS = 256 };

// Identifiers of bursts, in the order in which they are free: a ring.
typedef struct flow_ids {
  flow_time free[FLOW_IDS];
  uint8_t id[FLOW_IDS];
  uint32_t count, first;
  flow_time before;  // when the one used last was free
} flow_ids;

static inline void flow_ids_init(flow_ids *ids, uint32_t count) {
  ids->count = count;
  for (uint32_t n = 0; n < count; n++) ids->id[n] = (uint8_t)n;
}

static inline flow_time flow_ids_first(const flow_ids *ids) { return ids->free[ids->first % FLOW_IDS]; }

// The first one is used and free again at `free`; returns it.
static inline uint8_t flow_ids_use(flow_ids *ids, flow_time free) {
  const uint8_t id = ids->id[ids->first % FLOW_IDS];
  ids->before = flow_ids_first(ids);
  uint32_t place = ids->first++ + ids->count;
  for (; place != ids->first && flow_cycle(ids->free[(place - 1) % FLOW_IDS]) > flow_cycle(free); place--) {
    ids->free[place % FLOW_IDS] = ids->free[(place - 1) % FLOW_IDS];
    ids->id[place % FLOW_IDS] = ids->id[(place - 1) % FLOW_IDS];
  }
  ids->free[place % FLOW_IDS] = free;
  ids->id[place % FLOW_IDS] = id;
  return id;
}

#endif
