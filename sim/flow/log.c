// SPDX-License-Identifier: Apache-2.0
// The log of events: log.h. It is a ring of two halves. Before a half is overwritten, what its chains add up to goes
// into sums: an event of the other half that came from one of this half becomes one that stands for a sum. So memory is
// bounded, and a chain ends at such an event, or at the start of the run.
//
// Invariant: an edge leads to an event that is newer than the one it comes from, and that is in the ring still: the
// age is checked when the edge is noted. What an actor keeps from longer ago than half a ring is no longer the last
// edge of anything; `lost` counts where it was.
#include "sim/flow/log.h"

#ifdef FLOW_RECORDS

#include <string.h>

#include "base/alloc.h"

enum { SUM = (1 << FLOW_WEIGHT_BITS) - 1, WORD = 64 };
_Static_assert((int)FLOW_WEIGHTS <= (int)SUM, "weights fit beside the mark of a sum");

static flow_weight weight_of(uint64_t edge) { return (flow_weight)(edge & SUM); }

static uint64_t time_of(const flow_log *log, uint32_t event) { return log->edge[event] >> FLOW_TIME_SHIFT; }

static unsigned half_of(uint32_t event) { return event / FLOW_HALF; }

static bool is_sum(const flow_log *log, uint32_t event) { return (log->edge[event] & SUM) == SUM; }

typedef enum { TIME, DEPTH } kind;

static bool is_depth(flow_weight weight) {
  static const uint8_t kinds[] = {
      [FLOW_NO_WEIGHT] = TIME,
#define WEIGHT(name, kind, key, what, parameters) [FLOW_W_##name] = (kind),
#include "sim/flow/weights.def"
#undef WEIGHT
  };
  return kinds[weight] == DEPTH;
}

// The event stands for the sum from now on.
static void make_sum(flow_log *log, uint32_t event, const flow_account *account) {
  const unsigned half = half_of(event);
  if (log->sums[half].count == log->sums[half].room) {
    log->sums[half].room = log->sums[half].room == 0 ? WORD : 2 * log->sums[half].room;
    log->sums[half].of = wf_realloc(log->sums[half].of, log->sums[half].room, sizeof *log->sums[half].of);
  }
  log->edge[event] |= SUM;
  log->released[event] = log->sums[half].count;
  log->sums[half].of[log->sums[half].count++] = *account;
}

flow_log *flow_log_create(void) {
  flow_log *log = WF_NEW(flow_log);
  const flow_account nothing = {.cycles = {0}};
  make_sum(log, 0, &nothing);
  log->count = 1;
  return log;
}

void flow_log_destroy(flow_log *log) {
  if (log == NULL) return;
  for (unsigned half = 0; half < 2; half++) wf_free(log->sums[half].of);
  wf_free(log);
}

static void add_edge(const flow_log *log, uint32_t event, flow_account *account) {
  const uint64_t edge = log->edge[event];
  const flow_weight weight = weight_of(edge);
  account->cycles[weight] += (int64_t)((edge >> FLOW_TIME_SHIFT) - time_of(log, flow_event_of(edge)));
  account->edges[weight]++;
  if (is_depth(weight)) account->released[weight] += log->released[event];
}

// Adds the chain from the event back, up to and with the sum that it ends at.
static void add_chain(const flow_log *log, uint32_t event, flow_account *account) {
  for (; !is_sum(log, event); event = flow_event_of(log->edge[event])) add_edge(log, event, account);
  const flow_account *sum = &log->sums[half_of(event)].of[log->released[event]];
  for (unsigned w = 0; w < FLOW_WEIGHTS; w++) {
    account->cycles[w] += sum->cycles[w];
    account->edges[w] += sum->edges[w];
    account->released[w] += sum->released[w];
  }
}

void flow_log_account(const flow_log *log, flow_time t, flow_account *account) {
  const uint32_t event = flow_event_of(t.bits);
  *account = (flow_account){.cycles = {0}};
  add_chain(log, event, account);
  account->cycles[weight_of(t.bits)] += (int64_t)(flow_cycle(t) - time_of(log, event));
}

// ---- the turn of the ring

typedef struct bits {
  uint64_t words[FLOW_HALF / WORD];
} bits;

static bool set_bit(bits *b, uint32_t n) {
  uint64_t *word = &b->words[n / WORD];
  const uint64_t mask = UINT64_C(1) << n % WORD;
  const bool was = (*word & mask) != 0;
  *word |= mask;
  return was;
}

// Where the chain from `event` of this half meets one that was walked before, or where it is wanted, a sum is made.
static void walk(const flow_log *log, uint32_t event, bits *walked, bits *wanted) {
  set_bit(wanted, event % FLOW_HALF);
  while (!is_sum(log, event)) {
    if (set_bit(walked, event % FLOW_HALF)) {
      set_bit(wanted, event % FLOW_HALF);
      return;
    }
    event = flow_event_of(log->edge[event]);
  }
}

static void make_sums(flow_log *log, unsigned half, const bits *wanted) {
  for (uint32_t w = 0; w < FLOW_HALF / WORD; w++)
    for (uint64_t left = wanted->words[w]; left != 0; left &= left - 1) {
      const uint32_t event = half * FLOW_HALF + w * WORD + (uint32_t)__builtin_ctzll(left);
      if (is_sum(log, event)) continue;
      flow_account account = {.cycles = {0}};
      add_chain(log, event, &account);
      make_sum(log, event, &account);
    }
}

// The other half of the events is to be overwritten.
static void turn(flow_log *log) {
  const unsigned half = half_of((uint32_t)log->count % FLOW_EVENTS), other = 1 - half;
  if (log->count < FLOW_EVENTS) return;
  bits *sets = WF_NEW_ARRAY(2, bits);
  log->sums[other].count = 0;
  for (uint32_t n = 0; n < log->crossings[other]; n++)
    walk(log, flow_event_of(log->edge[log->crossing[other][n]]), &sets[0], &sets[1]);
  make_sums(log, half, &sets[1]);
  for (uint32_t n = 0; n < log->crossings[other]; n++) {
    flow_account account = {.cycles = {0}};
    add_chain(log, log->crossing[other][n], &account);
    make_sum(log, log->crossing[other][n], &account);
  }
  log->crossings[half] = 0;
  wf_free(sets);
}

static flow_time cross(flow_log *log, flow_time t) {
  const uint32_t place = (uint32_t)log->count % FLOW_EVENTS, in_half = place % FLOW_HALF;
  const uint32_t age = (place - flow_event_of(t.bits)) % FLOW_EVENTS;
  if (age == 0 || age > FLOW_HALF + in_half) {
    const uint64_t before = (log->count - 1) % FLOW_EVENTS, mask = (UINT64_C(1) << FLOW_EVENT_BITS) - 1;
    t.bits = (t.bits & ~(mask << FLOW_WEIGHT_BITS)) | before << FLOW_WEIGHT_BITS;
    log->lost++;
    if (in_half > 0) return t;
  }
  const unsigned half = half_of(place);
  log->crossing[half][log->crossings[half]++] = place;
  return t;
}

flow_time flow_log_reach(flow_log *log, flow_time t) {
  const uint32_t place = (uint32_t)log->count % FLOW_EVENTS, age = (place - flow_event_of(t.bits)) % FLOW_EVENTS;
  if (place % FLOW_HALF == 0) turn(log);
  return age - 1 >= place % FLOW_HALF ? cross(log, t) : t;
}

#endif
