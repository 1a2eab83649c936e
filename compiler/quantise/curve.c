// SPDX-License-Identifier: Apache-2.0
// Tables as sums of ramps (QCurve). Ramps are added one by one, each the one that leaves the least squared distance
// from the function; all of them are then moved to better places in turn. Weights are least squares, rounded at the
// end. As many ramps are taken as keep the noise of the bytes within 2 dB of that of rounding; all of them may have 4
// dB.
//
// Values near 0 count more than those at the ends, as they are more frequent: half of the weight is a bell of `spread`
// values. A mean that is off does not average out where a network pools: it counts as `bias_counts` times its square.
#include "compiler/graph/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/quantise/convert.h"

enum { VALUES = 256, UNKNOWNS = GRAPH_CURVE_RAMPS + 1, COARSE = 4, FINE = 3, ROUNDS = 3, MANY = 5 };
static const int slopes[] = {1, -1, 2, -2, 3, 4, -4, 6, 8, 12};
static const double noise_of_rounding = 1.0 / 12, noise_at_most = 1.6,  // 2 dB
    noise_of_last = 2.5;                                                // 4 dB

static const double spread = 32, bias_counts = 8;

typedef struct ramp {
  int slope, start;
} ramp;

// What is to be reached, in units of the result's bytes, and how much each value counts (all together 1).
typedef struct goal {
  double target[VALUES], weight[VALUES];
  double noise;  // at most, in units of that of rounding
} goal;

typedef struct fit {
  const goal *goal;
  int least_slope;  // in magnitude
  int count;
  ramp ramps[GRAPH_CURVE_RAMPS];
  double values[UNKNOWNS][VALUES];  // the last one is the constant's
  double weights[UNKNOWNS];         // of the ramps, then the offset
} fit;

static void fill(ramp r, double *values) {
  for (int q = 0; q < VALUES; q++) {
    const int at = r.slope * (q - VALUES / 2) + r.start;
    values[q] = at < 0 ? 0 : at > INT8_MAX ? INT8_MAX : at;
  }
}

static double dot(const goal *g, const double *a, const double *b) {
  double sum = 0;
  for (int q = 0; q < VALUES; q++) sum += g->weight[q] * a[q] * b[q];
  return sum;
}

// Dot products of rows with each other.
typedef struct products {
  double of[UNKNOWNS][UNKNOWNS];
} products;

// Least squares for the first `count` rows of values: weights, and what of the target's square they explain.
// `right` has the dot products of the rows with the target.
static double solve(int count, const products *gram, const double *right, double *weights) {
  double a[UNKNOWNS][UNKNOWNS + 1], explained = 0;
  for (int i = 0; i < count; i++) {
    memcpy(a[i], gram->of[i], (size_t)count * sizeof a[i][0]);
    a[i][i] += 1e-6 * (gram->of[i][i] + 1);  // ramps that are alike share their weight
    a[i][count] = right[i];
  }
  for (int k = 0; k < count; k++)
    for (int i = k + 1; i < count; i++) {
      const double factor = a[i][k] / a[k][k];
      for (int j = k; j <= count; j++) a[i][j] -= factor * a[k][j];
    }
  for (int i = count - 1; i >= 0; i--) {
    weights[i] = a[i][count];
    for (int j = i + 1; j < count; j++) weights[i] -= a[i][j] * weights[j];
    weights[i] /= a[i][i];
  }
  for (int i = 0; i < count; i++) explained += weights[i] * right[i];
  return explained;
}

// The ramps but number `but`, and the constant, as rows 1 on; row 0 is the candidate's.
typedef struct others {
  const double *rows[UNKNOWNS];
  int count;
  products gram;
  double right[UNKNOWNS];
} others;

static void find_others(const fit *f, int but, others *o) {
  o->count = 1;
  for (int i = 0; i <= f->count; i++)
    if (i != but) o->rows[o->count++] = f->values[i == f->count ? GRAPH_CURVE_RAMPS : i];
  for (int i = 1; i < o->count; i++) {
    o->right[i] = dot(f->goal, o->rows[i], f->goal->target);
    for (int j = 1; j < o->count; j++) o->gram.of[i][j] = dot(f->goal, o->rows[i], o->rows[j]);
  }
}

static double explained_with(const fit *f, others *o, ramp r) {
  double values[VALUES], weights[UNKNOWNS];
  fill(r, values);
  o->right[0] = dot(f->goal, values, f->goal->target);
  o->gram.of[0][0] = dot(f->goal, values, values);
  for (int i = 1; i < o->count; i++) o->gram.of[0][i] = o->gram.of[i][0] = dot(f->goal, values, o->rows[i]);
  return solve(o->count, &o->gram, o->right, weights);
}

static void try_starts(const fit *f, others *o, int slope, int from, int to, int by, ramp *best, double *most) {
  for (int start = from < INT8_MIN ? INT8_MIN : from; start <= to && start <= INT8_MAX; start += by) {
    const ramp r = {slope, start};
    const double explained = explained_with(f, o, r);
    if (explained > *most) *most = explained, *best = r;
  }
}

// Puts ramp number `at` where it explains most, all places or those near its own.
static void place_ramp(fit *f, int at, bool everywhere) {
  others o;
  find_others(f, at, &o);
  ramp best = f->ramps[at];
  double most = everywhere ? -INFINITY : explained_with(f, &o, best);
  for (size_t s = 0; s < sizeof slopes / sizeof *slopes; s++) {
    if (abs(slopes[s]) < f->least_slope) continue;
    const int near = everywhere ? 0 : (int)lrint((double)f->ramps[at].start * slopes[s] / f->ramps[at].slope);
    if (everywhere)
      try_starts(f, &o, slopes[s], INT8_MIN, INT8_MAX, COARSE, &best, &most);
    else if (near >= INT8_MIN && near <= INT8_MAX)
      try_starts(f, &o, slopes[s], near - FINE, near + FINE, 1, &best, &most);
  }
  f->ramps[at] = best;
  fill(best, f->values[at]);
}

static void find_weights(fit *f) {
  others o;
  double weights[UNKNOWNS];
  find_others(f, 0, &o);
  explained_with(f, &o, f->ramps[0]);
  solve(o.count, &o.gram, o.right, weights);
  for (int i = 0; i < f->count; i++) f->weights[i] = weights[i];
  f->weights[f->count] = weights[f->count];
}

// An offset of up to 127 per ramp takes no product of its own (compiler/network/curve.c).
static int free_offset(const fit *f) { return f->count * INT8_MAX; }

// Rounded, with `top` for the largest weight, and an offset of at most `limit`.
static bool round_weights(const fit *f, double top, int limit, graph_curve *curve) {
  double largest = 0;
  for (int i = 0; i < f->count; i++) largest = fmax(largest, fabs(f->weights[i]));
  const float scale = (float)(largest / top);
  if (!(scale > 0)) return false;
  const double offset = fmin(fmax(rint(f->weights[f->count] / (double)scale), -limit), limit);
  *curve = (graph_curve){.count = f->count, .offset = (int32_t)offset, .scale = scale};
  for (int i = 0; i < f->count; i++) {
    curve->slope[i] = (int8_t)f->ramps[i].slope;
    curve->start[i] = (int8_t)f->ramps[i].start;
    curve->weight[i] = (int8_t)rint(f->weights[i] / (double)scale);
  }
  return true;
}

static double noise_of(const graph_curve *curve, const goal *g) {
  double sum = 0, bias = 0;
  for (int q = 0; q < VALUES; q++) {
    const double error = graph_curve_value(curve, (int8_t)(q - VALUES / 2)) - g->target[q];
    sum += g->weight[q] * error * error;
    bias += g->weight[q] * error;
  }
  return sum + bias_counts * bias * bias;
}

// Takes a neighbour if it has less noise.
static bool try_curve(const graph_curve *other, const goal *target, graph_curve *best, double *least) {
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
static void polish(const goal *target, int limit, graph_curve *curve, double *least) {
  for (bool better = true; better;) {
    better = false;
    for (int i = 0; i <= 2 * curve->count; i++)
      for (int step = -1; step <= 1; step += 2) {
        graph_curve other = *curve;
        if (step_part(&other, i, step, limit)) better |= try_curve(&other, target, curve, least);
      }
  }
}

static double best_curve(const fit *f, int limit, graph_curve *curve) {
  enum { LEAST_TOP = 80 };
  double least = INFINITY;
  graph_curve other;
  for (int top = INT8_MAX; top >= LEAST_TOP; top--)
    if (round_weights(f, top, limit, &other)) try_curve(&other, f->goal, curve, &least);
  if (least < 4 * noise_at_most * noise_of_rounding) polish(f->goal, limit, curve, &least);
  return least;
}

static bool fit_slopes(const goal *target, int least_slope, graph_curve *curve) {
  fit f = {.goal = target, .least_slope = least_slope};
  for (int q = 0; q < VALUES; q++) f.values[GRAPH_CURVE_RAMPS][q] = 1;
  while (f.count < GRAPH_CURVE_RAMPS) {
    f.ramps[f.count++] = (ramp){least_slope, 0};
    place_ramp(&f, f.count - 1, true);
    for (int round = 0; round < ROUNDS; round++)
      for (int i = 0; i < f.count; i++) place_ramp(&f, i, round == 0 && f.count >= MANY);
    find_weights(&f);
    const double most = f.count < GRAPH_CURVE_RAMPS ? target->noise : fmax(target->noise, noise_of_last);
    if (best_curve(&f, free_offset(&f), curve) <= most * noise_of_rounding) return true;
    if (best_curve(&f, GRAPH_CURVE_OFFSET_MAX, curve) <= most * noise_of_rounding) return true;
  }
  return false;
}

// A weight is rounded by up to half a unit, which counts 127 times where its ramp has ended: where the function is
// steep, steeper ramps have finer weights.
static bool fit_curve(const goal *target, graph_curve *curve) {
  enum { STEEPEST = 4 };
  for (int least_slope = 1; least_slope <= STEEPEST; least_slope++)
    if (fit_slopes(target, least_slope, curve)) return true;
  return false;
}

static void weigh(goal *g) {
  double bell[VALUES], all = 0;
  for (int q = 0; q < VALUES; q++) {
    const double x = (q - VALUES / 2) / spread;
    all += bell[q] = exp(-x * x / 2);
  }
  for (int q = 0; q < VALUES; q++) g->weight[q] = (bell[q] / all + 1.0 / VALUES) / 2;
}

bool quantise_convert_fit_curve(const double table[VALUES], double noise, graph_curve *curve) {
  goal target = {.noise = noise};
  memcpy(target.target, table, sizeof target.target);
  weigh(&target);
  return fit_curve(&target, curve);
}

int quantise_convert_curve(quantise_converter *c, int from, int tensor, quantise_convert_layout layout) {
  enum { WORTH = 2048 };  // elements: fewer are not worth a step of the array
  float numbers[VALUES];
  double target[VALUES];
  graph_curve curve;
  if (quantise_pin_of(c->pins, tensor)->scale > 0 || c->zero[tensor] != 0) return GRAPH_NONE;
  if (graph_elements(&c->model->tensors[tensor]) < WORTH || !quantise_convert_real_table(c, tensor, numbers))
    return GRAPH_NONE;
  for (int q = 0; q < VALUES; q++) {
    const double value = (double)numbers[q] / (double)c->scale[tensor];
    if (!isfinite(value)) return GRAPH_NONE;
    target[q] = value < INT8_MIN ? INT8_MIN : value > INT8_MAX ? INT8_MAX : value;
  }
  if (!quantise_convert_fit_curve(target, noise_at_most, &curve)) return GRAPH_NONE;
  const int form = quantise_convert_new(c, tensor, ".i8", GRAPH_I8, layout);
  graph_curve_set(c->out, quantise_convert_emit(c, GRAPH_OP_QCURVE, c->out->tensors[form].name, &from, 1, form),
                  &curve);
  return form;
}
