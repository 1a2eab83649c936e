// SPDX-License-Identifier: Apache-2.0
// A small deterministic generator for the tests (xorshift64*), and operands of an instruction drawn from it.
#ifndef ISA_TESTS_RANDOM_H
#define ISA_TESTS_RANDOM_H

#include <stdint.h>

#include "isa/isa.h"

static inline uint64_t random_next(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(0x2545f4914f6cdd1d);
}

// Mostly full-width values; sometimes small, sometimes all ones or zero, where the special cases are.
static inline uint64_t random_value(uint64_t *state) {
  uint64_t value = random_next(state);
  switch (random_next(state) >> 61) {
    case 0:
      return 0;
    case 1:
      return UINT64_MAX;
    case 2:
      return value & 0xffff;
    default:
      return value;
  }
}

// Replaces the selector bits so that isa_find gives `insn` for the operands.
static inline void random_operands(uint64_t *state, const isa_insn *insn, uint64_t *rs1, uint64_t *rs2) {
  *rs1 = random_value(state);
  *rs2 = random_value(state);
  for (size_t i = 0; i < insn->field_count; i++)
    if (insn->fields[i].type == ISA_TYPE_CONST) isa_field_set(&insn->fields[i], rs1, rs2, insn->fields[i].min);
}

static inline unsigned a_revision(const isa_insn *insn) { return (insn->revisions & 1) != 0 ? 1 : 2; }

#endif
