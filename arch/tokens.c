// SPDX-License-Identifier: Apache-2.0
// Tokens of commands: see tokens.h. The table of instructions gives each unit's commands the same four bits: pops from
// the two other units in the order of arch_unit, then pushes to them.
#include "arch/tokens.h"

#include <assert.h>

enum { OTHERS = 2 };

const char *const arch_unit_names[ARCH_UNITS] = {"load", "execute", "store"};

static const uint8_t others_of[ARCH_UNITS][OTHERS] = {[ARCH_UNIT_LOAD] = {ARCH_UNIT_EXECUTE, ARCH_UNIT_STORE},
                                                      [ARCH_UNIT_EXECUTE] = {ARCH_UNIT_LOAD, ARCH_UNIT_STORE},
                                                      [ARCH_UNIT_STORE] = {ARCH_UNIT_LOAD, ARCH_UNIT_EXECUTE}};

arch_unit arch_unit_of(const isa_insn *insn) {
  static const uint8_t unit_of[ISA_UNIT_COUNT] = {
      [ISA_UNIT_EXECUTE] = ARCH_UNIT_EXECUTE, [ISA_UNIT_LOAD] = ARCH_UNIT_LOAD,    [ISA_UNIT_STORE] = ARCH_UNIT_STORE,
      [ISA_UNIT_FRONT] = ARCH_UNITS,          [ISA_UNIT_LOOP_MATMUL] = ARCH_UNITS, [ISA_UNIT_LOOP_CONV] = ARCH_UNITS,
      [ISA_UNIT_COUNTER] = ARCH_UNITS};
  return (arch_unit)unit_of[insn->unit];
}

static unsigned lsb_of(const isa_insn *insn) { return (unsigned)__builtin_ctzll(insn->tokens); }

arch_tokens arch_tokens_of(const isa_insn *insn, uint64_t rs2) {
  arch_tokens tokens = {0};
  if ((rs2 & insn->tokens) == 0) return tokens;
  const unsigned bits = (unsigned)(rs2 >> lsb_of(insn));
  const uint8_t *others = others_of[arch_unit_of(insn)];
  for (unsigned i = 0; i < OTHERS; i++) {
    tokens.pops |= (uint8_t)((bits >> i & 1) << others[i]);
    tokens.pushes |= (uint8_t)((bits >> (OTHERS + i) & 1) << others[i]);
  }
  return tokens;
}

uint64_t arch_tokens_set(const isa_insn *insn, uint64_t rs2, arch_tokens tokens) {
  assert(insn->tokens != 0);
  const uint8_t *others = others_of[arch_unit_of(insn)];
  uint64_t bits = 0;
  for (unsigned i = 0; i < OTHERS; i++) {
    bits |= (uint64_t)(tokens.pops >> others[i] & 1) << i;
    bits |= (uint64_t)(tokens.pushes >> others[i] & 1) << (OTHERS + i);
  }
  return (rs2 & ~insn->tokens) | bits << lsb_of(insn);
}
