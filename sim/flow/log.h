// SPDX-License-Identifier: Apache-2.0
// The log of events of the instance that records: log.c. In the other instance all of it is nothing.
#ifndef SIM_FLOW_LOG_H
#define SIM_FLOW_LOG_H

#include "sim/flow/time.h"

// Cycles by weight, the edges that they are the sum of, and cycles that one more of a depth would release.
typedef struct flow_account {
  int64_t cycles[FLOW_WEIGHTS];
  uint64_t edges[FLOW_WEIGHTS], released[FLOW_WEIGHTS];
} flow_account;

typedef struct flow_log flow_log;

#ifdef FLOW_RECORDS

enum { FLOW_EVENTS = 1 << FLOW_EVENT_BITS, FLOW_HALF = FLOW_EVENTS / 2 };

// Event n of the run is at n % FLOW_EVENTS.
struct flow_log {
  uint64_t edge[FLOW_EVENTS];      // time of the event, event before and weight of the edge between them
  uint32_t released[FLOW_EVENTS];  // edges of a depth: by one more; events that stand for a sum: its place
  uint64_t count;
  struct {
    flow_account *of;
    uint32_t count, room;
  } sums[2];                        // by half
  uint32_t crossing[2][FLOW_HALF];  // by half: its events that come from one of the other half
  uint32_t crossings[2];
  uint64_t lost;  // edges whose event before was gone
};

flow_log *flow_log_create(void);
void flow_log_destroy(flow_log *log);
// An edge that comes from an event of the other half, or one that is gone; or its event is the first of a half.
flow_time flow_log_reach(flow_log *log, flow_time t);
// What the chain of last edges from `t` back is made of; the sum of its cycles is flow_cycle(t).
void flow_log_account(const flow_log *log, flow_time t, flow_account *account);

static inline uint32_t flow_event_of(uint64_t bits) { return (uint32_t)(bits >> FLOW_WEIGHT_BITS) % FLOW_EVENTS; }

static inline flow_time flow_event_at(flow_log *log, uint32_t place, flow_time t) {
  log->count++;
  log->edge[place] = t.bits;
  return (flow_time){t.bits >> FLOW_TIME_SHIFT << FLOW_TIME_SHIFT | (uint64_t)place << FLOW_WEIGHT_BITS};
}

// Nearly all edges come from an event of the same half; none does where a half begins.
static inline __attribute__((always_inline)) flow_time flow_event(flow_log *log, flow_time t) {
  if ((t.bits & ((1 << FLOW_WEIGHT_BITS) - 1)) == FLOW_NO_WEIGHT) return t;  // it is one
  const uint32_t place = (uint32_t)log->count % FLOW_EVENTS, half = place & FLOW_HALF;
  if (flow_event_of(t.bits) - half >= place - half) t = flow_log_reach(log, t);
  return flow_event_at(log, place, t);
}

// The event came along an edge of a depth; with one more it would have been at `without`, or so.
static inline flow_time flow_event_released(flow_log *log, flow_time t, flow_time without) {
  const flow_time event = flow_event(log, t);
  const uint64_t from = flow_cycle(without), to = flow_cycle(t);
  log->released[flow_event_of(event.bits)] = to > from ? (uint32_t)(to - from) : 0;
  return event;
}

// No event where all edges behind it have the weight of the one to it: they are one edge.
static inline __attribute__((always_inline)) flow_time flow_event_unless(flow_log *log, flow_time t,
                                                                         flow_weight weight) {
  return (t.bits & ((1 << FLOW_WEIGHT_BITS) - 1)) == weight ? t : flow_event(log, t);
}

#else

static inline flow_log *flow_log_create(void) { return 0; }
static inline void flow_log_destroy(flow_log *log) { (void)log; }
static inline flow_time flow_event(flow_log *log, flow_time t) {
  (void)log;
  return t;
}
static inline flow_time flow_event_unless(flow_log *log, flow_time t, flow_weight weight) {
  (void)weight;
  return flow_event(log, t);
}
static inline flow_time flow_event_released(flow_log *log, flow_time t, flow_time without) {
  (void)without;
  return flow_event(log, t);
}

#endif
#endif
