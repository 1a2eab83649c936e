// SPDX-License-Identifier: Apache-2.0
// The queue of all units: weft_fifo, weft_pipe, read_pipeline and read_response in one. It holds times, not payloads;
// the owner keeps payloads in arrays of `slots` elements, indexed by cycle_queue_head() and cycle_queue_tail().
//
//   weft_fifo DEPTH, PIPE 0/1   capacity DEPTH, latency 1, pipe
//   weft_pipe STAGES            capacity STAGES, latency STAGES, pipe
//   read_response               capacity 1, latency 1, pipe
//   read_pipeline               DELAY: fixed like weft_pipe, queue like weft_fifo with PIPE
//
// Rule: within a cycle an entry is popped before one is pushed. Without `pipe` the room of an entry popped in this
// cycle cannot be used before the next one.
#ifndef SIM_CYCLE_QUEUE_H
#define SIM_CYCLE_QUEUE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

typedef struct cycle_queue {
  uint64_t *ready;  // by slot: the earliest cycle in which the entry can leave
  uint64_t popped;  // cycle of the last pop + 1
  uint32_t head, count, capacity, latency, mask;
  bool pipe;
} cycle_queue;

// Slots are a power of two, at least the capacity.
static inline uint32_t cycle_queue_slots(const cycle_queue *q) { return q->mask + 1; }

static inline void cycle_queue_init(cycle_queue *q, uint32_t capacity, uint32_t latency, bool pipe) {
  uint32_t slots = 1;
  while (slots < capacity) slots *= 2;
  *q = (cycle_queue){.capacity = capacity, .latency = latency, .pipe = pipe, .mask = slots - 1};
  q->ready = WF_NEW_ARRAY(slots, uint64_t);
}

static inline void cycle_queue_free(cycle_queue *q) { wf_free(q->ready); }

static inline uint32_t cycle_queue_head(const cycle_queue *q) { return q->head; }
static inline uint32_t cycle_queue_at(const cycle_queue *q, uint32_t place) { return (q->head + place) & q->mask; }
static inline uint32_t cycle_queue_tail(const cycle_queue *q) { return (q->head + q->count) & q->mask; }

// out_valid
static inline bool cycle_queue_valid(const cycle_queue *q, uint64_t now) {
  return q->count > 0 && q->ready[q->head] <= now;
}

// The earliest cycle in which the head can leave; UINT64_MAX when empty.
static inline uint64_t cycle_queue_next(const cycle_queue *q) { return q->count > 0 ? q->ready[q->head] : UINT64_MAX; }

// in_ready, after this cycle's pop if there is one.
static inline bool cycle_queue_room(const cycle_queue *q, uint64_t now) {
  return q->count + (!q->pipe && q->popped == now + 1) < q->capacity;
}

static inline void cycle_queue_pop(cycle_queue *q, uint64_t now) {
  assert(cycle_queue_valid(q, now));
  q->head = (q->head + 1) & q->mask;
  q->count--;
  q->popped = now + 1;
}

// Returns the slot of the entry.
static inline uint32_t cycle_queue_push(cycle_queue *q, uint64_t now) {
  assert(cycle_queue_room(q, now));
  uint32_t slot = cycle_queue_tail(q);
  q->ready[slot] = now + q->latency;
  q->count++;
  return slot;
}

#endif
