// SPDX-License-Identifier: Apache-2.0
// Do two loads write a common byte of local memory? See load_overlap.c.
#ifndef SIM_CYCLE_LOAD_OVERLAP_H
#define SIM_CYCLE_LOAD_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/cycle/cycle.h"

// `blocks` runs of `rows` consecutive rows, `stride` rows apart, the first at `row`; copies of its pixels up to
// `copies` rows lower, each in lanes of its own: copy q in those from q * cols on.
typedef struct cycle_load_rows {
  uint32_t row;
  uint16_t rows, cols, blocks, stride;
  uint8_t copies;
  bool is_acc;
} cycle_load_rows;

SIM_CYCLE_VISIBLE bool cycle_load_overlap(const cycle_load_rows *a, const cycle_load_rows *b);

#endif
