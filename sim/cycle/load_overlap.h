// SPDX-License-Identifier: Apache-2.0
// Do two loads write a common local row? See load_overlap.c.
#ifndef SIM_CYCLE_LOAD_OVERLAP_H
#define SIM_CYCLE_LOAD_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

// `blocks` runs of `span` consecutive rows, `stride` rows apart.
typedef struct cycle_load_rows {
  uint32_t row;
  uint16_t span, blocks, stride;
  bool is_acc;
} cycle_load_rows;

// max_blocks: column blocks of the widest row; it bounds the hardware's division.
bool cycle_load_overlap(const cycle_load_rows *a, const cycle_load_rows *b, uint32_t max_blocks);

#endif
