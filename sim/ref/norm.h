// SPDX-License-Identifier: Apache-2.0
// The way of an accumulator row out to int8, and the statistics that normalisation needs. Shared by the engines.
#ifndef SIM_REF_NORM_H
#define SIM_REF_NORM_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/config.h"
#include "arch/local.h"

// What the normaliser knows of one set of statistics.
typedef struct ref_stats {
  int32_t sum;
  uint16_t count;
  int32_t running_max;  // of all rows since the last sum of exponentials
  int32_t max;          // that the exponentials use
  int32_t mean;
  float inv_stddev, inv_sum_exp;
} ref_stats;

// How rows leave.
typedef struct ref_narrow {
  bool normaliser;         // the array has one; otherwise ReLU is the only activation
  bool factor_then_scale;  // ISA revision 1
  uint32_t activation;     // arch_activation
  uint32_t scale;          // binary32
  int32_t qb, qc, qln2, qln2_inverse;
} ref_narrow;

// Blocks before the last one of a row use the command that only collects.
static inline arch_norm ref_norm_collecting(arch_norm norm) {
  switch (norm) {
    case ARCH_NORM_MEAN:
      return ARCH_NORM_SUM;
    case ARCH_NORM_INV_STDDEV:
      return ARCH_NORM_VARIANCE;
    case ARCH_NORM_INV_SUM_EXP:
      return ARCH_NORM_SUM_EXP;
    default:
      return norm;
  }
}

void ref_stats_clear(ref_stats *stats);
// A row of a statistics command.
void ref_stats_row(ref_stats *stats, arch_norm command, const ref_narrow *how, const int32_t *in, uint32_t count);
// A row that is stored as int8 ends what its set has collected.
static inline void ref_stats_restart(ref_stats *stats) { stats->sum = stats->count = 0; }

// True if rows need the statistics of their set, where there is a normaliser.
static inline bool ref_needs_statistics(uint32_t activation) {
  return activation == ARCH_ACTIVATION_LAYERNORM || activation == ARCH_ACTIVATION_SOFTMAX;
}

void ref_narrow_row(const ref_narrow *how, const ref_stats *stats, const int32_t *in, uint32_t count, int8_t *out);

#endif
