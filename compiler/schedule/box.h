// SPDX-License-Identifier: Apache-2.0
// A box is a part of a buffer: elements [lo, hi) in each dimension.
#ifndef COMPILER_SCHEDULE_BOX_H
#define COMPILER_SCHEDULE_BOX_H

#include "compiler/block/block.h"

typedef struct sched_box {
  int64_t lo[BLOCK_RANK_MAX], hi[BLOCK_RANK_MAX];
} sched_box;

bool sched_box_empty(const sched_box *b, int rank);
int64_t sched_box_elements(const sched_box *b, int rank);
sched_box sched_box_meet(const sched_box *a, const sched_box *b, int rank);
// Grows `b` to the smallest box that holds both.
void sched_box_join(sched_box *b, const sched_box *more, int rank);

#endif
