// SPDX-License-Identifier: Apache-2.0
// The local rows that a command touches, as the reservation station compares them: command_rows.c.
//
// Both memories are numbered in one space: accumulator row n is 2^row_bits + n. A range is [first, end); no rows at all
// is CYCLE_NO_ROWS, which overlaps nothing.
#ifndef SIM_CYCLE_COMMAND_ROWS_H
#define SIM_CYCLE_COMMAND_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/config.h"
#include "sim/cycle/cycle.h"

typedef struct cycle_row_range {
  uint32_t first, end;
} cycle_row_range;

#define CYCLE_NO_ROWS ((cycle_row_range){.first = UINT32_MAX, .end = 0})

typedef struct cycle_rows {
  cycle_row_range a, b;
  bool a_writes;
} cycle_rows;

// Configuration in the order of allocation, as far as it changes the rows of later commands.
typedef struct cycle_row_config {
  bool weight_stationary, a_transpose, b_transpose;
  bool image;  // pooled and image stores
  uint16_t a_stride, c_stride, image_rows;
  uint16_t block_stride[ARCH_LOAD_STATES];
  uint8_t pixel_repeats[ARCH_LOAD_STATES];
  bool gate;
  uint32_t gate_offset;  // scratchpad row less accumulator row
} cycle_row_config;

static inline bool cycle_rows_overlap(cycle_row_range x, cycle_row_range y) {
  return x.first < y.end && y.first < x.end;
}

// The rows of a command that is no configuration.
SIM_CYCLE_VISIBLE cycle_rows cycle_command_rows(const hw_derived *derived, bool pixel_repeat,
                                                const cycle_row_config *config, isa_id insn, uint64_t rs1,
                                                uint64_t rs2);

// A configuration command changes the rows of later ones.
SIM_CYCLE_VISIBLE void cycle_command_rows_configure(cycle_row_config *config, bool max_pool, isa_id insn, uint64_t rs1,
                                                    uint64_t rs2);

#endif
