// Local addresses: one 32-bit word that names a row of the scratchpad or of the accumulator.
//   31 accumulator   30 accumulate on write   29 read at full width   28:26 normaliser command
//   row_bits         the "garbage bit"        row_bits-1:0 the row    everything between is ignored
// The garbage address has bits 31, 30, 29, the garbage bit and all row bits set. In every other address the garbage bit
// counts as the next bit of the row number, so that a row one past the end is seen as such and does not wrap.
#ifndef SIM_LOCAL_H
#define SIM_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

#define SIM_LOCAL_GARBAGE UINT32_C(0xffffffff)

typedef enum {
  SIM_NORM_NONE,
  SIM_NORM_SUM,
  SIM_NORM_MEAN,
  SIM_NORM_VARIANCE,
  SIM_NORM_INV_STDDEV,
  SIM_NORM_MAX,
  SIM_NORM_SUM_EXP,
  SIM_NORM_INV_SUM_EXP,
} sim_norm;

typedef struct sim_local {
  uint32_t row;
  sim_norm norm;
  bool garbage;
  bool accumulator;
  bool accumulate;
  bool full;
} sim_local;

static inline sim_local sim_local_decode(const hw_derived *derived, uint64_t address) {
  uint32_t word = (uint32_t)address;
  uint32_t numbered = (UINT32_C(2) << derived->row_bits) - 1;
  return (sim_local){
      .row = word & numbered,
      .norm = (sim_norm)(word >> 26 & 7),
      .garbage = word >> 29 == 7 && (word & numbered) == numbered,
      .accumulator = word >> 31 != 0,
      .accumulate = (word >> 30 & 1) != 0,
      .full = (word >> 29 & 1) != 0,
  };
}

static inline uint32_t sim_local_rows(const hw_derived *derived, bool accumulator) {
  return accumulator ? derived->acc_rows : derived->sp_rows;
}

static inline const char *sim_local_memory_name(bool accumulator) { return accumulator ? "accumulator" : "scratchpad"; }

#endif
