// SPDX-License-Identifier: Apache-2.0
// Rows as the normaliser of the store unit makes them, with the arithmetic of the engines (sim/ref/norm.h).
#include "sim/ref/norm.h"

#include "arch/config.h"
#include "compiler/block/build.h"
#include "sim/ref/numeric.h"

const char *const block_norm_names[BLOCK_NORM_COUNT] = {
#define X(NAME, text) [BLOCK_##NAME] = text,
    BLOCK_NORMS(X)
#undef X
};

static ref_narrow narrow_of(const block_norm *norm) {
  return (ref_narrow){.normaliser = true,
                      .activation = norm->kind == BLOCK_SOFTMAX ? ARCH_ACTIVATION_SOFTMAX : ARCH_ACTIVATION_LAYERNORM,
                      .scale = ref_bits_of_float(1),
                      .qb = norm->b,
                      .qc = norm->c,
                      .qln2 = norm->ln2,
                      .qln2_inverse = norm->ln2_inverse};
}

static void take_softmax(ref_stats *stats, const ref_narrow *how, const int32_t *in, uint32_t count) {
  ref_stats_row(stats, ARCH_NORM_MAX, how, in, count);
  ref_stats_row(stats, ARCH_NORM_INV_SUM_EXP, how, in, count);
}

static void take_deviation(ref_stats *stats, const ref_narrow *how, const int32_t *in, uint32_t count) {
  ref_stats_row(stats, ARCH_NORM_MEAN, how, in, count);
  ref_stats_row(stats, ARCH_NORM_INV_STDDEV, how, in, count);
}

void block_norm_row(const block_norm *norm, const int32_t *in, const int32_t *statistics, uint32_t count, int8_t *out) {
  const ref_narrow how = narrow_of(norm);
  ref_stats stats;
  ref_stats_clear(&stats);
  if (norm->kind == BLOCK_SOFTMAX) {
    take_softmax(&stats, &how, in, count);
  } else {
    take_deviation(&stats, &how, statistics, count);
    ref_stats_row(&stats, ARCH_NORM_MEAN, &how, in, count);
  }
  ref_narrow_row(&how, &stats, in, count, out);
}
