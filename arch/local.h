// SPDX-License-Identifier: Apache-2.0
// Local addresses: one 32-bit word that names a row of the scratchpad or of the accumulator.
// Its fields stand in the instruction table (isa_local_*): accumulator, accumulate on write, read at full width,
// normaliser command, row. Of the row field an array uses its row_bits and, above them, the "garbage bit"; the rest is
// ignored.
// The garbage address has the three flags, the garbage bit and all row bits set. In every other address the garbage bit
// counts as the next bit of the row number, so that a row one past the end is seen as such and does not wrap.
#ifndef ARCH_LOCAL_H
#define ARCH_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"
#include "isa/isa_fields.h"

#define ARCH_LOCAL_GARBAGE ISA_LOCAL_GARBAGE
#define ARCH_LOCAL_FLAGS (ISA_LOCAL_ACCUMULATOR_MASK | ISA_LOCAL_ACCUMULATE_MASK | ISA_LOCAL_FULL_MASK)

typedef enum {
  ARCH_NORM_NONE = ISA_LOCAL_NORM_NONE,
  ARCH_NORM_SUM = ISA_LOCAL_NORM_SUM,
  ARCH_NORM_MEAN = ISA_LOCAL_NORM_MEAN,
  ARCH_NORM_VARIANCE = ISA_LOCAL_NORM_VARIANCE,
  ARCH_NORM_INV_STDDEV = ISA_LOCAL_NORM_INV_STDDEV,
  ARCH_NORM_MAX = ISA_LOCAL_NORM_MAX,
  ARCH_NORM_SUM_EXP = ISA_LOCAL_NORM_SUM_EXP,
  ARCH_NORM_INV_SUM_EXP = ISA_LOCAL_NORM_INV_SUM_EXP,
} arch_norm;

typedef struct arch_local {
  uint32_t row;
  arch_norm norm;
  bool garbage;
  bool accumulator;
  bool accumulate;
  bool full;
} arch_local;

static inline arch_local arch_local_decode(const hw_derived *derived, uint64_t address) {
  uint32_t word = (uint32_t)address;
  uint32_t numbered = (UINT32_C(2) << derived->row_bits) - 1;
  return (arch_local){
      .row = word & numbered,
      .norm = (arch_norm)isa_local_norm(word),
      .garbage = (word & ARCH_LOCAL_FLAGS) == ARCH_LOCAL_FLAGS && (word & numbered) == numbered,
      .accumulator = isa_local_accumulator(word) != 0,
      .accumulate = isa_local_accumulate(word) != 0,
      .full = isa_local_full(word) != 0,
  };
}

// A store makes int8 of such a row, which a gate may multiply.
static inline bool arch_local_narrows(const arch_local *from) {
  return from->accumulator && !from->garbage && !from->full && from->norm == ARCH_NORM_NONE;
}

static inline uint32_t arch_local_rows(const hw_derived *derived, bool accumulator) {
  return accumulator ? derived->acc_rows : derived->sp_rows;
}

static inline const char *arch_local_memory_name(bool accumulator) {
  return accumulator ? "accumulator" : "scratchpad";
}

#endif
