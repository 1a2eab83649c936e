// SPDX-License-Identifier: Apache-2.0
// Tokens of commands, on arrays with sync.by tokens: which other units' tokens a command pops before it is issued, and
// to which units it pushes one when it and all older commands of its unit are done.
#ifndef ARCH_TOKENS_H
#define ARCH_TOKENS_H

#include "hw/array.h"
#include "isa/isa.h"

// In the order of sim_class.
typedef enum { ARCH_UNIT_LOAD, ARCH_UNIT_EXECUTE, ARCH_UNIT_STORE, ARCH_UNITS } arch_unit;
extern const char *const arch_unit_names[ARCH_UNITS];

// A bit for each unit.
typedef struct arch_tokens {
  uint8_t pops, pushes;
} arch_tokens;

// The unit whose queue an instruction goes through; ARCH_UNITS: none.
arch_unit arch_unit_of(const isa_insn *insn);

// None of an instruction without token fields.
arch_tokens arch_tokens_of(const isa_insn *insn, uint64_t rs2);
// rs2 with these tokens in place of its own. Of an instruction with token fields.
uint64_t arch_tokens_set(const isa_insn *insn, uint64_t rs2, arch_tokens tokens);

// What a counter holds at most.
static inline uint32_t arch_tokens_max(const hw_array *array) { return (1U << array->sync.token_bits) - 1; }

#endif
