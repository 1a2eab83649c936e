// SPDX-License-Identifier: Apache-2.0
// Programs for a machine, each from memory that a seed fills: C = A * B, all square with rows of as many bytes as
// elements.
#ifndef HW_RTL_TESTS_FRONT_ACCEL_PROGRAMS_H
#define HW_RTL_TESTS_FRONT_ACCEL_PROGRAMS_H

#include "hw/rtl/tests/front/accel_machine.h"

enum { A_AT = 0x1000, B_AT = 0x9000, C_AT = 0x11000 };  // offsets in memory
enum { PROGRAM_TILES = 3 };                             // per side of the loop

static inline uint64_t program_address(uint64_t offset) { return MACHINE_BASE + offset; }
static inline uint64_t program_operand(uint64_t local, uint64_t rows, uint64_t cols) {
  return rows << 48 | cols << 32 | local;
}

void program_configure(machine *m, uint64_t stride_bytes);
void program_tile(machine *m);  // one tile, by moves and a compute
void program_loop(machine *m);  // PROGRAM_TILES tiles per side, by a matrix loop
bool program_check(const machine *m, uint32_t side);

#endif
