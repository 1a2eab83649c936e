// SPDX-License-Identifier: Apache-2.0
// Boxes; see box.h.
#include "compiler/schedule/box.h"

#include "base/number.h"

bool sched_box_empty(const sched_box *b, int rank) {
  for (int d = 0; d < rank; d++)
    if (b->lo[d] >= b->hi[d]) return true;
  return false;
}

int64_t sched_box_elements(const sched_box *b, int rank) {
  int64_t elements = 1;
  for (int d = 0; d < rank; d++) elements *= b->hi[d] > b->lo[d] ? b->hi[d] - b->lo[d] : 0;
  return elements;
}

sched_box sched_box_meet(const sched_box *a, const sched_box *b, int rank) {
  sched_box meet = {0};
  for (int d = 0; d < rank; d++) {
    meet.lo[d] = wf_max(a->lo[d], b->lo[d]);
    meet.hi[d] = wf_min(a->hi[d], b->hi[d]);
  }
  return meet;
}

void sched_box_join(sched_box *b, const sched_box *more, int rank) {
  if (sched_box_empty(more, rank)) return;
  if (sched_box_empty(b, rank)) *b = *more;
  for (int d = 0; d < rank; d++) {
    b->lo[d] = wf_min(b->lo[d], more->lo[d]);
    b->hi[d] = wf_max(b->hi[d], more->hi[d]);
  }
}
