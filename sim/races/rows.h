// SPDX-License-Identifier: Apache-2.0
// The local rows that a primitive touches: exactly those, where the reservation station compares ranges around them.
#ifndef SIM_RACES_ROWS_H
#define SIM_RACES_ROWS_H

#include "arch/command.h"
#include "arch/config.h"
#include "hw/array.h"
#include "sim/races/races.h"

// Rows first + i * stride + b * block_stride, i below count, b below blocks.
typedef struct races_rows {
  races_place place;
  bool writes;
  int64_t first, stride, block_stride;
  uint32_t count, blocks;
} races_rows;

enum { RACES_ROWS_MAX = 2 };  // of one primitive
typedef struct races_touched {
  unsigned count;
  races_rows rows[RACES_ROWS_MAX];
} races_touched;

races_touched races_touched_by(const hw_array *array, const hw_derived *derived, const arch_config *config,
                               const arch_command *primitive);

// The rows that both touch, from the first to behind the last; false: there are none.
bool races_rows_meet(const races_rows *a, const races_rows *b, uint64_t *first, uint64_t *end);

#endif
