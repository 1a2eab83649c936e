// SPDX-License-Identifier: Apache-2.0
// Dimensions of blocks of pointers without a mask: what a loop moves their base by becomes their offset, so that such a
// block is what make_block_ptr gives and loops find their roles. A loop moves the dimension of the largest stride that
// divides its step; which one it is changes no address. See lower.h.
#include "compiler/lang/lower.h"

// The dimension that takes a step, or BLOCK_NONE.
static int dim_for(const block_access *a, unsigned open, int64_t step) {
  int found = BLOCK_NONE;
  for (int d = 0; d < a->rank; d++) {
    const int64_t stride = a->dim[d].stride;
    if ((open >> d & 1) == 0 || stride < 1 || step % stride != 0) continue;
    if (found == BLOCK_NONE || stride > a->dim[found].stride) found = d;
  }
  return found;
}

static void spread(const block_program *p, block_access *a, unsigned open) {
  for (int i = 0; i < p->loop_count; i++) {
    const int64_t step = a->base.per_loop[i];
    const int d = step > 0 ? dim_for(a, open, step) : BLOCK_NONE;
    if (d == BLOCK_NONE) continue;
    const int64_t by = step / a->dim[d].stride;
    a->base.per_loop[i] = 0;
    a->dim[d].offset.per_loop[i] += by;
    a->dim[d].extent += by * (p->loops[i].trips - 1);
  }
}

void lang_lower_spread(lang_lowerer *l) {
  for (size_t i = 0; i < l->mark_count; i++) {
    block_statement *s = l->marks[i].statement;
    block_access *a = s->kind == BLOCK_LOAD ? &s->load.access : &s->store.access;
    spread(l->program, a, l->marks[i].open);
  }
}
