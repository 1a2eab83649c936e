// The way out of the accumulator: activation, normalisation, scale; and the statistics that normalisation needs.
//
// Statistics of a set: sum and count collect until they are divided (mean, variance) or a row is stored; the running
// maximum collects until a sum of exponentials is inverted. Revision 1 multiplies by the norm factor and then by the
// configured scale, with an int32 in between; revision 2 multiplies by the norm factor alone.
#include "sim/ref/numeric.h"
#include "sim/ref/state.h"

void ref_stats_reset(ref_engine *ref) {
  for (uint32_t n = 0; n < ref->derived.norm_stats; n++)
    ref->stats[n] = (ref_stats){.running_max = INT32_MIN, .max = INT32_MIN};
}

static ref_stats *current_stats(ref_engine *ref) { return &ref->stats[ref->config->store.stats_id]; }

static int32_t exponential(const ref_engine *ref, const ref_stats *stats, int32_t value) {
  const sim_store_config *c = &ref->config->store;
  return ref_iexp(ref_sub(value, stats->max), c->qln2, c->qln2_inverse, c->qb, c->qc);
}

static void collect(ref_engine *ref, ref_stats *stats, sim_norm command, const int32_t *in, uint32_t count) {
  stats->count = (uint16_t)(stats->count + count);
  for (uint32_t j = 0; j < count; j++) {
    int32_t error = ref_sub(in[j], stats->mean);
    switch (command) {
      case SIM_NORM_SUM:
      case SIM_NORM_MEAN:
        stats->sum = ref_add(stats->sum, in[j]);
        break;
      case SIM_NORM_VARIANCE:
      case SIM_NORM_INV_STDDEV:
        stats->sum = ref_add(stats->sum, ref_mul(error, error));
        break;
      case SIM_NORM_MAX:
        if (in[j] > stats->running_max) stats->running_max = in[j];
        break;
      default:
        stats->sum = ref_add(stats->sum, exponential(ref, stats, in[j]));
        break;
    }
  }
}

// The quotient by the number of elements, truncated towards zero; a count that has wrapped to zero divides nothing.
static int32_t take_average(ref_stats *stats) {
  int32_t average = stats->count == 0 ? 0 : stats->sum / stats->count;
  stats->sum = 0;
  stats->count = 0;
  return average;
}

static void finish_deviation(ref_stats *stats) {
  int32_t deviation = ref_floor_sqrt(take_average(stats));
  stats->inv_stddev = 1.0f / (float)(deviation == 0 ? 1 : deviation);
}

void ref_norm_row(ref_engine *ref, sim_norm command, const int32_t *in, uint32_t count) {
  ref_stats *stats = current_stats(ref);
  if (command == SIM_NORM_SUM_EXP || command == SIM_NORM_INV_SUM_EXP) stats->max = stats->running_max;
  collect(ref, stats, command, in, count);
  switch (command) {
    case SIM_NORM_MEAN:
      stats->mean = take_average(stats);
      break;
    case SIM_NORM_INV_STDDEV:
      finish_deviation(stats);
      break;
    case SIM_NORM_INV_SUM_EXP:
      stats->inv_sum_exp = 127.0f / (float)stats->sum;
      stats->running_max = INT32_MIN;
      break;
    default:
      break;
  }
}

static int8_t scale_normalised(const ref_engine *ref, int32_t value, float factor) {
  if (ref->array->isa.revision == 1)
    value = ref_scale_int32(ref_scale_int32(value, factor), ref_float_of_bits(ref->config->store.scale));
  else
    value = ref_scale_int32(value, factor);
  return ref_clip_int8(value);
}

static int8_t normalise(ref_engine *ref, const ref_stats *stats, int32_t value) {
  const sim_store_config *c = &ref->config->store;
  switch (c->activation) {
    case SIM_ACTIVATION_LAYERNORM:
      return scale_normalised(ref, ref_sub(value, stats->mean), stats->inv_stddev);
    case SIM_ACTIVATION_SOFTMAX:
      return scale_normalised(ref, exponential(ref, stats, value), stats->inv_sum_exp);
    default:
      return ref_clip_int8(ref_scale_int32(ref_igelu(value, c->qb, c->qc), ref_float_of_bits(c->scale)));
  }
}

void ref_store_row(ref_engine *ref, const int32_t *in, uint32_t count, int8_t *out) {
  const sim_store_config *c = &ref->config->store;
  ref_stats *stats = current_stats(ref);
  bool normaliser = ref->array->units.normaliser;
  bool polynomial = c->activation >= SIM_ACTIVATION_LAYERNORM && c->activation <= SIM_ACTIVATION_SOFTMAX;
  if (normaliser && polynomial)
    for (uint32_t j = 0; j < count; j++) out[j] = normalise(ref, stats, in[j]);
  else
    ref_scale_row(count, in, ref_float_of_bits(c->scale), c->activation == SIM_ACTIVATION_RELU, out);
  if (normaliser) stats->sum = stats->count = 0;
}
