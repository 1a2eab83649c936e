// SPDX-License-Identifier: Apache-2.0
// The window of weft_window.sv: a queue of commands whose first entries are all visible.
#ifndef SIM_CYCLE_EXECUTE_WINDOW_H
#define SIM_CYCLE_EXECUTE_WINDOW_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

typedef struct cycle_execute_command {
  uint64_t rs1, rs2;
  uint8_t insn, id;  // isa_id; entry of the reservation station
  bool id_valid;
} cycle_execute_command;

typedef struct cycle_execute_window {
  cycle_execute_command *entries;
  uint32_t mask, depth, head, count;
  uint32_t popped;  // in the cycle before popped_at
  uint64_t popped_at;
  uint64_t pushed_at;  // cycle of the last push + 1
} cycle_execute_window;

static inline void cycle_execute_window_init(cycle_execute_window *w, uint32_t depth) {
  uint32_t slots = 1;
  while (slots < depth) slots *= 2;
  *w = (cycle_execute_window){.entries = WF_NEW_ARRAY(slots, cycle_execute_command), .mask = slots - 1, .depth = depth};
}

static inline const cycle_execute_command *cycle_execute_window_head(const cycle_execute_window *w, uint32_t place) {
  return &w->entries[(w->head + place) & w->mask];
}

// in_ready does not depend on the pops of this cycle.
static inline bool cycle_execute_window_room(const cycle_execute_window *w, uint64_t now) {
  return w->count + (w->popped_at == now + 1 ? w->popped : 0) < w->depth;
}

static inline void cycle_execute_window_push(cycle_execute_window *w, uint64_t now,
                                             const cycle_execute_command *command) {
  w->pushed_at = now + 1;
  w->entries[(w->head + w->count++) & w->mask] = *command;
}

static inline void cycle_execute_window_pop(cycle_execute_window *w, uint64_t now, uint32_t number) {
  assert(number <= w->count);
  w->head = (w->head + number) & w->mask;
  w->count -= number;
  w->popped = number;
  w->popped_at = now + 1;
}

#endif
