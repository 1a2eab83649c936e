// SPDX-License-Identifier: Apache-2.0
// Rows, and elements of GELU, as the normaliser of the store unit makes them, with the arithmetic of the engines
// (sim/ref/norm.h).
#include "sim/ref/norm.h"

#include "arch/config.h"
#include "compiler/block/build.h"
#include "sim/ref/numeric.h"

const char *const block_norm_names[BLOCK_NORM_COUNT] = {
#define X(NAME, text) [BLOCK_##NAME] = text,
    BLOCK_NORMS(X)
#undef X
};

bool block_norm_is_of_rows(block_norm_kind kind) { return kind == BLOCK_SOFTMAX || kind == BLOCK_LAYER_NORM; }

static ref_narrow narrow_of(const block_epilogue *how) {
  static const uint32_t activations[BLOCK_NORM_COUNT] = {[BLOCK_SOFTMAX] = ARCH_ACTIVATION_SOFTMAX,
                                                         [BLOCK_LAYER_NORM] = ARCH_ACTIVATION_LAYERNORM,
                                                         [BLOCK_GELU] = ARCH_ACTIVATION_IGELU};
  const block_norm *norm = &how->norm;
  return (ref_narrow){.normaliser = true,
                      .activation = activations[norm->kind],
                      .scale = ref_bits_of_float(how->scale),
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

void block_norm_row(const block_epilogue *epilogue, const int32_t *in, const int32_t *statistics, uint32_t count,
                    int8_t *out) {
  const ref_narrow how = narrow_of(epilogue);
  ref_stats stats;
  ref_stats_clear(&stats);
  if (epilogue->norm.kind == BLOCK_SOFTMAX) {
    take_softmax(&stats, &how, in, count);
  } else if (epilogue->norm.kind == BLOCK_LAYER_NORM) {
    take_deviation(&stats, &how, statistics, count);
    ref_stats_row(&stats, ARCH_NORM_MEAN, &how, in, count);
  }
  ref_narrow_row(&how, &stats, in, count, out);
}
