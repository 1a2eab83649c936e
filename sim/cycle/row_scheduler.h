// SPDX-License-Identifier: Apache-2.0
// Shares arithmetic units among the lanes of up to three rows: see hw/rtl/weft_row_scheduler.sv.
//
// Units serve rows in the order they came and never idle while one of their elements waits, so the cycle in which a row
// is done is known when it enters; nothing happens in between. The parent keeps the rows' data by entry and may compute
// a row's results when it pushes it.
//
// Order within a cycle: pop before room and push, as in queue.h. Without `reuse` the entry popped in this cycle cannot
// be used before the next one.
#ifndef SIM_CYCLE_ROW_SCHEDULER_H
#define SIM_CYCLE_ROW_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

enum { CYCLE_SCHEDULER_ROWS = 3 };

typedef struct cycle_row_scheduler {
  uint64_t ready[CYCLE_SCHEDULER_ROWS];  // by entry: the earliest cycle in which the row can leave
  uint64_t popped;                       // cycle of the last pop + 1
  uint32_t head, tail, count;
  uint32_t lanes, units, latency;
  bool reuse, even;     // even: every unit serves as many elements of a row as any other
  uint64_t free;        // of all units (even)
  uint64_t *unit_free;  // by unit: the earliest cycle in which it can take an element of the next row (not even)
} cycle_row_scheduler;

// `units` at least 1.
void cycle_scheduler_init(cycle_row_scheduler *s, uint32_t lanes, uint32_t units, uint32_t unit_latency, bool reuse);
void cycle_scheduler_free(cycle_row_scheduler *s);

// in_ready_o, after this cycle's pop if there is one.
static inline bool cycle_scheduler_room(const cycle_row_scheduler *s, uint64_t now) {
  return s->count + (!s->reuse && s->popped == now + 1) < CYCLE_SCHEDULER_ROWS;
}
// Returns the entry of the row (in_entry_o).
uint32_t cycle_scheduler_push(cycle_row_scheduler *s, uint64_t now, bool skip);

// out_valid_o, the entry of the oldest row, and the earliest cycle in which it can leave (UINT64_MAX when there is
// none).
static inline bool cycle_scheduler_valid(const cycle_row_scheduler *s, uint64_t now) {
  return s->count > 0 && s->ready[s->head] <= now;
}
static inline uint32_t cycle_scheduler_head(const cycle_row_scheduler *s) { return s->head; }
static inline uint64_t cycle_scheduler_next(const cycle_row_scheduler *s) {
  return s->count > 0 ? s->ready[s->head] : UINT64_MAX;
}
void cycle_scheduler_pop(cycle_row_scheduler *s, uint64_t now);

// For an owner that keeps the entries itself: a row enters `entry` in cycle `at`, which is later than that of the row
// before; returns the earliest cycle in which the row is done.
uint64_t cycle_scheduler_done(cycle_row_scheduler *s, uint64_t at, uint32_t entry);

#endif
