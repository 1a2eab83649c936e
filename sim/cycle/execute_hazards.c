// SPDX-License-Identifier: Apache-2.0
// The destinations of all products on their way. An operation that reads one of them waits until it is written.
//
// A destination enters when the operation that carries it starts, and the oldest leaves when the last row of its result
// is written; from the next cycle on its rows may be read. A query hits when its rows and those of a destination in the
// same memory have a row number between their first and last in common.
// Invariants: order of push is order of pop; never more than `limit`.
#include "sim/cycle/execute_hazards.h"

#include <assert.h>

enum { MASK = CYCLE_EXECUTE_HAZARDS - 1 };

void cycle_execute_hazards_push(cycle_execute_hazards *h, const cycle_hazard_entry *entry) {
  assert(h->count < h->limit);
  h->entries[(h->head + h->count++) & MASK] = *entry;
  h->in_memory[entry->acc]++;
}

void cycle_execute_hazards_pop(cycle_execute_hazards *h, uint64_t now) {
  assert(h->count > 0);
  h->popped_acc = h->entries[h->head].acc;
  h->in_memory[h->popped_acc]--;
  h->head = (h->head + 1) & MASK;
  h->count--;
  h->popped_at = now + 1;
}

bool cycle_execute_hazards_hit(const cycle_execute_hazards *h, uint64_t now, const cycle_hazard_entry *query) {
  bool popped = h->popped_at == now + 1 && h->popped_acc == query->acc;
  if (h->in_memory[query->acc] + popped == 0) return false;
  uint32_t count = cycle_execute_hazards_count(h, now), first = h->head + h->count - count;
  for (uint32_t place = 0; place < count; place++) {
    const cycle_hazard_entry *e = &h->entries[(first + place) & MASK];
    if (e->acc == query->acc && query->rows.first <= e->rows.last && e->rows.first <= query->rows.last) return true;
  }
  return false;
}
