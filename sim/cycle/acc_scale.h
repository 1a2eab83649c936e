// SPDX-License-Identifier: Apache-2.0
// The scale units of the accumulator as places where rows spend time: see hw/rtl/weft_acc_scale.sv. What they compute
// is ref_narrow_row (sim/ref/norm.h), done by the store path when the row's operands are known.
//
// One unit per lane: a pipeline. Shared units: row_scheduler.
// Order within a cycle: pop before room and push, as in queue.h; at most one pop.
#ifndef SIM_CYCLE_ACC_SCALE_H
#define SIM_CYCLE_ACC_SCALE_H

#include "hw/array.h"
#include "sim/cycle/normaliser.h"
#include "sim/cycle/queue.h"
#include "sim/cycle/row_scheduler.h"

typedef struct cycle_acc_scale {
  bool shared;
  cycle_queue pipe;          // !shared
  cycle_row_scheduler rows;  // shared
  cycle_unit_row *entries;   // by slot or entry
} cycle_acc_scale;

void cycle_acc_scale_init(cycle_acc_scale *s, const hw_array *array, uint32_t dim);
void cycle_acc_scale_free(cycle_acc_scale *s);
// Rows that it can hold.
uint32_t cycle_acc_scale_capacity(const cycle_acc_scale *s);

// in_ready_o
static inline bool cycle_acc_scale_room(const cycle_acc_scale *s, uint64_t now) {
  return s->shared ? cycle_scheduler_room(&s->rows, now) : cycle_queue_room(&s->pipe, now);
}

static inline void cycle_acc_scale_push(cycle_acc_scale *s, uint64_t now, cycle_unit_row row) {
  s->entries[s->shared ? cycle_scheduler_push(&s->rows, now, false) : cycle_queue_push(&s->pipe, now)] = row;
}

// out_valid_o; false once the row of this cycle has left.
static inline bool cycle_acc_scale_valid(const cycle_acc_scale *s, uint64_t now) {
  if (s->shared) return s->rows.popped != now + 1 && cycle_scheduler_valid(&s->rows, now);
  return s->pipe.popped != now + 1 && cycle_queue_valid(&s->pipe, now);
}

static inline cycle_unit_row cycle_acc_scale_row(const cycle_acc_scale *s) {
  return s->entries[s->shared ? cycle_scheduler_head(&s->rows) : cycle_queue_head(&s->pipe)];
}

// When the head can leave, UINT64_MAX: there is none.
static inline uint64_t cycle_acc_scale_next(const cycle_acc_scale *s) {
  return s->shared ? cycle_scheduler_next(&s->rows) : cycle_queue_next(&s->pipe);
}

static inline void cycle_acc_scale_pop(cycle_acc_scale *s, uint64_t now) {
  if (s->shared)
    cycle_scheduler_pop(&s->rows, now);
  else
    cycle_queue_pop(&s->pipe, now);
}

#endif
