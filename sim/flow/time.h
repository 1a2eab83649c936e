// SPDX-License-Identifier: Apache-2.0
// Times of the flow engine, and where each came from.
//
// A time is a cycle. In the instance of the engine that records (FLOW_RECORDS) it carries two more numbers in its low
// bits: the event that it was worked out from, and the weight (weights.def) of the edge that led here from it. So the
// largest of several times brings along which edge was the last, and costs a comparison as before. flow_event notes
// edge and time in the log (log.h) and makes an event of them, from which other edges go on.
#ifndef SIM_FLOW_TIME_H
#define SIM_FLOW_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/flow/names.h"

#define FLOW_NEVER UINT64_MAX

typedef enum {
  FLOW_NO_WEIGHT,
#define WEIGHT(name, kind, key, what, parameters) FLOW_W_##name,
#include "sim/flow/weights.def"
#undef WEIGHT
  FLOW_WEIGHTS
} flow_weight;

#ifdef FLOW_RECORDS
enum { FLOW_WEIGHT_BITS = 6, FLOW_EVENT_BITS = 15, FLOW_TIME_SHIFT = FLOW_WEIGHT_BITS + FLOW_EVENT_BITS };
#else
enum { FLOW_WEIGHT_BITS = 0, FLOW_EVENT_BITS = 0, FLOW_TIME_SHIFT = 0 };
#endif

typedef struct flow_time {
  uint64_t bits;
} flow_time;

#define FLOW_AT_NEVER ((flow_time){UINT64_MAX})

static inline bool flow_is_never(flow_time t) { return t.bits == UINT64_MAX; }

static inline uint64_t flow_cycle(flow_time t) { return t.bits >> FLOW_TIME_SHIFT; }

// The cycle, for actors: FLOW_NEVER of a time that is not known.
static inline uint64_t flow_known_cycle(flow_time t) { return flow_is_never(t) ? FLOW_NEVER : flow_cycle(t); }

static inline flow_time flow_later(flow_time a, flow_time b) { return a.bits > b.bits ? a : b; }
static inline flow_time flow_earlier(flow_time a, flow_time b) { return a.bits < b.bits ? a : b; }

// `cycles` behind t along an edge of the given weight.
static inline flow_time flow_after(flow_time t, uint64_t cycles, flow_weight weight) {
#ifdef FLOW_RECORDS
  const uint64_t mask = (UINT64_C(1) << FLOW_WEIGHT_BITS) - 1;
  return (flow_time){((t.bits + (cycles << FLOW_TIME_SHIFT)) & ~mask) | weight};
#else
  (void)weight;
  return (flow_time){t.bits + cycles};
#endif
}

// In `cycle`, if that is later, along an edge of the given weight.
static inline flow_time flow_not_before(flow_time t, uint64_t cycle, flow_weight weight) {
  const uint64_t now = flow_cycle(t);
  return cycle > now ? flow_after(t, cycle - now, weight) : t;
}

// As flow_not_before, to an earlier cycle as well.
static inline flow_time flow_at(flow_time t, uint64_t cycle, flow_weight weight) {
  return flow_after(t, cycle - flow_cycle(t), weight);
}

#endif
