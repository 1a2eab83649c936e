// Local addresses: one 32-bit word that names a row of the scratchpad or of the accumulator.
//   31 accumulator   30 accumulate on write   29 read at full width   28:26 normaliser command
//   row_bits         the "garbage bit"        row_bits-1:0 the row    everything between is ignored
// The garbage address has bits 31, 30, 29, the garbage bit and all row bits set. In every other address the garbage bit
// counts as the next bit of the row number, so that a row one past the end is seen as such and does not wrap.
#ifndef ARCH_LOCAL_H
#define ARCH_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

#define ARCH_LOCAL_GARBAGE UINT32_C(0xffffffff)

typedef enum {
  ARCH_NORM_NONE,
  ARCH_NORM_SUM,
  ARCH_NORM_MEAN,
  ARCH_NORM_VARIANCE,
  ARCH_NORM_INV_STDDEV,
  ARCH_NORM_MAX,
  ARCH_NORM_SUM_EXP,
  ARCH_NORM_INV_SUM_EXP,
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
      .norm = (arch_norm)(word >> 26 & 7),
      .garbage = word >> 29 == 7 && (word & numbered) == numbered,
      .accumulator = word >> 31 != 0,
      .accumulate = (word >> 30 & 1) != 0,
      .full = (word >> 29 & 1) != 0,
  };
}

static inline uint32_t arch_local_rows(const hw_derived *derived, bool accumulator) {
  return accumulator ? derived->acc_rows : derived->sp_rows;
}

static inline const char *arch_local_memory_name(bool accumulator) {
  return accumulator ? "accumulator" : "scratchpad";
}

#endif
