// SPDX-License-Identifier: Apache-2.0
// Tables as sums of ramps (QCurve). Ramps are added one by one (ramps.h); their weights are least squares, rounded at
// the end. As few ramps are taken as keep the noise of the bytes within 2 dB of that of rounding; all eight may have 4
// dB.
//
// Values near 0 count more than those at the ends, as they are more frequent: half of the weight is a bell of `spread`
// values. A mean that is off does not average out where a network pools: it counts as `bias_counts` times its square.
#include "compiler/graph/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/quantise/convert.h"
#include "compiler/quantise/ramps.h"
#include "compiler/quantise/rewrite.h"

enum { VALUES = QUANTISE_RAMPS_VALUES };
static const double noise_of_rounding = 1.0 / 12, noise_at_most = 1.6,  // 2 dB
    noise_of_last = 2.5;                                                // 4 dB

static const double hopeless = 3;  // times the noise: no other start makes up for that
static const double spread = 32, bias_counts = 8;

// An offset of up to 127 per ramp takes no product of its own (compiler/network/curve.c).
static int free_offset(const quantise_ramps *f) { return f->count * INT8_MAX; }

// Rounded, with `top` for the largest weight, and an offset of at most `limit`.
static bool round_weights(const quantise_ramps *f, double top, int limit, graph_curve *curve) {
  double largest = 0;
  for (int i = 0; i < f->count; i++) largest = fmax(largest, fabs(f->weights[i]));
  const float scale = (float)(largest / top);
  if (!(scale > 0)) return false;
  const double offset = fmin(fmax(rint(f->offset / (double)scale), -limit), limit);
  *curve = (graph_curve){.count = f->count, .offset = (int32_t)offset, .scale = scale};
  for (int i = 0; i < f->count; i++) {
    curve->slope[i] = (int8_t)f->ramps[i].slope;
    curve->start[i] = (int8_t)f->ramps[i].start;
    curve->weight[i] = (int8_t)rint(f->weights[i] / (double)scale);
  }
  return true;
}

static double noise_of(const graph_curve *curve, const quantise_ramps_goal *g) {
  double sum = 0, bias = 0;
  for (int q = 0; q < VALUES; q++) {
    const double error = graph_curve_value(curve, (int8_t)(q - VALUES / 2)) - g->target[q];
    sum += g->weight[q] * error * error;
    bias += g->weight[q] * error;
  }
  return sum + bias_counts * bias * bias;
}

// Takes a neighbour if it has less noise.
static bool try_curve(const graph_curve *other, const quantise_ramps_goal *target, graph_curve *best, double *least) {
  const double noise = noise_of(other, target);
  if (!(noise < *least)) return false;
  *best = *other;
  *least = noise;
  return true;
}

// Moves number `part` (weights, starts, the offset) by one step; false: out of range.
static bool step_part(graph_curve *curve, int part, int step, int limit) {
  if (part == 2 * curve->count) {
    curve->offset += step * INT8_MAX / 4;
    return abs(curve->offset) <= limit;
  }
  int8_t *byte = part < curve->count ? &curve->weight[part] : &curve->start[part - curve->count];
  if (*byte + step < INT8_MIN || *byte + step > INT8_MAX) return false;
  *byte = (int8_t)(*byte + step);
  return true;
}

// One part a step to either side, as long as that helps.
static void polish(const quantise_ramps_goal *target, int limit, graph_curve *curve, double *least) {
  for (bool better = true; better;) {
    better = false;
    for (int i = 0; i <= 2 * curve->count; i++)
      for (int step = -1; step <= 1; step += 2) {
        graph_curve other = *curve;
        if (step_part(&other, i, step, limit)) better |= try_curve(&other, target, curve, least);
      }
  }
}

static double best_curve(const quantise_ramps *f, const quantise_ramps_goal *goal, int limit, graph_curve *curve) {
  enum { LEAST_TOP = 80 };
  double least = INFINITY;
  graph_curve other;
  for (int top = INT8_MAX; top >= LEAST_TOP; top--)
    if (round_weights(f, top, limit, &other)) try_curve(&other, goal, curve, &least);
  if (least < 4 * noise_at_most * noise_of_rounding) polish(goal, limit, curve, &least);
  return least;
}

// How many products each element takes (compiler/network/curve.c); NONE: no curve that is near enough.
enum { NONE = 2 * GRAPH_CURVE_RAMPS + 2 };

static int products_of(const quantise_ramps *f, const quantise_ramps_goal *goal, double noise, graph_curve *curve) {
  if (f->left > noise) return NONE;
  if (best_curve(f, goal, free_offset(f), curve) <= noise) return 2 * f->count;
  return best_curve(f, goal, GRAPH_CURVE_OFFSET_MAX, curve) <= noise ? 2 * f->count + 1 : NONE;
}

static void take_better(const quantise_ramps *f, const quantise_ramps_goal *goal, double noise, graph_curve *curve,
                        int *least) {
  graph_curve other;
  const int products = products_of(f, goal, noise, &other);
  if (products >= *least) return;
  *least = products;
  *curve = other;
}

// One ramp more; is that near enough, or another set of as many?
static int add_ramp(quantise_ramps_search *search, const quantise_ramps_goal *goal, int least_slope, double noise,
                    quantise_ramps *f, graph_curve *curve) {
  enum { TRIES = 16 };
  int least = NONE;
  quantise_ramps_add(search, least_slope, f);
  take_better(f, goal, noise, curve, &least);
  for (int tries = 0; tries < TRIES && f->left < hopeless * noise && least > 2 * f->count; tries++) {
    quantise_ramps other = *f;
    quantise_ramps_again(search, least_slope, &other);
    take_better(&other, goal, noise, curve, &least);
    if (other.left < f->left) *f = other;
  }
  return least;
}

// As few ramps as do. A weight is rounded by up to half a unit, which counts 127 times where its
// ramp has ended: where the function is steep, steeper ramps have finer weights.
static bool fit_curve(const quantise_ramps_goal *goal, double noise, graph_curve *curve) {
  enum { STEEPEST = 4 };
  quantise_ramps found[STEEPEST] = {0};
  quantise_ramps_search *search = quantise_ramps_begin(goal);
  int least = NONE;
  for (int count = 1; count <= GRAPH_CURVE_RAMPS && least == NONE; count++) {
    const double most = count < GRAPH_CURVE_RAMPS ? noise : fmax(noise, noise_of_last);
    for (int slope = 1; slope <= STEEPEST && least > 2 * count; slope++) {
      graph_curve other;
      const int products = add_ramp(search, goal, slope, most * noise_of_rounding, &found[slope - 1], &other);
      if (products < least) least = products, *curve = other;
    }
  }
  quantise_ramps_end(search);
  return least < NONE;
}

static void weigh(quantise_ramps_goal *g) {
  double bell[VALUES], all = 0;
  for (int q = 0; q < VALUES; q++) {
    const double x = (q - VALUES / 2) / spread;
    all += bell[q] = exp(-x * x / 2);
  }
  for (int q = 0; q < VALUES; q++) g->weight[q] = (bell[q] / all + 1.0 / VALUES) / 2;
}

bool quantise_convert_fit_curve(const double table[VALUES], double noise, graph_curve *curve) {
  quantise_ramps_goal target;
  memcpy(target.target, table, sizeof target.target);
  weigh(&target);
  return fit_curve(&target, noise, curve);
}

static bool is_clamp(const double target[VALUES]) {
  int8_t table[VALUES];
  for (int q = 0; q < VALUES; q++) table[q] = (int8_t)rint(target[q]);
  return quantise_rewrite_is_clamp(table);
}

int quantise_convert_curve(quantise_converter *c, int from, int tensor, quantise_convert_layout layout) {
  enum { WORTH = 4, MANY = 2048 };  // elements: fewer are not worth a step of the array; a table is slow
  float numbers[VALUES];
  double target[VALUES];
  graph_curve curve;
  if (quantise_pin_of(c->pins, tensor)->scale > 0 || c->zero[tensor] != 0) return GRAPH_NONE;
  const int64_t elements = graph_elements(&c->model->tensors[tensor]);
  if (elements < WORTH || !quantise_convert_real_table(c, tensor, numbers)) return GRAPH_NONE;
  for (int q = 0; q < VALUES; q++) {
    const double value = (double)numbers[q] / (double)c->scale[tensor];
    if (!isfinite(value)) return GRAPH_NONE;
    target[q] = value < INT8_MIN ? INT8_MIN : value > INT8_MAX ? INT8_MAX : value;
  }
  if (elements < MANY && is_clamp(target)) return GRAPH_NONE;  // which may go into a product
  if (!quantise_convert_fit_curve(target, noise_at_most, &curve)) return GRAPH_NONE;
  const int form = quantise_convert_new(c, tensor, ".i8", GRAPH_I8, layout);
  graph_curve_set(c->out, quantise_convert_emit(c, GRAPH_OP_QCURVE, c->out->tensors[form].name, &from, 1, form),
                  &curve);
  return form;
}
