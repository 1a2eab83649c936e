// SPDX-License-Identifier: Apache-2.0
// See acc_scale.h.
#include "sim/cycle/acc_scale.h"

#include "base/alloc.h"

void cycle_acc_scale_init(cycle_acc_scale *s, const hw_array *array, uint32_t dim) {
  *s = (cycle_acc_scale){.shared = array->accumulator.scale_units != 0 && array->accumulator.narrow_reads};
  if (s->shared)
    cycle_scheduler_init(&s->rows, dim, array->accumulator.scale_units, array->accumulator.scale_latency, true);
  else
    cycle_queue_init(&s->pipe, array->accumulator.scale_latency, array->accumulator.scale_latency, true);
  s->entries = WF_NEW_ARRAY(s->shared ? CYCLE_SCHEDULER_ROWS : cycle_queue_slots(&s->pipe), cycle_unit_row);
}

void cycle_acc_scale_free(cycle_acc_scale *s) {
  wf_free(s->entries);
  if (s->shared)
    cycle_scheduler_free(&s->rows);
  else
    cycle_queue_free(&s->pipe);
}

uint32_t cycle_acc_scale_capacity(const cycle_acc_scale *s) {
  return s->shared ? CYCLE_SCHEDULER_ROWS : s->pipe.capacity;
}
