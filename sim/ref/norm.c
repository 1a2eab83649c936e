// SPDX-License-Identifier: Apache-2.0
// The way out of the accumulator: activation, normalisation, scale; and the statistics that normalisation needs.
//
// Statistics of a set: sum and count collect until they are divided (mean, variance) or a row is stored; the running
// maximum collects until a sum of exponentials is inverted. Revision 1 multiplies by the norm factor and then by the
// configured scale, with an int32 in between; revision 2 multiplies by the norm factor alone.
#include "sim/ref/norm.h"

#include "sim/ref/numeric.h"

void ref_stats_clear(ref_stats *stats) { *stats = (ref_stats){.running_max = INT32_MIN, .max = INT32_MIN}; }

static int32_t exponential(const ref_narrow *how, const ref_stats *stats, int32_t value) {
  return ref_iexp(ref_sub(value, stats->max), how->qln2, how->qln2_inverse, how->qb, how->qc);
}

static void collect(ref_stats *stats, arch_norm command, const ref_narrow *how, const int32_t *in, uint32_t count) {
  stats->count = (uint16_t)(stats->count + count);
  for (uint32_t j = 0; j < count; j++) {
    int32_t error = ref_sub(in[j], stats->mean);
    switch (command) {
      case ARCH_NORM_SUM:
      case ARCH_NORM_MEAN:
        stats->sum = ref_add(stats->sum, in[j]);
        break;
      case ARCH_NORM_VARIANCE:
      case ARCH_NORM_INV_STDDEV:
        stats->sum = ref_add(stats->sum, ref_mul(error, error));
        break;
      case ARCH_NORM_MAX:
        if (in[j] > stats->running_max) stats->running_max = in[j];
        break;
      default:
        stats->sum = ref_add(stats->sum, exponential(how, stats, in[j]));
        break;
    }
  }
}

// The quotient by the number of elements, truncated towards zero; a count that has wrapped to zero divides nothing.
static int32_t take_average(ref_stats *stats) {
  int32_t average = stats->count == 0 ? 0 : stats->sum / stats->count;
  ref_stats_restart(stats);
  return average;
}

static void finish_deviation(ref_stats *stats) {
  int32_t deviation = ref_floor_sqrt(take_average(stats));
  stats->inv_stddev = 1.0f / (float)(deviation == 0 ? 1 : deviation);
}

void ref_stats_row(ref_stats *stats, arch_norm command, const ref_narrow *how, const int32_t *in, uint32_t count) {
  if (command == ARCH_NORM_SUM_EXP || command == ARCH_NORM_INV_SUM_EXP) stats->max = stats->running_max;
  collect(stats, command, how, in, count);
  switch (command) {
    case ARCH_NORM_MEAN:
      stats->mean = take_average(stats);
      break;
    case ARCH_NORM_INV_STDDEV:
      finish_deviation(stats);
      break;
    case ARCH_NORM_INV_SUM_EXP:
      stats->inv_sum_exp = 127.0f / (float)stats->sum;
      stats->running_max = INT32_MIN;
      break;
    default:
      break;
  }
}

static int8_t scale_normalised(const ref_narrow *how, int32_t value, float factor) {
  value = ref_scale_int32(value, factor);
  if (how->factor_then_scale) value = ref_scale_int32(value, ref_float_of_bits(how->scale));
  return ref_clip_int8(value);
}

static int8_t normalise(const ref_narrow *how, const ref_stats *stats, int32_t value) {
  switch (how->activation) {
    case ARCH_ACTIVATION_LAYERNORM:
      return scale_normalised(how, ref_sub(value, stats->mean), stats->inv_stddev);
    case ARCH_ACTIVATION_SOFTMAX:
      return scale_normalised(how, exponential(how, stats, value), stats->inv_sum_exp);
    default:
      return ref_clip_int8(ref_scale_int32(ref_igelu(value, how->qb, how->qc), ref_float_of_bits(how->scale)));
  }
}

void ref_narrow_row(const ref_narrow *how, const ref_stats *stats, const int32_t *in, uint32_t count, int8_t *out) {
  if (how->normaliser && (ref_needs_statistics(how->activation) || how->activation == ARCH_ACTIVATION_IGELU))
    for (uint32_t j = 0; j < count; j++) out[j] = normalise(how, stats, in[j]);
  else
    ref_scale_row(count, in, ref_float_of_bits(how->scale), how->activation == ARCH_ACTIVATION_RELU, out);
}
