// SPDX-License-Identifier: Apache-2.0
#include "hw/rtl/tests/front/accel_programs.h"

#include <stdio.h>
#include <stdlib.h>

#include "isa/isa_fields.h"

#define ACCUMULATOR UINT64_C(0x80000000)
#define GARBAGE UINT64_C(0xffffffff)
#define ONE UINT64_C(0x3f800000)

void program_configure(machine *m, uint64_t stride_bytes) {
  machine_put(m, ISA_FUNCT_CONFIG_EX, UINT64_C(1) << 16 | 4 | ONE << 32, UINT64_C(1) << 48);
  for (uint64_t state = 0; state < 3; state++)
    machine_put(m, ISA_FUNCT_CONFIG_LD, 1 | state << 3 | 1 << 8 | (uint64_t)m->derived.dim << 16 | ONE << 32,
                stride_bytes);
  machine_put(m, ISA_FUNCT_CONFIG_ST, 2, stride_bytes | ONE << 32);
}

static void fill(machine *m, unsigned seed) {
  srand(seed);
  for (size_t n = 0; n < MACHINE_BYTES; n++) m->memory[n] = (uint8_t)(rand() % 7 - 3);
}

static int8_t clip(int32_t x) { return x > 127 ? 127 : x < -128 ? -128 : (int8_t)x; }

bool program_check(const machine *m, uint32_t side) {
  for (uint32_t i = 0; i < side; i++) {
    for (uint32_t j = 0; j < side; j++) {
      int32_t sum = 0;
      for (uint32_t k = 0; k < side; k++)
        sum += (int8_t)m->memory[A_AT + i * side + k] * (int8_t)m->memory[B_AT + k * side + j];
      if ((int8_t)m->memory[C_AT + i * side + j] == clip(sum)) continue;
      fprintf(stderr, "C[%u][%u] is %d, not %d\n", i, j, (int8_t)m->memory[C_AT + i * side + j], clip(sum));
      return false;
    }
  }
  return true;
}

void program_tile(machine *m) {
  uint64_t dim = m->derived.dim;
  fill(m, 1);
  program_configure(m, dim);
  machine_put(m, ISA_FUNCT_MVIN, program_address(A_AT), program_operand(0, dim, dim));
  machine_put(m, ISA_FUNCT_MVIN2, program_address(B_AT), program_operand(dim, dim, dim));
  machine_put(m, ISA_FUNCT_PRELOAD, program_operand(dim, dim, dim), program_operand(ACCUMULATOR, dim, dim));
  machine_put(m, ISA_FUNCT_COMPUTE_PRELOADED, program_operand(0, dim, dim), program_operand(GARBAGE, dim, dim));
  machine_put(m, ISA_FUNCT_MVOUT, program_address(C_AT), program_operand(ACCUMULATOR, dim, dim));
}

void program_loop(machine *m) {
  uint64_t dim = m->derived.dim, side = PROGRAM_TILES * dim;
  fill(m, 2);
  program_configure(m, side);
  machine_put(m, ISA_FUNCT_LOOP_WS_BOUNDS, 0, (uint64_t)PROGRAM_TILES << 32 | PROGRAM_TILES << 16 | PROGRAM_TILES);
  machine_put(m, ISA_FUNCT_LOOP_WS_ADDRS_AB, program_address(A_AT), program_address(B_AT));
  machine_put(m, ISA_FUNCT_LOOP_WS_ADDRS_DC, 0, program_address(C_AT));
  machine_put(m, ISA_FUNCT_LOOP_WS_STRIDES_AB, side, side);
  machine_put(m, ISA_FUNCT_LOOP_WS_STRIDES_DC, side, side);
  machine_put(m, ISA_FUNCT_LOOP_WS, 0, 0);
}
